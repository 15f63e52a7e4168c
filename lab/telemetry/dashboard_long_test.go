//go:build long

package telemetry_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

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
