//go:build long

package telemetry_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/telemetry/internal/prom"
	"github.com/awsretry/awsretry/lab/telemetry/outage"
)

func TestSimulatedMetricsAreAllOnTheDashboard(t *testing.T) {
	t.Parallel()
	known := map[string]bool{} // to whether a panel shows it
	for _, f := range recording(t).Families {
		known[f.Name] = false
	}
	metric := regexp.MustCompile(`awsretry_[a-z_]+[a-z]`)
	suffix := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			// In braces, in quotes and in lists of labels there are names of labels.
			expr := regexp.MustCompile(`\{[^}]*\}|\b(by|on) \([^)]*\)|"[^"]*"`).ReplaceAllString(target.Expr, "")
			for _, name := range metric.FindAllString(expr, -1) {
				name = suffix.ReplaceAllString(name, "")
				require.Contains(t, known, name, p.Title)
				known[name] = true
			}
		}
	}
	for name, shown := range known {
		require.True(t, shown, "no panel shows %s", name)
	}
}

func TestSimulatedOutageShowsOnEachPanel(t *testing.T) {
	t.Parallel()
	server := replay(t, tools(t), recording(t))
	start := outage.Start()
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			series, err := server.QueryRange(t.Context(), target.Expression("4m"), start, start.Add(outage.Length), time.Minute)
			require.NoError(t, err, p.Title)
			require.NotEmpty(t, series, "%s %s", p.Title, target.RefID)
			require.True(t, slices.ContainsFunc(series, func(s prom.Series) bool {
				return slices.ContainsFunc(s.Values, func(v prom.Value) bool { return v.Value > 0 })
			}), "%s %s", p.Title, target.RefID)
			for _, s := range series {
				require.NotContains(t, target.Legend(s.Labels), "{{")
			}
		}
	}
}

// replay is a Prometheus that has scraped a recording.
func replay(t *testing.T, tools prom.Tools, r *evidence) *prom.Server {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, tools.Import(t.Context(), dir, r.WriteOpenMetrics))
	server, err := tools.Start(t.Context(), dir, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

// The page has each metric of the outage with its kind, its labels and a question, and no other one.
func TestSimulatedMetricsAreAllOnThePage(t *testing.T) {
	t.Parallel()
	explained := map[string][2]string{}
	for _, row := range table(t, "metric") {
		require.Len(t, row, 5, row)
		kind, _, _ := strings.Cut(strings.TrimSpace(row[1]), ",")
		explained[strings.Trim(row[0], "` ")] = [2]string{kind, strings.Join(labelsOf(row[2]), " ")}
		require.Regexp(t, `\.$`, strings.TrimSpace(row[3]), row)
		require.Regexp(t, `\?$`, strings.TrimSpace(row[4]), row)
	}
	shown := map[string][2]string{}
	for _, f := range recording(t).End {
		names := []string{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains(names, l.GetName()) {
					names = append(names, l.GetName())
				}
			}
		}
		slices.Sort(names)
		kind := map[dto.MetricType]string{
			dto.MetricType_COUNTER: "counter", dto.MetricType_GAUGE: "gauge", dto.MetricType_HISTOGRAM: "histogram",
		}[f.GetType()]
		shown[f.GetName()] = [2]string{kind, strings.Join(names, " ")}
	}
	require.Equal(t, shown, explained)
}
