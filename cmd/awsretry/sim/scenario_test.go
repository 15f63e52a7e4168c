package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCapacityIsWhatCanSucceed(t *testing.T) {
	t.Parallel()
	outage := []Phase{{From: 10 * second, Conditions: Conditions{Rate: 50, Offered: 250, Fail: 1}}, {From: 20 * second, Conditions: Conditions{Rate: 100, Offered: 250}}}
	of := func(rate, offered float64, phases ...Phase) Scenario {
		return Scenario{Conditions: Conditions{Rate: rate, Offered: offered}, Phases: phases}
	}
	whole := Window{To: 30 * second}
	for name, c := range map[string]struct {
		s    Scenario
		w    Window
		want float64
	}{
		"the limit":                      {of(50, 250), whole, 1500},
		"no more than is offered":        {of(50, 20), whole, 600},
		"nothing in an outage":           {of(50, 250, outage...), whole, 500 + 1000},
		"the part of a window":           {of(50, 250, outage...), Window{From: 5 * second, To: 21 * second}, 250 + 100},
		"changes behind the window":      {of(50, 250, outage...), Window{To: 5 * second}, 250},
		"all that is offered of a limit": {of(50, 49), Window{To: second}, 49},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDelta(t, c.want, c.s.Capacity(c.w), 1e-9)
		})
	}
}

// evenly are the ends of so many calls a second.
func evenly(from, to time.Duration, rate int) (ends []time.Duration) {
	for at := from; at < to; at += second / time.Duration(rate) {
		ends = append(ends, at)
	}
	return ends
}

func TestSettledIsTheFirstTimeOfFiveGoodSeconds(t *testing.T) {
	t.Parallel()
	s := Scenario{Conditions: Conditions{Rate: 10, Offered: 100}, Duration: 30 * second}
	require.Zero(t, s.Settled(evenly(0, 30*second, 10), 0))
	require.Equal(t, 10*second-500*time.Millisecond, s.Settled(evenly(10*second, 30*second, 10), 0), "with 45 of 50 in the window")
	require.Equal(t, 4*second-500*time.Millisecond, s.Settled(evenly(10*second, 30*second, 10), 6*second))
	require.Negative(t, s.Settled(evenly(0, 30*second, 8), 0))
	require.Negative(t, s.Settled(evenly(0, 30*second, 10), 26*second), "too late for five seconds")
	require.Negative(t, s.Settled(nil, 0))
}

// What passes from an instant to the instant after some units is these units, however the rate changes.
func TestUnitsPassAtTheRatesOfThePhases(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	rate := func() float64 {
		if random.IntN(4) == 0 {
			return 0
		}
		return 1 + 100*random.Float64()
	}
	unit := func(c *Conditions) time.Duration { return each(c.Offered) }
	forevers := 0
	for range 2000 {
		s := Scenario{Conditions: Conditions{Offered: rate()}}
		at := time.Duration(0)
		for range random.IntN(5) {
			at += time.Duration(random.Int64N(int64(10 * time.Second)))
			s.Phases = append(s.Phases, Phase{at, Conditions{Offered: rate()}})
		}
		from, units := time.Duration(random.Int64N(int64(20*time.Second))), 200*random.Float64()
		to := s.after(from, units, unit)
		if to >= forever {
			require.Less(t, s.Wanted(Window{from, time.Hour}), units+1e-3, "no more units come")
			forevers++
			continue
		}
		require.GreaterOrEqual(t, to, from)
		require.InDelta(t, 0, s.Wanted(Window{from, to})-units, 1e-3)
	}
	require.Greater(t, forevers, 100)
}
