//go:build !race

package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/modes/standard"
)

// open is a load above the limit of which no call waits for another.
func open() sim.Scenario {
	s := usual()
	s.Workers, s.Rate, s.Burst, s.Offered = 0, 200, 200, 240
	return s
}

func TestCallsThatWaitAtTheEndAreCounted(t *testing.T) {
	t.Parallel()
	s := open()

	got := play(t, s, inAdaptiveMode(standard.Config{}))

	require.False(t, got.KeepsUp())
	require.Zero(t, got.FailedShare, "which alone would say that all is well")
	require.Less(t, got.WithinShare, 0.1)
	require.InDelta(t, 240, got.Offered, 1e-9)
	require.InDelta(t, 240, got.Begun, 10)
	require.InDelta(t, 200, got.Ended, 5)
	begun, sent := 0, 0
	for _, b := range got.Bins {
		begun += b.Begun
		sent += b.Accepted
	}
	require.InDelta(t, begun-sent, got.Waiting, 5, "what has begun and has no answer")
	require.Equal(t, got.Waiting, got.Bins[len(got.Bins)-1].Waiting)
	require.Greater(t, got.Oldest, got.LatencyP50)
	require.InDelta(t, 1, got.OfLimit, 0.01)
	require.InDelta(t, 1, got.OfPossible, 0.01)
}

func TestStandardModeKeepsUpAndFailsTheRest(t *testing.T) {
	t.Parallel()
	got := play(t, open(), inStandardMode(standard.Config{}))
	require.True(t, got.KeepsUp())
	require.InDelta(t, 1-200.0/240, got.FailedShare, 0.03)
	require.InDelta(t, 200.0/240, got.WithinShare, 0.03)
	require.Greater(t, got.LatencyP99, got.LatencyP50)
	require.NotEmpty(t, got.Unsuccessful)
	require.Len(t, got.Succeeded, got.Calls-len(got.Unsuccessful))
}

// Workers that wait begin fewer calls. What they do not get to is not in time.
func TestCallsThatWorkersDoNotGetToAreNotInTime(t *testing.T) {
	t.Parallel()
	got := play(t, usual(), inAdaptiveMode(standard.Config{}))
	require.InDelta(t, 250, got.Offered, 1e-9)
	require.InDelta(t, 50, got.Begun, 2)
	require.InDelta(t, 0.2, got.WithinShare, 0.01)
	require.False(t, got.KeepsUp())
}

func TestPhasesChangeLoadAndService(t *testing.T) {
	t.Parallel()
	change := func(s *sim.Scenario, at time.Duration, change func(c *sim.Conditions)) {
		now := s.Conditions
		change(&now)
		s.Phases = append(s.Phases, sim.Phase{From: at, Conditions: now})
	}
	sum := func(r *sim.Result, from, to int, of func(b sim.Bin) int) (n int) {
		for _, b := range r.Bins[from:to] {
			n += of(b)
		}
		return n
	}
	begun := func(b sim.Bin) int { return b.Begun }
	accepted := func(b sim.Bin) int { return b.Accepted }
	quiet := usual()
	quiet.Rate, quiet.Burst, quiet.Offered = 500, 500, 100
	once := inStandardMode(standard.Config{MaxAttempts: 1})
	for name, c := range map[string]struct {
		change func(c *sim.Conditions)
		check  func(t *testing.T, r *sim.Result)
	}{
		"four times the load": {func(c *sim.Conditions) { c.Offered *= 4 }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.InDelta(t, 1000, sum(r, 30, 40, begun), 30)
			require.InDelta(t, 4000, sum(r, 40, 50, begun), 80)
			require.InDelta(t, 1000, sum(r, 50, 60, begun), 110)
		}},
		"no load": {func(c *sim.Conditions) { c.Offered = 0 }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.LessOrEqual(t, sum(r, 40, 50, begun), 1)
			require.InDelta(t, 1000, sum(r, 50, 60, begun), 110)
		}},
		"a tenth of the workers": {func(c *sim.Conditions) { c.Workers = 10 }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.InDelta(t, 1000, sum(r, 40, 50, begun), 110, "which make as many calls, more often each")
		}},
		"no workers": {func(c *sim.Conditions) { c.Workers = 0 }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.LessOrEqual(t, sum(r, 40, 50, begun), 1)
		}},
		"a fifth of the limit": {func(c *sim.Conditions) { c.Rate, c.Burst = 50, 50 }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.InDelta(t, 550, sum(r, 40, 50, accepted), 60)
		}},
		"half of the requests fail": {func(c *sim.Conditions) { c.Fail = 0.5 }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.InDelta(t, 500, sum(r, 40, 50, accepted), 60)
		}},
		"half of the requests are throttled": {func(c *sim.Conditions) { c.Throttle = 0.5 }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.InDelta(t, 500, sum(r, 40, 50, func(b sim.Bin) int { return b.Throttled }), 60)
		}},
		"slow answers": {func(c *sim.Conditions) { c.Latency = [2]time.Duration{2 * time.Second, 2 * time.Second} }, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.InDelta(t, 2, r.LatencyMax, 1e-9)
			require.InDelta(t, 500, sum(r, 40, 50, begun), 110, "a hundred workers with calls of two seconds")
		}},
		"a timeout": {func(c *sim.Conditions) {
			c.Latency, c.Timeout = [2]time.Duration{2 * time.Second, 2 * time.Second}, time.Second
		}, func(t *testing.T, r *sim.Result) {
			t.Helper()
			require.Zero(t, sum(r, 41, 50, accepted))
			require.InDelta(t, 1, r.FailedP99, 1e-9)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := quiet
			change(&s, 40*time.Second, c.change)
			change(&s, 50*time.Second, func(*sim.Conditions) {})
			r := play(t, s, once)
			require.InDelta(t, 1000, sum(r, 30, 40, begun), 30)
			c.check(t, r)
		})
	}
}

// Latency grows as the bucket empties.
func TestAnswersOfABusyServiceAreSlower(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Slowdown, s.Offered, s.Latency = 10, 49, [2]time.Duration{10 * time.Millisecond, 10 * time.Millisecond}
	busy := play(t, s, inStandardMode(standard.Config{}))
	s.Offered = 5
	idle := play(t, s, inStandardMode(standard.Config{}))
	require.InDelta(t, 0.01, idle.LatencyP50, 0.003)
	require.Greater(t, busy.LatencyP50, 1.5*idle.LatencyP50)
	require.LessOrEqual(t, busy.LatencyMax, 3.5)
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
