package proptest_test

import (
	"context"
	"slices"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/retry"
)

func (r *forgetfulRun) begin(t *rapid.T) {
	op := retry.Operation{
		Scope: drawFrom(t, "scope", "", "a", "b", "c", "d", "e", "f"),
		Name:  drawFrom(t, "name", "get", "put", "scan"),
	}
	overflowed := r.strategy.Snapshot().Overflowed
	token, err := r.strategy.AcquireInitialToken(t.Context(), op)
	require.NoError(t, err)
	v := &visit{op: op, token: token}
	shared := uint64(0)
	if v.quota = r.quotas[keyOf(r.config.Standard.QuotaScope, op)]; v.quota == nil {
		v.quota, shared = r.quotas[retry.OverflowKey()], 1
	}
	if v.limiter = r.limiters[keyOf(r.config.SendScope, op)]; v.limiter == nil {
		v.limiter, shared = r.limiters[retry.OverflowKey()], 1
	}
	require.NotNil(t, v.quota)
	require.NotNil(t, v.limiter)
	require.LessOrEqual(t, r.strategy.Snapshot().Overflowed, overflowed+shared)
	r.use(v)
	r.open = append(r.open, v)
}

func (r *forgetfulRun) use(v *visit) {
	v.quota.lastUsed, v.limiter.lastUsed = r.clock.Now(), r.clock.Now()
}

// pick draws an operation for which a wait is under way, or one for which none is.
func (r *forgetfulRun) pick(t *rapid.T, waiting bool) *visit {
	synctest.Wait()
	var some []*visit
	for _, v := range r.open {
		if (v.cancel != nil) == waiting {
			some = append(some, v)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[drawInt(t, 0, len(some)-1, "operation")]
}

func (r *forgetfulRun) end(v *visit) {
	r.use(v)
	r.open = slices.DeleteFunc(r.open, func(o *visit) bool { return o == v })
}

// wait begins a wait and does not wait for its end.
func (r *forgetfulRun) wait(t *rapid.T) {
	v := r.pick(t, false)
	if v == nil || v.sent {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	v.cancel = cancel
	go func() {
		v.err = v.token.Wait(ctx)
		cancel()
		v.sent, v.cancel = v.err == nil, nil
	}()
	synctest.Wait()
}

func (r *forgetfulRun) cancel(t *rapid.T) {
	if v := r.pick(t, true); v != nil {
		v.cancel()
		synctest.Wait()
		require.ErrorIs(t, v.err, retry.ErrCanceled)
	}
}

func (r *forgetfulRun) refresh(t *rapid.T) {
	v, failure := r.pick(t, false), drawFrom(t, "failure", errAgain, errAgain, errAgain, errNever)
	if v == nil {
		return
	}
	next, err := r.strategy.RefreshRetryToken(t.Context(), v.token, failure)
	v.token, v.sent = next, false
	if err == nil {
		v.quota.tokens -= 5
		v.paid = 5
		return
	}
	switch {
	case failure == errNever: //nolint:errorlint // it is
		require.ErrorIs(t, err, retry.ErrNotRetryable)
	case v.token.Attempt() < r.config.Standard.MaxAttempts:
		require.ErrorIs(t, err, retry.ErrQuotaExhausted)
		require.Less(t, v.quota.tokens, 5)
	default:
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	}
	require.NoError(t, r.strategy.RecordFailure(v.token, failure))
	r.end(v)
}

func (r *forgetfulRun) succeed(t *rapid.T) {
	v := r.pick(t, false)
	if v == nil {
		return
	}
	require.NoError(t, r.strategy.RecordSuccess(v.token))
	back := v.paid
	if v.token.Attempt() == 1 {
		back = 1
	}
	v.quota.tokens = min(v.quota.tokens+back, 20)
	v.sent = false
	r.end(v)
}

func (r *forgetfulRun) fail(t *rapid.T) {
	v, failure := r.pick(t, false), drawFrom(t, "failure", errAgain, errNever)
	if v == nil {
		return
	}
	require.NoError(t, r.strategy.RecordFailure(v.token, failure))
	if !v.sent { // a retry that was granted and not made
		v.quota.tokens = min(v.quota.tokens+v.paid, 20)
	}
	v.sent = false
	r.end(v)
}

func (r *forgetfulRun) pass(t *rapid.T) {
	pause := drawFrom(t, "pause", 1, 100*time.Millisecond, time.Second, 59*time.Second, time.Minute, 4*time.Minute, 20*time.Minute)
	r.clock.Advance(pause)
	synctest.Wait()
}

// jump goes to the instant at which the next one who waits is due.
func (r *forgetfulRun) jump(*rapid.T) {
	r.clock.AdvanceToNext()
	synctest.Wait()
}

// cancelAll lets everybody go, so that a run ends.
func (r *forgetfulRun) cancelAll() {
	for _, v := range r.open {
		if v.cancel != nil {
			v.cancel()
		}
	}
	synctest.Wait()
}
