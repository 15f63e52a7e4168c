package sendrate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
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

func sleepUntil(t *testing.T, instant time.Time) {
	t.Helper()
	require.NoError(t, clock.System{}.Sleep(t.Context(), time.Until(instant)))
	synctest.Wait()
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

// Acquire reads the clock before it takes the lock, and a cut comes in between.
func TestSentIsNotBeforeACutThatCameFirst(t *testing.T) {
	clk := &hookClock{Fake: new(clock.Fake)}
	limiter := throttled(clk)
	clk.Advance(2 * time.Second)
	clk.hook = func() {
		clk.Advance(time.Microsecond)
		limiter.Report(ratelimit.Response{Throttled: true})
	}
	sent, err := limiter.Acquire(t.Context(), ratelimit.Request{})
	require.NoError(t, err)
	state := limiter.State()
	require.False(t, sent.Before(state.LastThrottle), "token taken after the cut, sent %v before it", state.LastThrottle.Sub(sent))
}

func TestPanicInOnWaitLeavesNoPlaceInTheQueue(t *testing.T) {
	var clk clock.Fake
	limiter := throttled(&clk)
	require.Panics(t, func() {
		_, _ = limiter.Acquire(t.Context(), ratelimit.Request{OnWait: func(ratelimit.Wait) { panic("observer") }})
	})
	waiting := limiter.State().Waiting
	require.Zero(t, waiting)
}

// A limiter that begins anew on another clock holds no attempt back, as at first.
func TestLimiterThatBeganAnewTakesNoLockAgain(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	limiter := throttled(movedClock{clock.System{}, &now})
	now.Store(-int64(365*24*time.Hour) - int64(time.Hour))
	require.Zero(t, limiter.Expected(ratelimit.Request{}))
	require.False(t, limiter.Report(ratelimit.Response{}).Limited)

	limiter.WhileLocked(func() {
		_, err := limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true})
		require.NoError(t, err)
	})
}

// movedClock is a clock that is ahead by so many nanoseconds.
type movedClock struct {
	clock.Clock
	by *atomic.Int64
}

func (c movedClock) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.by.Load())) }

// All that the limiter has measured counts on: the rate, the tokens, when the last cut was.
func TestLimiterGoesOnOnAClockThatHasGoneBack(t *testing.T) {
	t.Parallel()
	for _, controller := range []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.Hold} {
		for _, back := range []time.Duration{6 * time.Second, time.Minute, time.Hour, 300 * 24 * time.Hour} {
			var states []retry.ScopeSnapshot
			for _, by := range []time.Duration{0, -back} {
				var clk clock.Fake
				var moved atomic.Int64
				limiter := sendrate.NewLimiter(sendrate.Config{Controller: controller}, movedClock{&clk, &moved})
				for i := range 400 {
					if i == 200 {
						moved.Store(int64(by))
					}
					clk.Advance(50 * time.Millisecond)
					sent, err := limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true})
					if err == nil {
						limiter.Report(ratelimit.Response{Sent: sent, Throttled: i == 150})
					}
				}
				state := limiter.State()
				require.InDelta(t, 249*0.05, clk.Now().Sub(state.LastThrottle.Add(-by)).Seconds(), 0.051)
				state.LastThrottle = time.Time{}
				states = append(states, state)
			}
			require.InDelta(t, states[0].FillRate, states[1].FillRate, 0.05*states[0].FillRate)
			require.InDelta(t, states[0].MeasuredRate, states[1].MeasuredRate, 0.15*states[0].MeasuredRate)
			require.Greater(t, states[1].FillRate, 10.0)
		}
	}
}

// The wait for a token takes as long as before.
func TestCallersWaitNoLongerOnAClockThatHasGoneBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var moved atomic.Int64
		limiter := throttled(movedClock{clock.System{}, &moved})
		waiter := call(t, limiter, ratelimit.Request{})
		pass(t, time.Second)
		moved.Store(-int64(time.Hour))
		start := time.Now()
		_, err := limiter.Acquire(t.Context(), ratelimit.Request{})
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), 4*time.Second)
		synctest.Wait()
		require.True(t, waiter.ended)
	})
}
