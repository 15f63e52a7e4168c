package sendrate_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// aheadClock shows a later time than the one at which its timers are due.
type aheadClock struct {
	*clock.Fake
	by atomic.Int64
}

func (c *aheadClock) Now() time.Time { return c.Fake.Now().Add(time.Duration(c.by.Load())) }

func TestLimiterSendsNothingAfterTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	over := ratelimit.Request{NotAfter: clk.Now()}
	free := sendrate.NewLimiter(sendrate.Config{}, &clk)
	limited := throttled(&clk)
	clk.Advance(3 * time.Second) // a token is there
	for name, limiter := range map[string]*sendrate.Limiter{"before the first throttle": free, "with a token": limited} {
		before := limiter.State()
		for _, noWait := range []bool{false, true} {
			over.NoWait = noWait
			_, err := limiter.Acquire(t.Context(), over)
			require.ErrorIs(t, err, ratelimit.ErrNotAfter, name)
		}
		after := limiter.State()
		waiting := after.Waiting
		before.SendTokens, after.SendTokens = 0, 0
		require.Equal(t, before, after)
		require.Zero(t, waiting)
		sent, err := limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true, NotAfter: clk.Now()})
		require.NoError(t, err, name)
		require.Equal(t, clk.Now(), sent)
	}
}

func TestLimiterTokenThatComesAfterTheEndOfTheOperationGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clk := &aheadClock{Fake: new(clock.Fake)}
		limiter := throttled(clk)
		waiter := call(t, limiter, ratelimit.Request{NotAfter: clk.Now().Add(2 * time.Second)})
		clk.by.Store(int64(3 * time.Second))
		limiter.Report(ratelimit.Response{}) // grants what is due, and the timer has not fired yet
		synctest.Wait()
		require.True(t, waiter.ended)
		require.ErrorIs(t, waiter.err, ratelimit.ErrNotAfter)
		state := limiter.State()
		waiting := state.Waiting
		require.InDelta(t, 1, state.SendTokens, 0)
		require.Zero(t, waiting)
	})
}

func TestLimiterCallerThatLearnsOfItsTokenTooLateSendsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		limiter := throttled(&clk)
		waiter := call(t, limiter, ratelimit.Request{NotAfter: clk.Now().Add(2 * time.Second)})
		clk.Advance(3 * time.Second) // the token comes in time on the way
		synctest.Wait()
		require.ErrorIs(t, waiter.err, ratelimit.ErrNotAfter)
		state := limiter.State()
		waiting := state.Waiting
		require.InDelta(t, 1, state.SendTokens, 0, "it went back")
		require.Zero(t, waiting)
	})
}

// A fake clock that is moved to the next waiter would be centuries ahead. The rate falls without a
// cut, because answers come at a much lower rate than the starting rate.
func TestLimiterSetsNoTimerForTokensThatTakeCenturies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		limiter := sendrate.NewLimiter(sendrate.Config{StartingRate: 1e6}, &clk)
		limiter.Report(ratelimit.Response{Throttled: true})
		waiter := call(t, limiter, ratelimit.Request{Cost: 6e15})
		clk.Advance(time.Second)
		change := limiter.Report(ratelimit.Response{})
		require.False(t, change.Cut)
		require.Less(t, float64(change.To), 10.0)
		_, ok := clk.AdvanceToNext()
		require.False(t, ok)
		requireWaiting(t, limiter, 1)
		waiter.cancel()
	})
}
