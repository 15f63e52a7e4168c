package sendrate_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// Each caller asks again as soon as it has an answer, so that the queue is never empty, and
// gives up at an instant at which another one may be granted its token. All throttles are from
// before the cut, so that the rate stays the same. Each token that the rate brings goes to
// exactly one caller.
func TestLimiterConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		pass(t, time.Second)
		limiter := throttled(clock.System{})
		early := ratelimit.Response{Sent: start, Throttled: true}
		var mu sync.Mutex
		var granted, cancelled int
		var last time.Time

		var group sync.WaitGroup
		for i := range 200 {
			group.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 9))
				for range 20 {
					sent, err := acquireFor(t, limiter, time.Duration(1+random.IntN(400))*time.Second)
					limiter.Report(early)
					limiter.State()
					mu.Lock()
					if err == nil {
						granted++
						last = sent
					} else {
						cancelled++
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()

		require.Equal(t, 200*20, granted+cancelled)
		require.Greater(t, granted, 100)
		require.Greater(t, cancelled, 100)
		require.Equal(t, time.Duration(granted)*2*time.Second, last.Sub(start)-time.Second)
		requireWaiting(t, limiter, 0)
	})
}

// acquireFor gives up after d by a cancel, because Acquire would know a deadline.
func acquireFor(t *testing.T, limiter *sendrate.Limiter, d time.Duration) (time.Time, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	timer := clock.System{}.AfterFunc(d, cancel)
	defer timer.Stop()
	return limiter.Acquire(ctx, ratelimit.Request{})
}

// inParallel runs f for 0, 1, ..., n-1 at the same time and waits for all.
func inParallel(n int, f func(i int)) {
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	group.Wait()
}

// The first throttle arrives while many are sending.
func TestLimiterFirstThrottleConcurrentSafe(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	limiter := sendrate.NewLimiter(sendrate.Config{Controller: ratelimit.CutPerThrottle}, &clk)
	var granted, refused atomic.Int64

	inParallel(100, func(i int) {
		for n := range 100 {
			_, err := limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true})
			if err != nil {
				refused.Add(1)
				continue
			}
			granted.Add(1)
			limiter.Report(ratelimit.Response{Throttled: i == 50 && n == 50})
		}
	})

	require.EqualValues(t, 100*100, granted.Load()+refused.Load())
	state := limiter.State()
	waiting := state.Waiting
	require.True(t, state.Limited)
	require.Zero(t, waiting)
	require.Zero(t, state.SendTokens)
	require.Zero(t, clk.Waiters())
}
