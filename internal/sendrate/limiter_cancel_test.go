package sendrate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestLimiterExpectsNothingOfCallersThatGaveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := throttled(clock.System{})
		first := call(t, limiter, ratelimit.Request{Cost: 0.5})
		second := call(t, limiter, ratelimit.Request{Cost: 0.25})
		third := call(t, limiter, ratelimit.Request{Cost: 40})
		expect := func() (told ratelimit.Wait) {
			last := call(t, limiter, ratelimit.Request{OnWait: func(w ratelimit.Wait) { told = w }})
			last.cancel()
			synctest.Wait()
			return told
		}

		third.cancel()
		second.cancel()
		synctest.Wait()
		require.Equal(t, ratelimit.Wait{Expected: 3 * time.Second, Ahead: 1, FillRate: 0.5}, expect())
		first.cancel()
		synctest.Wait()
		odd := []*caller{call(t, limiter, ratelimit.Request{Cost: 0.1}), call(t, limiter, ratelimit.Request{Cost: 40})}
		odd[1].cancel()
		synctest.Wait()
		odd[0].cancel() // 0.1 + 40 - 40 - 0.1 is not quite nothing
		synctest.Wait()
		require.Equal(t, ratelimit.Wait{Expected: 2 * time.Second, FillRate: 0.5}, expect())
	})
}

func TestLimiterLeavesNoTimerWhenNoCallerWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		limiter := throttled(&clk)
		for range 3 {
			c := call(t, limiter, ratelimit.Request{})
			require.Equal(t, 1, clk.Waiters())
			c.cancel()
			synctest.Wait()
			require.Zero(t, clk.Waiters())
		}
	})
}

func TestLimiterContextThatIsDoneBeforehandTakesNoToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		limiter := throttled(clock.System{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		_, err := limiter.Acquire(ctx, ratelimit.Request{})
		require.Equal(t, context.Canceled, err)

		sent, err := limiter.Acquire(t.Context(), ratelimit.Request{})
		require.NoError(t, err)
		require.Equal(t, start.Add(2*time.Second), sent)
	})
}

// The first in line is granted its token and cancelled before it looks, so it may
// see either, on a clock without Await. In both cases there is one token for one caller.
func TestLimiterTokenOfAWaiterCancelledWhenGrantedGoesToTheNext(t *testing.T) {
	t.Parallel()
	seen := map[bool]int{}
	for range 64 {
		synctest.Test(t, func(t *testing.T) {
			var clk clock.Fake
			start := clk.Now()
			limiter := throttled(struct{ clock.Clock }{&clk})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var next *caller

			_, err := limiter.Acquire(ctx, ratelimit.Request{OnWait: func(ratelimit.Wait) {
				next = call(t, limiter, ratelimit.Request{})
				clk.Advance(2 * time.Second)
				requireWaiting(t, limiter, 1)
				cancel()
			}})

			synctest.Wait()
			require.Equal(t, err != nil, next.ended)
			clk.Advance(2 * time.Second)
			synctest.Wait()
			require.True(t, next.ended)
			want := start.Add(4 * time.Second)
			if err != nil {
				want = start.Add(2 * time.Second)
			}
			require.Equal(t, want, next.sent)
			seen[err != nil]++
		})
	}
	require.Positive(t, seen[true])
	require.Positive(t, seen[false])
}
