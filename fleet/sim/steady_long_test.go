//go:build long

package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The service, the demand and the windows are those that the page has its figures from if
// independent clients do as badly here. A burst makes no difference to them.
func TestSettlesAtTheRateOnlyWithMuchThrottlingWithoutAFleet(t *testing.T) {
	t.Parallel()
	for key, page := range alonePage {
		got := steady(t, run{rate: key.rate, members: 100, even: key.even, burst: time.Second, alone: true})[0]
		require.InDelta(t, 1, got.goodput, 0.01)
		require.InDelta(t, page[0], 100*got.throttled, 5)
		require.GreaterOrEqual(t, 100*got.throttled, page[0]-1, "the fleets here have it no easier")
	}
}

func TestSettlesAtTheRateWithAHundredMembers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate, calls float64
		seeds       uint64
	}{
		{rate: 100, calls: 167, seeds: 8},
		{rate: 500, calls: 197, seeds: 2},
	} {
		for _, burst := range []time.Duration{time.Second, time.Second / 10} {
			t.Run(fmt.Sprint(c.rate, " a second, burst ", burst), func(t *testing.T) {
				holds(t, run{rate: c.rate, members: 100, burst: burst}, c.seeds, steady, func(t require.TestingT, got []outcome) {
					require.GreaterOrEqual(t, got[0].goodput, 0.97)
					require.LessOrEqual(t, got[0].throttled, 0.02)
					require.GreaterOrEqual(t, got[0].jain, 0.99)
					require.LessOrEqual(t, got[0].calls, 1.3*c.calls)
				})
			})
		}
	}
}

func TestSettlesAtTheRateWithAHundredWorkers(t *testing.T) {
	t.Parallel()
	holds(t, run{rate: 100, members: 100, even: true, burst: time.Second}, 6, steady, func(t require.TestingT, got []outcome) {
		require.LessOrEqual(t, got[0].throttled, 0.015)
		require.LessOrEqual(t, got[0].calls, 1.3*212)
	})
}

func TestSettlesAtTheRateWithAThousandMembers(t *testing.T) {
	t.Parallel()
	// Single runs have 0.4 to 2.9 %, and 1.6 % on average. What must be reached is 2 %.
	holds(t, run{rate: 500, members: 1000, burst: time.Second}, 4, steady, func(t require.TestingT, got []outcome) {
		require.GreaterOrEqual(t, got[0].goodput, 0.97)
		require.LessOrEqual(t, got[0].throttled, 0.025)
		require.LessOrEqual(t, got[0].calls, 1.3*1062)
	})
}

// Eight seeds, because waves of sales that feed themselves do not begin in each. Single runs without one have 0.96 to 1.
func TestSettlesAtTheRateWithoutWaves(t *testing.T) {
	t.Parallel()
	r := run{
		rate: 500, members: 100, even: true, burst: time.Second / 10, roundTrip: time.Millisecond,
		length: 45 * time.Second,
	}
	for r.seed = range uint64(8) {
		got := r.play(t).part(30, 45, r.rate)
		require.GreaterOrEqual(t, got.goodput, 0.95, "seed %d", r.seed)
	}
}
