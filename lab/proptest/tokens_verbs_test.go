package proptest_test

import (
	"context"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/retry"
)

func (r *tokenRun) acquire(t *rapid.T) {
	issuer := drawInt(t, 0, len(r.strategies)-1, "strategy")
	token, err := r.strategies[issuer].AcquireInitialToken(t.Context(), drawOperation(t))
	require.NoError(t, err)
	r.keep(token, issuer, new(fresh))
}

func (r *tokenRun) wait(t *rapid.T) {
	h, _ := r.draw(t)
	forbidden := h.misused(h.issuer, fresh, refused)
	if h.issuer < 0 {
		forbidden = retry.ErrForeignToken
	}
	if r.against(t, forbidden, func() error { return h.token.Wait(t.Context()) }) {
		return
	}
	if drawBool(t, "canceled") { // the token is as good as before
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, h.token.Wait(ctx), retry.ErrCanceled)
		return
	}
	require.NoError(t, h.token.Wait(t.Context()))
	if *h.phase == fresh {
		*h.phase = waited
	}
}

func (r *tokenRun) refresh(t *rapid.T) {
	h, strategy := r.draw(t)
	failed := drawFrom(t, "failure", errAgain, errAgain, errAgain, errNever)
	var next retry.Token
	call := func() (err error) {
		next, err = r.strategies[strategy].RefreshRetryToken(t.Context(), h.token, failed)
		return err
	}
	if r.against(t, h.misused(strategy, fresh, waited), call) {
		require.Zero(t, next)
		return
	}
	if err := call(); err != nil {
		require.ErrorIs(t, err, failed)
		*h.phase = refused
		r.keep(next, strategy, h.phase)
		return
	}
	require.Equal(t, h.attempt+1, next.Attempt())
	*h.phase = used
	r.keep(next, strategy, new(fresh))
}

// panicIn lets the classifier panic: the token is as good as before.
func (r *tokenRun) panicIn(t *rapid.T) {
	h, strategy := r.draw(t)
	call := func() error {
		_, err := r.strategies[strategy].RefreshRetryToken(t.Context(), h.token, errPanic)
		return err
	}
	if !r.against(t, h.misused(strategy, fresh, waited), call) {
		require.PanicsWithValue(t, errPanic, func() { _ = call() })
	}
}

func (r *tokenRun) succeed(t *rapid.T) {
	h, strategy := r.draw(t)
	call := func() error { return r.strategies[strategy].RecordSuccess(h.token) }
	if !r.against(t, h.misused(strategy, fresh, waited), call) {
		require.NoError(t, call())
		*h.phase = used
	}
}

func (r *tokenRun) fail(t *rapid.T) {
	h, strategy := r.draw(t)
	call := func() error { return r.strategies[strategy].RecordFailure(h.token, errNever) }
	if !r.against(t, h.misused(strategy, fresh, waited, refused), call) {
		require.NoError(t, call())
		*h.phase = used
	}
}
