package sendrate_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// partly is a request of a retry after a throttle of a part.
var partly = ratelimit.Request{Part: true}

// tillPart is how long the part of hotKey takes until it has a token.
const tillPart = 1328571429 * time.Nanosecond

// hotKey returns a limiter whose scope sends ten a second and has no token, and whose throttled part sends
// 0.7 a second and has 0.07.
func hotKey(t *testing.T) *sendrate.Limiter {
	t.Helper()
	limiter := known(t, clock.System{})
	limiter.Report(ratelimit.Response{PartThrottled: true})
	_, err := limiter.Acquire(t.Context(), ratelimit.Request{Part: true, MaxWait: time.Second})
	require.NoError(t, err)
	return limiter
}

func TestThrottleOfAPartLeavesTheScopeFree(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	limiter := sendrate.NewLimiter(sendrate.Config{}, &clk)
	change := limiter.Report(ratelimit.Response{PartThrottled: true})
	require.Equal(t, ratelimit.Change{From: change.From, To: change.To}, change, "neither limited nor cut")
	limiter.WhileLocked(func() {
		_, err := limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true})
		require.NoError(t, err)
	})
	_, err := limiter.Acquire(t.Context(), partly)
	require.NoError(t, err, "the first retry has a token")
	require.Equal(t, 1428571429*time.Nanosecond, limiter.Expected(partly))
	require.Zero(t, limiter.Expected(ratelimit.Request{}))
	state := limiter.State()
	require.False(t, state.Limited)
	require.Zero(t, state.LastThrottle)
}

func TestRetryOfAPartExpectsBothWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := hotKey(t)
		require.Equal(t, 100*time.Millisecond, limiter.Expected(ratelimit.Request{}))
		both := tillPart + 100*time.Millisecond
		require.Equal(t, tillPart+100*time.Millisecond, limiter.Expected(partly))
		for _, tt := range []struct {
			request ratelimit.Request
			want    error
		}{
			{ratelimit.Request{Part: true, MaxWait: both - 1}, line.ErrWaitLimit},
			{ratelimit.Request{Part: true, NotAfter: time.Now().Add(both - 1)}, ratelimit.ErrNotAfter},
			{ratelimit.Request{Part: true, NoWait: true}, line.ErrNoWait},
		} {
			start := time.Now()
			_, err := limiter.Acquire(t.Context(), tt.request)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, start, time.Now(), "at once")
		}
		ctx, cancel := context.WithTimeout(t.Context(), both)
		defer cancel()
		_, err := limiter.Acquire(ctx, partly)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = limiter.Acquire(t.Context(), ratelimit.Request{Part: true, MaxWait: both})
		require.NoError(t, err)
	})
}

// However the scope's line grows while a retry waits for a token of the part.
func TestMaxWaitBoundsBothWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 3 * time.Second
		limiter := hotKey(t)
		var all sync.WaitGroup
		acquire := func(r ratelimit.Request) {
			r.MaxWait = limit
			all.Go(func() {
				start := time.Now()
				if _, err := limiter.Acquire(t.Context(), r); err != nil {
					require.ErrorIs(t, err, line.ErrWaitLimit)
				}
				require.LessOrEqual(t, time.Since(start), limit)
			})
		}
		for range 40 {
			acquire(partly)
			acquire(ratelimit.Request{})
			acquire(ratelimit.Request{})
			pass(t, 100*time.Millisecond)
		}
		require.Positive(t, limiter.State().Waiting)
		all.Wait()
		requireWaiting(t, limiter, 0)
	})
}

func TestAllWhoWaitCountForTheLimitOfTheLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := hotKey(t)
		for range 6 {
			call(t, limiter, ratelimit.Request{Part: true, MaxQueue: 10})
		}
		for range 4 {
			call(t, limiter, ratelimit.Request{MaxQueue: 10})
		}
		requireWaiting(t, limiter, 10)
		for _, part := range []bool{true, false} {
			_, err := limiter.Acquire(t.Context(), ratelimit.Request{Part: part, MaxQueue: 10})
			require.ErrorIs(t, err, line.ErrQueueFull)
		}
		pass(t, time.Minute)
		requireWaiting(t, limiter, 0)
	})
}

func TestRetriesOfAPartHoldNoOtherCallerUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := hotKey(t)
		var retries []*caller
		for range 3 {
			retries = append(retries, call(t, limiter, partly))
		}
		start := time.Now()
		for i := range 3 {
			sent, err := limiter.Acquire(t.Context(), ratelimit.Request{})
			require.NoError(t, err)
			require.Equal(t, time.Duration(i+1)*100*time.Millisecond, sent.Sub(start))
		}
		pass(t, time.Minute)
		for i, c := range retries {
			require.NoError(t, c.err)
			require.InDelta(t, float64(i)/0.7+tillPart.Seconds(), c.sent.Sub(start).Seconds(), 1e-8)
		}
	})
}

// A cut of the scope makes the wait of a retry longer too, whichever of the two lines it stands in.
func TestCutOfTheScopeDismissesRetriesOfThePart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := hotKey(t)
		c := call(t, limiter, ratelimit.Request{Part: true, MaxWait: tillPart + 100*time.Millisecond})
		require.False(t, c.ended)
		limiter.Report(ratelimit.Response{Throttled: true})
		synctest.Wait()
		require.ErrorIs(t, c.err, line.ErrWaitLimit)
		requireWaiting(t, limiter, 0)
	})
}

// A retry that has its token of the part gives up while it waits for that of the scope.
func TestTokenOfThePartGoesToTheNextIfTheWaitForTheScopeFails(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(limiter *sendrate.Limiter, c *caller){
		"canceled": func(_ *sendrate.Limiter, c *caller) { c.cancel() },
		"too late": func(limiter *sendrate.Limiter, _ *caller) {
			for range 3 {
				limiter.Report(ratelimit.Response{Throttled: true})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limiter := hotKey(t)
				scope := call(t, limiter, ratelimit.Request{Cost: 30}) // three seconds
				first := call(t, limiter, ratelimit.Request{Part: true, MaxWait: tillPart + 3100*time.Millisecond})
				second := call(t, limiter, partly)
				pass(t, 1429*time.Millisecond)
				require.False(t, first.ended, "it waits behind the dear one")
				end(limiter, first)
				synctest.Wait()
				require.Error(t, first.err)
				requireWaiting(t, limiter, 2)
				scope.cancel()
				pass(t, 200*time.Millisecond)
				require.True(t, second.ended, "it has what the first one gave back")
				require.NoError(t, second.err)
			})
		})
	}
}

// Whatever callers do, the part and the scope together hand out no more than their rates bring.
func TestPartConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := hotKey(t)
		start := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		acquired, given, ofPart := 0, 0, 0
		for i := range 20 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 4))
				for range 20 {
					r := ratelimit.Request{Part: random.IntN(2) == 0}
					ctx, cancel := context.WithCancel(t.Context())
					timer := clock.System{}.AfterFunc(time.Duration(random.IntN(3000))*time.Millisecond, cancel)
					_, err := limiter.Acquire(ctx, r)
					timer.Stop()
					cancel()
					if err != nil {
						continue
					}
					gives := random.IntN(4) == 0
					if gives {
						limiter.Give(r)
					}
					mu.Lock()
					acquired++
					switch {
					case gives:
						given++
					case r.Part:
						ofPart++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		passed := time.Since(start).Seconds()
		requireWaiting(t, limiter, 0)
		require.LessOrEqual(t, float64(acquired-given)+limiter.State().SendTokens, 10*passed+1e-6)
		require.LessOrEqual(t, float64(ofPart), 0.07+0.7*passed+1e-6)
		require.Positive(t, ofPart)
		pass(t, time.Hour)
		missing := 10 * limiter.Expected(ratelimit.Request{Cost: 10}).Seconds() // first, because it brings the state up to now
		require.InDelta(t, 10, limiter.State().SendTokens+missing, 1e-6)
	})
}
