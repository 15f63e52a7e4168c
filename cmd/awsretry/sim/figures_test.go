package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

func failedShares(shares ...float64) (runs []*sim.Result) {
	for _, share := range shares {
		runs = append(runs, &sim.Result{Figures: sim.Figures{FailedShare: share}})
	}
	return runs
}

func TestRowsHaveTheMedianAndTheRangeOfTheRuns(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	for _, c := range []struct {
		runs              []float64
		median, low, high float64
	}{
		{nil, none, none, none},
		{[]float64{3}, 3, 3, 3},
		{[]float64{5, 1, 3}, 3, 1, 5},
		{[]float64{4, 1, 3, 2}, 2, 1, 4},
		{[]float64{none, 7}, 7, 7, 7},
		{[]float64{none, none, 7}, none, none, none},
	} {
		row := sim.Rows(failedShares(c.runs...))[0]
		require.Equal(t, "failed_share failed %", row.Key+" "+row.Name+" "+row.Unit)
		for want, got := range map[float64]float64{c.median: row.Median, c.low: row.Low, c.high: row.High} {
			require.True(t, want == got || math.IsNaN(want) && math.IsNaN(got), "%v: %v", c.runs, row)
		}
	}
}

func TestEachFigureHasAKeyAndANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range sim.Rows(nil) {
		require.False(t, seen[row.Key] || seen["name "+row.Name], row.Key)
		seen[row.Key], seen["name "+row.Name] = true, true
		require.NotEmpty(t, row.Key)
		require.Contains(t, []string{"", "s", "%"}, row.Unit, row.Key)
	}
}

func TestMedianIsTheRunThatPicturesShow(t *testing.T) {
	t.Parallel()
	runs := failedShares(0.5, 0.1, 0.3, 0.3)
	require.Same(t, runs[2], sim.Median(runs))
	runs = failedShares(math.NaN(), math.NaN())
	require.Same(t, runs[0], sim.Median(runs))
}
