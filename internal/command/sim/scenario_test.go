package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
)

const second = time.Second

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

func TestServiceAllowsItsRateAndItsBurst(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	usual := sim.Conditions{Rate: 10, Burst: 5, Latency: [2]time.Duration{second, second}}
	s := sim.NewService(sim.Scenario{Conditions: usual}, 1, begin)
	allowed := func(from time.Time, n int) (passed int) {
		for range n {
			latency, err := s.Take(from)
			require.Equal(t, second, latency)
			if err == nil {
				passed++
			} else {
				require.Equal(t, s.Throttled, err)
			}
		}
		return passed
	}
	require.Equal(t, 5, allowed(begin, 10))
	require.Equal(t, 3, allowed(begin.Add(300*time.Millisecond), 10))
	require.Equal(t, 5, allowed(begin.Add(time.Hour), 10), "the bucket does not grow")

	outage, faster := usual, usual
	outage.Fail, faster.Rate = 1, 100
	s.Change(begin.Add(2*time.Hour), outage)
	_, err := s.Take(begin.Add(2 * time.Hour))
	require.Equal(t, s.Failed, err)
	s.Change(begin.Add(2*time.Hour), faster)
	require.Equal(t, 5, allowed(begin.Add(2*time.Hour), 10), "what fails takes no token")
	require.Equal(t, 3, allowed(begin.Add(2*time.Hour+30*time.Millisecond), 10))
}

func TestServiceFailsItsShareAndAnswersWithinItsLatency(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	s := sim.NewService(sim.Scenario{Conditions: sim.Conditions{Rate: 1e6, Burst: 1e6, Fail: 0.25, Latency: [2]time.Duration{5, 20}}}, 1, begin)
	failed, shortest, longest := 0, time.Hour, time.Duration(0)
	for range 10_000 {
		latency, err := s.Take(begin)
		shortest, longest = min(shortest, latency), max(longest, latency)
		if err != nil {
			require.Equal(t, s.Failed, err)
			failed++
		}
	}
	require.InDelta(t, 2500, failed, 150)
	require.Equal(t, time.Duration(5), shortest)
	require.Equal(t, time.Duration(19), longest)
}
