//go:build long

package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/standard"
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
