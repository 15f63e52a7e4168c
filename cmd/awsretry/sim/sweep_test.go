//go:build long

package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Left of the drain point nothing is refused: N attempts at most, each of which fails by itself.
func TestSimulatedSharesFollowTheFormulaLeftOfTheDrainPoint(t *testing.T) {
	t.Parallel()
	shares := []float64{0, 0.1, 0.2, 1}
	points, err := sim.Sweep(t.Context(), inStandardMode(standard.Config{}), 1, shares)
	require.NoError(t, err)
	for i, p := range shares {
		want, failed := 1+p+p*p, p*p*p
		if p == 1 {
			want, failed = 1, 1 // the quota is empty
		}
		require.InDelta(t, p, points[i].Share, 0)
		require.InDelta(t, want, points[i].AttemptsPerCall, 0.03)
		require.InDelta(t, failed, points[i].FailedShare, 0.01)
	}
}

// Well right of it the quota is empty: what successes bring is all that retries get.
func TestSimulatedAttemptsPeakAtTheDrainPoint(t *testing.T) {
	t.Parallel()
	for _, b := range []retry.Behavior{retry.V20, retry.V21} {
		v := inStandardMode(standard.Config{Behavior: b})
		plan, err := v.Plan()
		require.NoError(t, err)
		drain := forecast.DrainPoint(plan, plan.RetryCost)
		points, err := sim.Sweep(t.Context(), v, 1, []float64{drain - 0.1, drain, drain + 0.1, drain + 0.3})
		require.NoError(t, err)
		attempts := func(i int) float64 { return points[i].AttemptsPerCall }
		require.Less(t, attempts(0), attempts(1))
		require.Greater(t, attempts(1), attempts(2))
		require.Greater(t, attempts(2), attempts(3))
	}
}
