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

// throttled returns a limiter at the floor rate, a token every two seconds, and
// none in its bucket.
func throttled(clk clock.Clock) *sendrate.Limiter {
	limiter := sendrate.NewLimiter(sendrate.Config{}, clk)
	limiter.Report(ratelimit.Response{Throttled: true})
	return limiter
}

// caller is an Acquire in a goroutine of its own. In a bubble, its fields may be read after
// synctest.Wait.
type caller struct {
	cancel context.CancelFunc
	ended  bool
	sent   time.Time
	err    error
}

// call starts a caller and returns when it waits or has ended.
func call(t *testing.T, limiter *sendrate.Limiter, r ratelimit.Request) *caller {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &caller{cancel: cancel}
	go func() {
		defer cancel()
		c.sent, c.err = limiter.Acquire(ctx, r)
		c.ended = true
	}()
	synctest.Wait()
	return c
}

// pass lets d pass in the bubble.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	sleepUntil(t, time.Now().Add(d))
}

func requireWaiting(t *testing.T, limiter *sendrate.Limiter, want int) {
	t.Helper()
	waiting := limiter.State().Waiting
	require.Equal(t, want, waiting)
}

func TestLimiterIsFreeBeforeTheFirstThrottle(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	limiter := sendrate.NewLimiter(sendrate.Config{}, &clk)
	limiter.Report(ratelimit.Response{})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()

	for range 1000 {
		sent, err := limiter.Acquire(cancelled, ratelimit.Request{Cost: 1e9, NoWait: true})
		require.NoError(t, err)
		require.Equal(t, clk.Now(), sent)
	}

	state := limiter.State()

	waiting := state.Waiting
	require.False(t, state.Limited)
	require.Zero(t, state.SendTokens)
	require.Zero(t, waiting)
	require.Zero(t, clk.Waiters())
}

// If Acquire took the lock, this test would hang.
func TestLimiterTakesNoLockBeforeTheFirstThrottle(t *testing.T) {
	t.Parallel()
	limiter := sendrate.NewLimiter(sendrate.Config{}, new(clock.Fake))

	limiter.WhileLocked(func() {
		_, err := limiter.Acquire(t.Context(), ratelimit.Request{})
		require.NoError(t, err)
	})
}

func TestLimiterCostDefaultsToOneToken(t *testing.T) {
	t.Parallel()
	for _, cost := range []float64{0, -1, 1} {
		var clk clock.Fake
		limiter := throttled(&clk)
		clk.Advance(2 * time.Second)

		_, err := limiter.Acquire(t.Context(), ratelimit.Request{Cost: cost, NoWait: true})

		require.NoError(t, err)
		state := limiter.State()
		require.Zero(t, state.SendTokens, "after a cost of %v", cost)
	}
}

func TestLimiterTellsOfAWaitBeforeItBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := throttled(clock.System{})
		sent := time.Now().Add(-1) // before the cut, so that a throttle changes nothing
		var told []ratelimit.Wait
		request := ratelimit.Request{Cost: 1.5, OnWait: func(w ratelimit.Wait) {
			told = append(told, w)
			// If the lock were held, these would hang.
			limiter.Report(ratelimit.Response{Sent: sent, Throttled: true})
			waiting := limiter.State().Waiting
			require.Equal(t, len(told), waiting)
		}}
		for range 3 {
			call(t, limiter, request)
			pass(t, time.Second)
		}

		require.Equal(t, []ratelimit.Wait{
			{Expected: 3 * time.Second, Ahead: 0, FillRate: 0.5},
			{Expected: 5 * time.Second, Ahead: 1, FillRate: 0.5},
			{Expected: 7 * time.Second, Ahead: 2, FillRate: 0.5},
		}, told)
		pass(t, time.Hour)
		call(t, limiter, ratelimit.Request{OnWait: func(ratelimit.Wait) { t.Error("told of no wait") }})
	})
}

func TestLimiterReportsWhatAResponseChanged(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	limiter := sendrate.NewLimiter(sendrate.Config{}, &clk)
	sent := clk.Now()

	require.Equal(t, ratelimit.Change{From: 0, To: 0.5}, limiter.Report(ratelimit.Response{}))
	clk.Advance(500 * time.Millisecond)
	change := limiter.Report(ratelimit.Response{Throttled: true})
	require.True(t, change.Cut)
	require.True(t, change.Limited)
	require.InEpsilon(t, 0.5, float64(change.From), 1e-12)
	require.InEpsilon(t, 0.7*0.8*2/0.5, float64(change.To), 1e-12)
	again := limiter.Report(ratelimit.Response{Sent: sent, Throttled: true})
	require.Equal(t, ratelimit.Change{From: change.To, To: change.To, Limited: true}, again)
}
