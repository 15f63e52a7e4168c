//go:build !race

package telemetry_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachPanelSaysWhatItAnswers(t *testing.T) {
	t.Parallel()
	units := []string{"ops", "reqps", "percentunit", "short", "s", "cpm"} // of Grafana
	taken := map[[2]int]string{}
	for _, p := range read(t).Panels {
		at := p.GridPos
		require.LessOrEqual(t, at.X+at.W, 24, p.Title)
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "under %s", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		require.Regexp(t, `^[A-Z][^?]*\? .*\.$`, p.Description, "%s: a question, and what the figures are", p.Title)
		require.Contains(t, units, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			require.NotEmpty(t, target.LegendFormat, p.Title)
		}
	}
}

// What an alert counts has a line where it counts.
func TestPanelsHaveTheThresholdsOfTheAlerts(t *testing.T) {
	t.Parallel()
	lines := map[string]float64{}
	for _, p := range read(t).Panels {
		if d := p.FieldConfig.Defaults; d.Custom.ThresholdsStyle.Mode == "line" {
			lines[p.Title] = *d.Thresholds.Steps[len(d.Thresholds.Steps)-1].Value
		}
	}
	require.Equal(t, map[string]float64{
		"Throttled share of attempts": 0.05, "Attempts per call": 1.5, "Send wait": 10, "Strategies without a token": 1,
		"Calls failed by an empty quota, worst scopes": 0.1, "Overflowed and evicted scopes": 0.67, // 10 in 15 minutes
	}, lines)
}

// A metric without a choice of jobs would show what belongs to others. That of a denominator follows the numerator.
func TestEachQueryIsAboutTheChosenJobs(t *testing.T) {
	t.Parallel()
	const chosen = `cluster=~"$cluster", namespace=~"$namespace", job=~"$job"`
	selector := regexp.MustCompile(`awsretry_[a-z_]+[a-z](\{[^}]*\})?`)
	for _, p := range read(t).Panels {
		for _, target := range p.Targets {
			expr := regexp.MustCompile(`\b(by|on) \([^)]*\)|"awsretry_[^"]*"|(/|and) awsretry_[a-z_]+\b`).ReplaceAllString(target.Expr, "")
			require.Regexp(t, selector, expr)
			for _, found := range selector.FindAllStringSubmatch(expr, -1) {
				require.Contains(t, found[1], chosen, "%s: %s", p.Title, found[0])
			}
			// The shares of two jobs added up say nothing of the one that is in trouble.
			if strings.Contains(target.Expr, " / ") || strings.Contains(target.Expr, "histogram_quantile") {
				require.Regexp(t, `by \((le, )?job\b`, target.Expr, p.Title)
				require.Contains(t, target.LegendFormat, "{{job}}", p.Title)
			}
		}
	}
}
