//go:build !race

package telemetry_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/telemetry/internal/grafana"
	"github.com/awsretry/awsretry/telemetry/internal/prom"
	"github.com/awsretry/awsretry/telemetry/outage"
)

func dashboard(t *testing.T) grafana.Dashboard {
	t.Helper()
	d, err := grafana.Load("dashboard.json")
	require.NoError(t, err)
	return d
}

func TestEachPanelSaysWhatItAnswers(t *testing.T) {
	t.Parallel()
	units := []string{"ops", "reqps", "percentunit", "short", "s", "cpm"} // of Grafana
	ids := map[int]string{}
	for _, p := range dashboard(t).Panels {
		require.NotEmpty(t, p.Title)
		require.Empty(t, ids[p.ID], p.Title)
		ids[p.ID] = p.Title
		if p.Type == "row" {
			continue
		}
		require.Equal(t, "timeseries", p.Type, p.Title)
		require.Regexp(t, `^[A-Z][^?]*\? .*\.$`, p.Description, "%s: a question, and what the figures are", p.Title)
		require.Contains(t, units, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		require.Equal(t, &grafana.Datasource{Type: "prometheus", UID: "${datasource}"}, p.Datasource)
		refs := map[string]bool{}
		for _, target := range p.Targets {
			require.False(t, refs[target.RefID], p.Title)
			refs[target.RefID] = true
			require.NotEmpty(t, target.LegendFormat, p.Title)
			require.Equal(t, *p.Datasource, target.Datasource)
		}
	}
}

func TestPanelsDoNotOverlap(t *testing.T) {
	t.Parallel()
	taken := map[[2]int]string{}
	for _, p := range dashboard(t).Panels {
		at := p.GridPos
		require.Positive(t, at.W*at.H, p.Title)
		require.LessOrEqual(t, at.X+at.W, 24, p.Title)
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "under %s", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

func TestVariablesChooseServicesAndRegions(t *testing.T) {
	t.Parallel()
	var names []string
	for _, v := range dashboard(t).Templating.List {
		names = append(names, v.Name)
		if v.Type == "query" {
			require.True(t, v.Multi, v.Name)
			require.True(t, v.IncludeAll, v.Name)
			require.Equal(t, ".*", v.AllValue, "also what has no %s", v.Name)
			require.Equal(t, []string{"$__all"}, v.Current.Value)
		}
	}
	require.Equal(t, []string{"datasource", "service", "region"}, names)
}

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
			// In braces and in lists of labels there are names of labels.
			expr := regexp.MustCompile(`\{[^}]*\}|\b(by|on) \([^)]*\)`).ReplaceAllString(target.Expr, "")
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
