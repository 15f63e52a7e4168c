package sendrate_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// known returns a limiter that sends ten tokens a second and has none.
func known(t *testing.T, clk clock.Clock) *sendrate.Limiter {
	t.Helper()
	limiter := sendrate.NewLimiter(sendrate.Config{StartingRate: 10}, clk)
	_, err := limiter.Acquire(t.Context(), ratelimit.Request{})
	require.NoError(t, err)
	return limiter
}

func TestCallersThatCannotBeServedInTimeAfterACutLeaveAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clk := new(clock.Fake)
		limiter, start := known(t, clk), clk.Now()
		var waiters []*caller
		for _, w := range []struct{ cost, deadline, notAfter float64 }{
			{10, 0, 0},   // 1 s from now, and 1.43 s after the cut
			{10, 2.5, 0}, // 2 s, and 2.86 s: it leaves
			{10, 4, 0},   // 3 s, and 2.86 s after the second has left; with the second it would be 4.29 s
			{1, 0, 3.2},  // 3.1 s, and 3 s
			{4, 0, 3.5},  // 3.5 s, and 3.57 s: it leaves
			{3, 9, 9},    // 3.8 s, and 3.43 s
		} {
			ctx, cancel := context.WithCancel(t.Context())
			if w.deadline > 0 {
				ctx, cancel = clk.WithTimeout(t.Context(), time.Duration(w.deadline*1e9))
			}
			defer cancel()
			r := ratelimit.Request{Cost: w.cost}
			if w.notAfter > 0 {
				r.NotAfter = start.Add(time.Duration(w.notAfter * 1e9))
			}
			c := &caller{}
			waiters = append(waiters, c)
			go func() {
				c.sent, c.err = limiter.Acquire(ctx, r)
				c.ended = true
			}()
			synctest.Wait()
			require.False(t, c.ended, "%v", c.err)
		}

		change := limiter.Report(ratelimit.Response{Throttled: true})
		synctest.Wait()

		require.InDelta(t, 7, float64(change.To), 0)
		for i, want := range map[int]ratelimit.WaitError{
			1: {Wait: ratelimit.Wait{Expected: 2857142858, Ahead: 1, FillRate: 7}, Reason: context.DeadlineExceeded},
			4: {Wait: ratelimit.Wait{Expected: 3571428572, Ahead: 3, FillRate: 7}, Reason: ratelimit.ErrNotAfter},
		} {
			require.True(t, waiters[i].ended)
			require.Equal(t, &want, waiters[i].err)
		}
		requireWaiting(t, limiter, 4)
		_, err := limiter.Acquire(t.Context(), ratelimit.Request{MaxQueue: 5, MaxWait: 3571428571})
		require.ErrorIs(t, err, line.ErrWaitLimit, "no caller waits for those that have left")
		for range 4 {
			clk.AdvanceToNext()
			synctest.Wait()
		}
		for i, want := range map[int]float64{0: 10, 2: 20, 3: 21, 5: 24} {
			require.NoError(t, waiters[i].err)
			require.InDelta(t, want/7, waiters[i].sent.Sub(start).Seconds(), 1e-8)
		}
		requireWaiting(t, limiter, 0)
		require.Zero(t, clk.Waiters())
	})
}

func TestLastWaiterThatLeavesAfterACutStopsTheTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clk := new(clock.Fake)
		limiter := known(t, clk)
		c := call(t, limiter, ratelimit.Request{Cost: 20, NotAfter: clk.Now().Add(2 * time.Second)})
		limiter.Report(ratelimit.Response{Throttled: true})
		synctest.Wait()
		require.ErrorIs(t, c.err, ratelimit.ErrNotAfter)
		require.Zero(t, clk.Waiters())
		clk.Advance(time.Minute)
		require.Zero(t, limiter.Expected(ratelimit.Request{}))
		state := limiter.State()
		require.InDelta(t, 7, state.SendTokens, 0, "no more than the capacity")
	})
}

// A caller gives back only tokens that it has got.
func TestCallerThatLeavesAfterACutGivesNothingBack(t *testing.T) {
	t.Parallel()
	for range 20 { // either end may be the one that is seen
		clk := new(clock.Fake)
		limiter := known(t, clk)
		ctx, cancel := clk.WithTimeout(t.Context(), 200*time.Millisecond+1)
		_, err := limiter.Acquire(ctx, ratelimit.Request{Cost: 2, OnWait: func(ratelimit.Wait) {
			limiter.Report(ratelimit.Response{Throttled: true})
			cancel()
		}})
		require.Error(t, err)
		state := limiter.State()
		waiting := state.Waiting
		require.Zero(t, state.SendTokens)
		require.Zero(t, waiting)
	}
}

// A service throttles everything for three seconds. A hundred callers share a limiter that begins
// at 100 a second, so that none waits longer than a second before the first cut.
func TestNoWaitIsLongerThanMaxWaitHoweverTheRateFalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		limiter := sendrate.NewLimiter(sendrate.Config{StartingRate: 100}, clock.System{})
		ended := make(chan error, 100)
		for range cap(ended) {
			go func() {
				_, err := limiter.Acquire(t.Context(), ratelimit.Request{MaxWait: time.Second})
				if waited := time.Since(start); waited > time.Second {
					t.Errorf("waited %v", waited)
				}
				ended <- err
			}()
			synctest.Wait() // the first come, first served
		}
		for time.Since(start) < 3*time.Second {
			pass(t, 100*time.Millisecond)
			limiter.Report(ratelimit.Response{Throttled: true})
		}
		requireWaiting(t, limiter, 0)
		sent := 0
		for range cap(ended) {
			if err := <-ended; err != nil {
				require.ErrorIs(t, err, line.ErrWaitLimit)
			} else {
				sent++
			}
		}
		require.Positive(t, sent)
		require.Less(t, sent, 40)
	})
}

// The first caller costs more tokens than a float counts one by one.
func TestAWaitThatNeverEndsIsRefused(t *testing.T) {
	t.Parallel()
	for name, cost := range map[string]float64{"dear": 1e300, "infinitely dear": math.Inf(1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clk := new(clock.Fake)
				limiter := throttled(clk)
				dear := call(t, limiter, ratelimit.Request{Cost: cost})
				require.Equal(t, 2*time.Second, limiter.Expected(ratelimit.Request{}), "as without it")
				require.True(t, dear.ended)
				require.EqualError(t, dear.err,
					"ratelimit: the wait would never end: 2562047h47m16.854775807s to wait, 0 ahead, 0.5 tokens/s")
			})
		})
	}
}

func TestAWaitThatACutMakesEndlessEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clk := new(clock.Fake)
		limiter := sendrate.NewLimiter(sendrate.Config{StartingRate: 1e6}, clk)
		waiter := call(t, limiter, ratelimit.Request{Cost: 9e15})
		require.False(t, waiter.ended, "285 years are a long time")
		limiter.Report(ratelimit.Response{Throttled: true})
		synctest.Wait()
		require.ErrorContains(t, waiter.err, "the wait would never end")
		require.Zero(t, clk.Waiters())
	})
}

// hookClock runs hook once, after the time has been read and before it is returned.
type hookClock struct {
	*clock.Fake
	hook func()
}

func (c *hookClock) Now() time.Time {
	now := c.Fake.Now()
	if h := c.hook; h != nil {
		c.hook = nil
		h()
	}
	return now
}

// A caller that gives up reads the clock before it takes the lock, and time passes in between.
func TestTimerIsNotLateForTheCallerThatMovesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clk := &hookClock{Fake: new(clock.Fake)}
		limiter := throttled(clk)
		start := clk.Now()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = limiter.Acquire(ctx, ratelimit.Request{}) }()
		synctest.Wait()
		served := make(chan time.Time, 1)
		go func() {
			if sent, err := limiter.Acquire(t.Context(), ratelimit.Request{}); err == nil {
				served <- sent
			}
		}()
		synctest.Wait()
		clk.hook = func() { clk.Advance(time.Second) }
		cancel()
		synctest.Wait()
		clk.AdvanceToNext()
		synctest.Wait()
		require.Equal(t, 2*time.Second, (<-served).Sub(start))
	})
}
