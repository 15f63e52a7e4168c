package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

func TestMedianOfRunsStandsForThem(t *testing.T) {
	t.Parallel()
	runs := []*sim.Result{{FailedShare: 0.3, Recover: math.NaN()}, {FailedShare: 0.1, Recover: math.NaN()}, {FailedShare: 0.2, Recover: 5}}
	failed := sim.SpreadOf(runs, func(r *sim.Result) float64 { return r.FailedShare })
	require.Equal(t, sim.Spread{Median: 0.2, Low: 0.1, High: 0.3}, failed)
	require.Same(t, runs[2], sim.Median(runs))
	require.True(t, math.IsNaN(sim.SpreadOf(runs, func(r *sim.Result) float64 { return r.Recover }).Median), "it applies to one of three")
	require.True(t, failed.Overlaps(sim.Spread{Low: 0.3, High: 1}))
	require.False(t, failed.Overlaps(sim.Spread{Low: 0.31, High: 1}))
	require.True(t, math.IsNaN(sim.SpreadOf(nil, func(r *sim.Result) float64 { return r.Goodput }).Median))
}
