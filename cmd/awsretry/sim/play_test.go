//go:build !race

package sim_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/testonly/bubble"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestSimulatedRunsAreTheSameWithTheSameSeed(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]sim.Variant{
		"standard": inStandardMode(standard.Config{}), "adaptive": inAdaptiveMode(standard.Config{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := fmt.Sprintf("%+v", play(t, usual(), v))
			require.Equal(t, first, fmt.Sprintf("%+v", play(t, usual(), v)))
			other, err := sim.Play(t.Context(), usual(), v, 2)
			require.NoError(t, err)
			require.NotEqual(t, first, fmt.Sprintf("%+v", other))
		})
	}
}

func TestSimulatedClientsBeginTheirCallsByThemselves(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Clients, s.Workers, s.Offered = 2, 0, 40
	odd := 0
	for _, b := range play(t, s, inStandardMode(standard.Config{})).Bins {
		odd += b.Begun % 2
	}
	require.Positive(t, odd, "two clients with the same instants have even numbers")
}

func TestSimulationEndsWhenTooManyCallsAreOpen(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Workers, s.Offered, s.Rate = 0, 1e6, 1
	synctest.Test(t, func(t *testing.T) {
		_, err := sim.Play(t.Context(), s, inAdaptiveMode(standard.Config{}), 1)
		require.Equal(t, sim.ErrOpen, err)
		require.Less(t, bubble.Goroutines(), 10, "it leaves no task behind")
	})
}

func TestSimulationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var last time.Duration
	v := inStandardMode(standard.Config{})
	inner := v.New
	v.New = func(p sim.Parts) (retry.Strategy, error) {
		if p.Clock != nil {
			begin := p.Clock.Now()
			p.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if last = e.Time.Sub(begin); last > 10*time.Second {
					cancel()
				}
			})
		}
		return inner(p)
	}
	_, err := sim.Play(ctx, usual(), v, 1)
	require.Equal(t, context.Canceled, err)
	require.Less(t, last, 12*time.Second)
	_, err = sim.Sweep(ctx, inStandardMode(standard.Config{}), 1, []float64{0.5})
	require.Equal(t, context.Canceled, err)
}

func TestSimulationReturnsTheErrorOfItsVariant(t *testing.T) {
	t.Parallel()
	bad := inStandardMode(standard.Config{RetryCost: -1})
	_, err := sim.Play(t.Context(), usual(), bad, 1)
	require.ErrorContains(t, err, "RetryCost")
	_, err = sim.Sweep(t.Context(), bad, 1, []float64{0})
	require.ErrorContains(t, err, "RetryCost")
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
	require.InDelta(t, got.Waiting, got.Bins[len(got.Bins)-1].Waiting, 0)
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

// Every call counts, from the first on, and the run ends with the last.
func TestNumberOfCallsIsPlayedToItsEnd(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{0, 100} {
		s := usual()
		s.Workers, s.Calls, s.Duration = workers, 1000, time.Hour
		s.Measured = sim.Window{To: s.Duration}
		r := play(t, s, inAdaptiveMode(standard.Config{}))
		begun := 0
		for _, b := range r.Bins {
			begun += b.Begun
		}
		require.Equal(t, []int{1000, 1000, 0}, []int{begun, r.Calls, int(r.Waiting)})
		require.InDelta(t, 1000/s.Rate, r.Done, 3)
		require.InDelta(t, r.FailedShare, r.NoQuotaShare+r.NoAttemptsShare+r.NoTimeShare, 1e-9)

		s.Duration = 10 * time.Second
		s.Measured.To = s.Duration
		require.True(t, math.IsNaN(play(t, s, inAdaptiveMode(standard.Config{})).Done), "some wait at the end")
	}
}

// A longer time lets more calls be in time: those that the end of the run leaves open are the only ones left out.
func TestShareInTimeNeverFallsWithTheTime(t *testing.T) {
	t.Parallel()
	outage := open()
	outage.Offered, outage.Phases = 100, failing(&outage, 30*time.Second, 50*time.Second)
	for name, c := range map[string]struct {
		scenario sim.Scenario
		variant  sim.Variant
	}{
		"an outage":         {outage, inStandardMode(standard.Config{})},
		"calls that wait":   {open(), inAdaptiveMode(standard.Config{})},
		"workers that wait": {usual(), inAdaptiveMode(standard.Config{})},
		"retries":           {usual(), inStandardMode(standard.Config{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := 0.0
			for _, within := range []time.Duration{time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second, time.Hour} {
				c.scenario.Within = within
				r := play(t, c.scenario, c.variant)
				require.GreaterOrEqual(t, r.WithinShare, last, within)
				require.LessOrEqual(t, r.Undecided, r.Waiting)
				last = r.WithinShare
				if within == time.Hour {
					require.Positive(t, last)
					require.InDelta(t, r.Waiting, r.Undecided, 0, "of the run that counts, each call that waits may succeed in an hour")
				}
			}
		})
	}
}
