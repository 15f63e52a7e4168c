//go:build !race

package telemetry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/telemetry/internal/grafana"
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
