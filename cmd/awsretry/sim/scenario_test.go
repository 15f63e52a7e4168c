package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

func TestCapacityIsWhatCanSucceed(t *testing.T) {
	t.Parallel()
	outage := []sim.Phase{{From: 10 * second, Conditions: sim.Conditions{Rate: 50, Offered: 250, Fail: 1}}, {From: 20 * second, Conditions: sim.Conditions{Rate: 100, Offered: 250}}}
	of := func(rate, offered float64, phases ...sim.Phase) sim.Scenario {
		return sim.Scenario{Conditions: sim.Conditions{Rate: rate, Offered: offered}, Phases: phases}
	}
	whole := sim.Window{To: 30 * second}
	for name, c := range map[string]struct {
		s    sim.Scenario
		w    sim.Window
		want float64
	}{
		"the limit":                      {of(50, 250), whole, 1500},
		"no more than is offered":        {of(50, 20), whole, 600},
		"nothing in an outage":           {of(50, 250, outage...), whole, 500 + 1000},
		"the part of a window":           {of(50, 250, outage...), sim.Window{From: 5 * second, To: 21 * second}, 250 + 100},
		"changes behind the window":      {of(50, 250, outage...), sim.Window{To: 5 * second}, 250},
		"all that is offered of a limit": {of(50, 49), sim.Window{To: second}, 49},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDelta(t, c.want, c.s.Capacity(c.w), 1e-9)
		})
	}
}

func TestSettledIsTheFirstTimeOfFiveGoodSeconds(t *testing.T) {
	t.Parallel()
	s := sim.Scenario{Conditions: sim.Conditions{Rate: 10, Offered: 100}, Duration: 30 * second}
	evenly := func(from, to time.Duration, rate int) (ends []time.Duration) {
		for at := from; at < to; at += second / time.Duration(rate) {
			ends = append(ends, at)
		}
		return ends
	}
	require.Zero(t, s.Settled(evenly(0, 30*second, 10), 0))
	require.Equal(t, 10*second-500*time.Millisecond, s.Settled(evenly(10*second, 30*second, 10), 0), "with 45 of 50 in the window")
	require.Equal(t, 4*second-500*time.Millisecond, s.Settled(evenly(10*second, 30*second, 10), 6*second))
	require.Negative(t, s.Settled(evenly(0, 30*second, 8), 0))
	require.Negative(t, s.Settled(evenly(0, 30*second, 10), 26*second), "too late for five seconds")
	require.Negative(t, s.Settled(nil, 0))
}
