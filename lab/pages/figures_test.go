//go:build !race

package pages_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestDrainPointsOfTheModesPage holds the table of docs/modes.md.
func TestDrainPointsOfTheModesPage(t *testing.T) {
	t.Parallel()
	var plans []retry.Plan
	for _, of := range []struct {
		config  standard.Config
		service string
	}{
		{standard.Config{}, ""}, {standard.Config{}, "dynamodb"}, {standard.Config{MaxAttempts: 10}, ""}, {standard.Config{Behavior: retry.V20}, ""},
	} {
		strategy, err := standard.New(of.config)
		require.NoError(t, err)
		plans = append(plans, strategy.Plan(retry.Operation{Service: of.service}))
	}
	page := read(t, "docs/modes.md")
	for kind, cost := range map[string]func(p retry.Plan) int{
		"timeouts":       func(p retry.Plan) int { return p.TimeoutCost },
		"throttles":      func(p retry.Plan) int { return p.ThrottlingCost },
		"other failures": func(p retry.Plan) int { return p.RetryCost },
	} {
		cells := []any{kind}
		for _, plan := range plans {
			cells = append(cells, 100*forecast.DrainPoint(plan, cost(plan)))
		}
		require.Contains(t, page, fmt.Sprintf("\n| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", cells...))
	}
}
