package sendrate_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/ratelimit"
)

// countingClock counts the timers and how often they have fired.
type countingClock struct {
	clock.Clock
	timers, fired atomic.Int64
}

func (c *countingClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.timers.Add(1)
	return c.Clock.AfterFunc(d, func() {
		c.fired.Add(1)
		f()
	})
}

func TestLimiterResponseGrantsTheCallersThatAreDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		held := &heldClock{Clock: clock.System{}}
		limiter := throttled(held)
		waiter := call(t, limiter, ratelimit.Request{})
		pass(t, 3*time.Second)
		require.False(t, waiter.ended)

		limiter.Report(ratelimit.Response{})

		synctest.Wait()
		require.True(t, waiter.ended)
		require.Equal(t, time.Now(), waiter.sent)
	})
}

// heldClock is a clock whose timers come too late for every caller.
type heldClock struct{ clock.Clock }

func (c *heldClock) AfterFunc(time.Duration, func()) clock.Timer {
	return c.Clock.AfterFunc(1000*time.Hour, func() {})
}

func TestLimiterWakesOncePerGrantHoweverManyWait(t *testing.T) {
	t.Parallel()
	for _, waiters := range []int{1, 50, 10_000} {
		t.Run(strconv.Itoa(waiters), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clk := &countingClock{Clock: clock.System{}}
				limiter := throttled(clk)
				var woken atomic.Int64
				for range waiters {
					go func() {
						_, _ = limiter.Acquire(t.Context(), ratelimit.Request{})
						woken.Add(1)
					}()
				}
				synctest.Wait()

				step := max(waiters/50, 1) // grants between two looks
				for granted := 0; granted < waiters; granted += step {
					require.EqualValues(t, granted, clk.fired.Load())
					require.EqualValues(t, granted, woken.Load())
					requireWaiting(t, limiter, waiters-granted)
					pass(t, time.Duration(step)*2*time.Second)
				}

				pass(t, time.Hour)
				require.EqualValues(t, waiters, clk.fired.Load())
				require.EqualValues(t, waiters, woken.Load())
				require.EqualValues(t, 1, clk.timers.Load(), "the first in line has the only timer")
			})
		})
	}
}

func TestLimiterWakesNotMuchMoreOftenWhenTheRateChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const waiters = 200
		clk := &countingClock{Clock: clock.System{}}
		limiter := throttled(clk)
		for range waiters {
			call(t, limiter, ratelimit.Request{})
		}
		changes := 0
		for i := 0; ; i++ {
			pass(t, 137*time.Millisecond)
			change := limiter.Report(ratelimit.Response{Throttled: i%13 == 0})
			if change.From != change.To {
				changes++
			}
			if waiting := limiter.State().Waiting; waiting == 0 {
				break
			}
		}
		require.Positive(t, changes)
		require.LessOrEqual(t, int(clk.fired.Load()), waiters+changes)
	})
}

// The first two callers of the queue get their tokens; the third is cancelled before.
func TestLimiterOnAFakeClockThatRunsItsCallers(t *testing.T) {
	t.Parallel()
	for range 50 { // whichever goroutine is faster
		var clk clock.Fake
		start := clk.Now()
		limiter := throttled(&clk) // a token every 2 s
		ctx, cancel := context.WithCancel(t.Context())
		clk.AfterFunc(5*time.Second, cancel)
		var ended [3]time.Duration
		var errs [3]error
		var callers []func()
		for i := range ended {
			callers = append(callers, func() {
				_ = clk.Sleep(t.Context(), time.Duration(i+1)) // so that they have an order
				_, errs[i] = limiter.Acquire(ctx, ratelimit.Request{})
				ended[i] = clk.Now().Sub(start)
			})
		}

		clk.Run(callers...)

		require.Equal(t, [3]error{nil, nil, context.Canceled}, errs)
		require.Equal(t, [3]time.Duration{2 * time.Second, 4 * time.Second, 5 * time.Second}, ended)
	}
}
