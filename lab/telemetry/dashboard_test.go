//go:build !race

package telemetry_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/telemetry/internal/grafana"
)

func dashboard(t *testing.T) grafana.Dashboard {
	t.Helper()
	d, err := grafana.Load("../../metrics/dashboard.json")
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

func TestVariablesChooseJobsServicesAndRegions(t *testing.T) {
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
	require.Equal(t, []string{"datasource", "cluster", "namespace", "job", "service", "region"}, names)
}

// A metric without a choice of jobs would show what belongs to others. That of a denominator follows the numerator.
func TestEachQueryIsAboutTheChosenJobs(t *testing.T) {
	t.Parallel()
	const chosen = `cluster=~"$cluster", namespace=~"$namespace", job=~"$job"`
	selector := regexp.MustCompile(`awsretry_[a-z_]+[a-z](\{[^}]*\})?`)
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			expr := regexp.MustCompile(`\b(by|on) \([^)]*\)|"awsretry_[^"]*"|(/|and) awsretry_[a-z_]+\b`).ReplaceAllString(target.Expr, "")
			require.Regexp(t, selector, expr)
			for _, found := range selector.FindAllStringSubmatch(expr, -1) {
				require.Contains(t, found[1], chosen, "%s: %s", p.Title, found[0])
			}
		}
	}
}

// The shares of two jobs added up say nothing of the one that is in trouble, and neither does the sum of instances.
func TestSharesAndPercentilesAreThoseOfAJob(t *testing.T) {
	t.Parallel()
	shares := 0
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			if strings.Contains(target.Expr, " / ") || strings.Contains(target.Expr, "histogram_quantile") {
				require.Regexp(t, `by \((le, )?job, `, strings.ReplaceAll(target.Expr, "(job)", "(job, "), p.Title)
				require.Contains(t, target.LegendFormat, "{{job}}", p.Title)
				shares++
			}
			if strings.Contains(target.Expr, "_capacity") {
				require.Contains(t, target.Expr, "min by (job", p.Title)
				require.NotContains(t, target.Expr, "sum", p.Title)
			}
		}
	}
	require.Equal(t, 3+2*4+2, shares)
}
