package sendrate_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

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
				require.ErrorIs(t, err, sendrate.ErrWaitLimit)
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
				require.Equal(t, 2*time.Second, limiter.Expected(1), "as without it")
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

// The time that the caller spends in OnWait is a part of the wait.
func TestAWaitBeginsBeforeOnWait(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	line := sendrate.NewLine(new(purse), &clk)
	start := clk.Now()
	clk.Run(func() {
		_, err := line.Acquire(t.Context(), ratelimit.Request{MaxWait: 3 * time.Second, OnWait: func(ratelimit.Wait) {
			clk.Advance(2 * time.Second)
		}})
		require.ErrorIs(t, err, sendrate.ErrWaitLimit)
	})
	require.Equal(t, 3*time.Second, clk.Now().Sub(start))
}
