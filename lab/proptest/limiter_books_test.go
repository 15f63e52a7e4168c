package proptest_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// refresh brings the state of the limiter up to now and returns it.
func (r *limiterRun) refresh(t *rapid.T) retry.ScopeSnapshot {
	if len(r.queue) > 0 { // with an empty queue there might be a token to get
		_, err := r.limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true})
		require.ErrorContains(t, err, "waiting is not allowed")
	}
	state := r.limiter.State()
	return state
}

// check closes the books after a step.
func (r *limiterRun) check(t *rapid.T) {
	waiting := r.limiter.State().Waiting
	require.Len(t, r.queue, waiting)
	spent, last := 0.0, time.Time{}
	for _, c := range r.callers {
		if !c.done || c.err != nil {
			continue
		}
		require.False(t, c.sent.Before(last), "served out of order")
		last = c.sent
		if !c.free {
			spent += c.cost
		}
	}
	r.checkBooks(t, spent)
	r.checkTimer(t)
}

// checkBooks sees that no more has been granted than there was, and that the first
// in line does not wait although its tokens are there.
func (r *limiterRun) checkBooks(t *rapid.T, spent float64) {
	state := r.refresh(t)
	const rounding = 1e-6
	require.LessOrEqual(t, spent+state.SendTokens, r.brought+rounding)
	require.GreaterOrEqual(t, state.SendTokens, 0.0)
	if len(r.queue) == 0 {
		require.LessOrEqual(t, state.SendTokens, state.SendCapacity)
		return
	}
	first := r.queue[0]
	require.Less(t, state.SendTokens, first.cost, "the first in line is due")
	require.LessOrEqual(t, state.SendTokens, max(state.SendCapacity, first.cost))
}

// checkTimer requires that the clock counts the callers that wait, and that there is a timer as
// long as a caller waits, and no longer.
func (r *limiterRun) checkTimer(t *rapid.T) {
	require.Equal(t, len(r.queue), r.clock.Waiters())
}
