package sendrate_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// throttled returns a limiter at the floor rate, a token every two seconds, and none in its bucket.
func throttled(clk clock.Clock) *sendrate.Limiter {
	limiter := sendrate.NewLimiter(sendrate.Config{}, clk)
	limiter.Report(ratelimit.Response{Throttled: true})
	return limiter
}

// pass lets d pass in the bubble.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	require.NoError(t, clock.System{}.Sleep(t.Context(), d))
	synctest.Wait()
}

// If Acquire took the lock, this test would hang. A limiter that begins anew, on another clock, is as at first.
func TestLimiterTakesNoLockWhileNothingIsLimited(t *testing.T) {
	t.Parallel()
	clk := &backClock{Fake: new(clock.Fake)}
	limiter := sendrate.NewLimiter(sendrate.Config{}, clk)
	for range 2 {
		limiter.WhileLocked(func() {
			sent, err := limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true, Cost: 1e9})
			require.NoError(t, err)
			require.Equal(t, clk.Now(), sent)
		})
		require.True(t, limiter.Report(ratelimit.Response{Throttled: true}).Limited)
		clk.by += 366 * 24 * time.Hour
		require.False(t, limiter.Report(ratelimit.Response{}).Limited)
	}
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

// Acquire reads the clock before it takes the lock, and a cut comes in between.
func TestSentIsNotBeforeACutThatCameFirst(t *testing.T) {
	t.Parallel()
	clk := &hookClock{Fake: new(clock.Fake)}
	limiter := throttled(clk)
	clk.Advance(2 * time.Second)
	clk.hook = func() {
		clk.Advance(time.Microsecond)
		limiter.Report(ratelimit.Response{Throttled: true})
	}
	sent, err := limiter.Acquire(t.Context(), ratelimit.Request{})
	require.NoError(t, err)
	require.Equal(t, limiter.State().LastThrottle, sent)
}

// busyClock wakes those who have waited for a token late, some after their contexts have ended.
type busyClock struct {
	clock.System
	late time.Duration
}

func (c busyClock) Await(ctx context.Context, done <-chan struct{}) error {
	<-done
	_ = c.Sleep(context.Background(), c.late)
	return ctx.Err()
}

// A token of a known limit is paced from when the last one has left, and from when it was given back by one that has not.
func TestTokenOfAKnownLimitKeepsItsPlaceUntilItHasLeft(t *testing.T) {
	t.Parallel()
	for controller, want := range map[ratelimit.Controller][]time.Duration{
		ratelimit.FindLimit: {0, 100, 270, 510}, ratelimit.CutPerThrottle: {0, 100, 200, 370},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			limiter := sendrate.NewLimiter(sendrate.Config{Controller: controller, Ceiling: 10, Burst: 1}, busyClock{late: 70 * time.Millisecond})
			var all sync.WaitGroup
			sent := make([]time.Duration, 5)
			for i := range sent {
				ctx, cancel := context.WithCancel(t.Context())
				if i == 3 {
					cancel()
				}
				all.Go(func() {
					defer cancel()
					at, _ := limiter.Acquire(ctx, ratelimit.Request{})
					sent[i] = at.Sub(start) / time.Millisecond
				})
				synctest.Wait()
			}
			all.Wait()
			require.Equal(t, want, slices.Delete(sent, 3, 4))
		})
	}
}

// The first throttle comes while many are sending, and then each asks again as soon as it has an answer or gives up, at an
// instant at which another may be served. No more is sent than the rates of the scope and of its part bring.
func TestLimiterConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		limiter := sendrate.NewLimiter(sendrate.Config{}, clock.System{})
		limiter.Report(ratelimit.Response{PartThrottled: true})
		var mu sync.Mutex
		var all sync.WaitGroup
		granted, ofPart, canceled := 0, 0, 0
		for i := range 100 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 9))
				for range 20 {
					r := ratelimit.Request{Part: random.IntN(2) == 0}
					ctx, cancel := context.WithCancel(t.Context())
					timer := clock.System{}.AfterFunc(time.Duration(1+random.IntN(300))*time.Second, cancel)
					_, err := limiter.Acquire(ctx, r)
					timer.Stop()
					cancel()
					limiter.Report(ratelimit.Response{Sent: start.Add(-1), Throttled: true}) // the first one cuts
					mu.Lock()
					switch {
					case err != nil:
						canceled++
					case time.Since(start) > 0: // and so it was limited
						granted++
						if r.Part {
							ofPart++
						}
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		state := limiter.State()
		require.Zero(t, state.Waiting)
		require.LessOrEqual(t, float64(granted)+state.SendTokens, 0.5*time.Since(start).Seconds()+1)
		require.Greater(t, ofPart, 50)
		require.Greater(t, canceled, 100)
	})
}
