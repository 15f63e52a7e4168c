package sendrate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
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

// queueRun is a limiter with many callers that wait and give up at random, while the rate
// changes at random. It counts the tokens that the rate has brought.
type queueRun struct {
	limiter *sendrate.Limiter
	random  *rand.Rand
	callers []*caller
	fill    ratelimit.Rate
	brought float64 // tokens that have come since the throttle
}

func TestLimiterThousandWaitersCancelledAtRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				run := queueRun{
					limiter: throttled(clock.System{}),
					random:  rand.New(rand.NewPCG(seed, 8)),
					fill:    sendrate.MinFillRate,
				}
				for range 1000 {
					run.callers = append(run.callers, call(t, run.limiter, ratelimit.Request{}))
				}
				waiting := 1000
				for waiting > 0 {
					run.step(t)
					waiting = run.check(t)
				}
			})
		})
	}
}

// step lets some time pass, then cancels some callers or reports a response.
func (q *queueRun) step(t *testing.T) {
	t.Helper()
	d := time.Duration(between(q.random, 0.01, 3) * float64(time.Second))
	pass(t, d)
	q.brought += d.Seconds() * float64(q.fill)
	for range q.random.IntN(3) {
		q.callers[q.random.IntN(len(q.callers))].cancel()
	}
	if q.random.IntN(2) == 0 {
		q.fill = q.limiter.Report(ratelimit.Response{Throttled: q.random.IntN(3) == 0}).To
	}
	synctest.Wait()
}

// check counts: each caller has been granted a token, or was cancelled, or waits. Callers were
// granted in order of arrival. While a caller waits, no token is lost or invented.
func (q *queueRun) check(t *testing.T) (waiting int) {
	t.Helper()
	var granted, cancelled int
	var last time.Time
	for i, c := range q.callers {
		switch {
		case !c.ended:
			waiting++
		case c.err != nil:
			require.Equal(t, context.Canceled, c.err)
			cancelled++
		default:
			require.Equal(t, i, granted+cancelled, "granted before a caller in front")
			require.False(t, c.sent.Before(last))
			last = c.sent
			granted++
		}
	}
	requireWaiting(t, q.limiter, waiting)
	state := q.limiter.State()
	require.LessOrEqual(t, float64(granted)+state.SendTokens, q.brought+1e-6)
	require.GreaterOrEqual(t, state.SendTokens, 0.0)
	if waiting > 0 {
		_, err := q.limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true}) // brings the state up to now
		require.ErrorIs(t, err, line.ErrNoWait)
		state = q.limiter.State()
		require.InDelta(t, q.brought, float64(granted)+state.SendTokens, 1e-6)
		return waiting
	}
	require.Equal(t, len(q.callers), granted+cancelled)
	require.Greater(t, granted, 100)
	require.Greater(t, cancelled, 100)
	return waiting
}
