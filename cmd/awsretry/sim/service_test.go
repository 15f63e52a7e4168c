package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

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

func TestServiceMayBeFarAwayThrottleSlowlyAndCountInAnotherWay(t *testing.T) {
	t.Parallel()
	clk := sim.NewClock(time.Unix(0, 0))
	s := sim.NewService(sim.Scenario{
		Conditions: sim.Conditions{Latency: [2]time.Duration{second, second}}, Jitter: second, SlowThrottles: 3 * second,
	}, 1, clk.Now())
	s.Admit = func(now time.Time) bool { return now.Before(time.Unix(4, 0)) }
	clk.Go(func() {
		for _, c := range []struct {
			err  error
			took time.Duration
		}{{nil, second}, {nil, second}, {s.Throttled, 3 * second}} {
			began := clk.Now()
			at, err := s.Call(t.Context(), clk)
			require.Equal(t, c.err, err)
			require.Equal(t, c.took, clk.Now().Sub(at))
			require.Positive(t, at.Sub(began))
			require.Less(t, at.Sub(began), second)
			_ = clk.Sleep(t.Context(), second)
		}
	})
	clk.Run(time.Time{})
	require.Greater(t, clk.Now().Sub(time.Unix(0, 0)), 7*second)
}

func TestQueueWorksForCallersThatHaveGone(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	c := sim.Conditions{Rate: 10}
	stopped := c
	stopped.Rate = 0
	s := sim.NewService(sim.Scenario{Conditions: c, Queue: true, Phases: []sim.Phase{{From: time.Second, Conditions: stopped}, {From: 3 * time.Second, Conditions: c}}}, 1, begin)
	var took []time.Duration
	for range 12 {
		latency, err := s.Take(begin)
		require.NoError(t, err)
		took = append(took, latency.Round(time.Millisecond))
	}
	require.Equal(t, 100*time.Millisecond, took[0])
	require.Equal(t, time.Second, took[9])
	require.Equal(t, 3200*time.Millisecond, took[11], "the pause of two seconds comes between")
	latency, _ := s.Take(begin.Add(4 * time.Second))
	require.Equal(t, 100*time.Millisecond, latency, "an idle service begins at once")
}
