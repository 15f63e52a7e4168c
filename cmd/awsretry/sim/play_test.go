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
	for _, v := range []sim.Variant{inStandardMode(standard.Config{}), inAdaptiveMode(standard.Config{})} {
		first := fmt.Sprintf("%+v", play(t, usual(), v))
		require.Equal(t, first, fmt.Sprintf("%+v", play(t, usual(), v)))
		other, err := sim.Play(t.Context(), usual(), v, 2)
		require.NoError(t, err)
		require.NotEqual(t, first, fmt.Sprintf("%+v", other))
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

func TestAllThatIsInFlightIsLostWithItsConnections(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Rate, s.Burst, s.Offered, s.Workers, s.Latency = 1e5, 1e5, 2000, 200, [2]time.Duration{100 * time.Millisecond, 100 * time.Millisecond}
	s.Lose = []time.Duration{s.Duration / 2, s.Duration/2 + 5*time.Second}
	v := inStandardMode(standard.Config{})
	r := play(t, s, v)
	require.Zero(t, r.FailedShare)
	require.InDelta(t, 2*175, r.AttemptsPerCall*float64(r.Calls)-float64(r.Calls), 20)
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
	s := usual()
	s.Duration = time.Hour // whose bins are longer than what is played
	_, err := sim.Play(ctx, s, v, 1)
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
	begun := func(b sim.Bin) int { return b.Begun }
	accepted := func(b sim.Bin) int { return b.Accepted }
	throttled := func(b sim.Bin) int { return b.Throttled }
	slow := [2]time.Duration{2 * second, 2 * second}
	for name, c := range map[string]struct {
		change       func(c *sim.Conditions)
		of           func(b sim.Bin) int
		want, within float64 // from second 40 to 50
		longest      float64 // call
	}{
		"four times the load":                {func(c *sim.Conditions) { c.Offered *= 4 }, begun, 4000, 80, 0.02},
		"no load":                            {func(c *sim.Conditions) { c.Offered = 0 }, begun, 0, 1, 0.02},
		"a tenth of the workers":             {func(c *sim.Conditions) { c.Workers = 10 }, begun, 1000, 110, 0.02}, // which call more often each
		"no workers":                         {func(c *sim.Conditions) { c.Workers = 0 }, begun, 0, 1, 0.02},
		"a fifth of the limit":               {func(c *sim.Conditions) { c.Rate, c.Burst = 50, 50 }, accepted, 550, 60, 0.02},
		"half of the requests fail":          {func(c *sim.Conditions) { c.Fail = 0.5 }, accepted, 500, 60, 0.02},
		"half of the requests are throttled": {func(c *sim.Conditions) { c.Throttle = 0.5 }, throttled, 500, 60, 0.02},
		"slow answers":                       {func(c *sim.Conditions) { c.Latency = slow }, begun, 500, 110, 2}, // of a hundred workers
		"a timeout":                          {func(c *sim.Conditions) { c.Latency, c.Timeout = slow, second }, accepted, 0, 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usual()
			s.Rate, s.Burst, s.Offered = 500, 500, 100
			changed := s.Conditions
			c.change(&changed)
			s.Phases = []sim.Phase{{From: 40 * second, Conditions: changed}, {From: 50 * second, Conditions: s.Conditions}}
			r := play(t, s, inStandardMode(standard.Config{MaxAttempts: 1}))
			sum := func(from int, of func(b sim.Bin) int) (n float64) {
				for _, b := range r.Bins[from : from+10] {
					n += float64(of(b))
				}
				return n
			}
			require.InDelta(t, 1000, sum(30, begun), 30)
			require.InDelta(t, c.want, sum(40, c.of), c.within)
			require.InDelta(t, 1000, sum(50, begun), 110)
			longest := r.LatencyMax
			if r.FailedMax > longest { // it may be NaN
				longest = r.FailedMax
			}
			require.InDelta(t, c.longest, longest, 0.001)
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
	for name, c := range map[string]struct {
		scenario sim.Scenario
		variant  sim.Variant
	}{
		"calls that wait":   {open(), inAdaptiveMode(standard.Config{})},
		"workers that wait": {usual(), inAdaptiveMode(standard.Config{})},
		"retries":           {usual(), inStandardMode(standard.Config{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := 0.0
			for _, within := range []time.Duration{time.Millisecond, time.Second, 30 * time.Second, time.Hour} {
				c.scenario.Within = within
				r := play(t, c.scenario, c.variant)
				require.GreaterOrEqual(t, r.WithinShare, last, within)
				require.LessOrEqual(t, r.Undecided, r.Waiting)
				if last = r.WithinShare; within == time.Hour {
					require.Positive(t, last)
					require.InDelta(t, r.Waiting, r.Undecided, 0, "of the run that counts, each call that waits may succeed in an hour")
				}
			}
		})
	}
}
