package sendrate_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

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

func TestBucketArgumentsOutOfRange(t *testing.T) {
	for name, f := range map[string]func(b *sendrate.Bucket){
		"take -5":  func(b *sendrate.Bucket) { b.Take(at(1), -5) },
		"give -5":  func(b *sendrate.Bucket) { b.Give(at(1), -5) },
		"give NaN": func(b *sendrate.Bucket) { b.Give(at(1), math.NaN()) },
		"lift NaN": func(b *sendrate.Bucket) { b.Lift(at(1), math.NaN()) },
		"rate NaN": func(b *sendrate.Bucket) { b.SetRate(at(1), ratelimit.Rate(math.NaN())) },
	} {
		t.Run(name, func(t *testing.T) {
			b := bucketAt(2)
			f(b)
			b.SetRate(at(2), 2)
			require.GreaterOrEqual(t, b.Tokens(), 0.0)
			require.LessOrEqual(t, b.Tokens(), b.Capacity())
			require.False(t, math.IsNaN(b.Tokens()))
		})
	}
	t.Run("take -5 before anything else", func(t *testing.T) {
		b := bucketAt(2)
		b.Take(at(1), -5)
		require.LessOrEqual(t, b.Tokens(), b.Capacity())
	})
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

// A limiter that begins anew on another clock holds no attempt back, as at first.
func TestLimiterThatBeganAnewTakesNoLockAgain(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	limiter := throttled(movedClock{clock.System{}, &now})
	now.Store(-int64(365*24*time.Hour) - int64(time.Hour))
	require.Zero(t, limiter.Expected(1))
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

func TestBucketFillsOnAnotherClock(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * 3600
	bucket := bucketAt(2)
	for _, late := range []float64{0.25, -1, 0.25 - year} {
		require.Equal(t, 250*time.Millisecond, bucket.Until(at(late), 1))
	}
	require.Equal(t, 250*time.Millisecond, bucket.Until(at(-year), 1), "it keeps its tokens")
	require.Zero(t, bucket.Until(at(-year+0.25), 1))
}
