//go:build !race

package page

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAxisHasRoundTicksUpToItsEnd(t *testing.T) {
	t.Parallel()
	labels := func(a axis) []string {
		var all []string
		for _, t := range a.ticks {
			all = append(all, t.label)
		}
		return all
	}
	require.Equal(t, []string{"0", "0.5", "1", "1.5"}, labels(valueAxis("", 1.4)))
	require.Equal(t, []string{"0", "100", "200", "300"}, labels(valueAxis("", 252)))
	require.Equal(t, []string{"0", "0.5", "1", "1.5"}, labels(valueAxis("", 0)))
	require.Equal(t, []string{"0", "20", "40", "60", "80"}, labels(timeAxis("", 90)))
	require.Equal(t, []string{"0", "2", "4", "6", "8", "10"}, labels(timeAxis("", 600)))
	require.Equal(t, []string{"0", "5", "10", "15", "20"}, labels(timeAxis("", 0.02)))
	require.Equal(t, "milliseconds of the run", timeAxis("of the run", 0.02).name)
	for _, most := range []float64{math.NaN(), math.Inf(1), -1, 0, 1e-300, 1e-9, 3.3, 1e17, math.MaxFloat64} {
		for _, a := range []axis{valueAxis("", most), timeAxis("", most)} {
			require.True(t, known(a.most), most)
			require.Greater(t, a.most, 0.0)
			require.True(t, len(a.ticks) >= 2 && len(a.ticks) <= 8, "%v: %v", most, a.ticks)
		}
	}
}
