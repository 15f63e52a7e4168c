package sendrate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
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
		require.ErrorIs(t, err, sendrate.ErrWaitLimit, "no caller waits for those that have left")
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
		require.Zero(t, limiter.Expected(1))
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
