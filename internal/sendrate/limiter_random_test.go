package sendrate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

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
		require.ErrorIs(t, err, sendrate.ErrNoWait)
		state = q.limiter.State()
		require.InDelta(t, q.brought, float64(granted)+state.SendTokens, 1e-6)
		return waiting
	}
	require.Equal(t, len(q.callers), granted+cancelled)
	require.Greater(t, granted, 100)
	require.Greater(t, cancelled, 100)
	return waiting
}
