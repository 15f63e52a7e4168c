package engine

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/retry"
)

// reservation is what a retry needs, taken before the end of the attempt that it follows. So many attempts
// may be ended at the same time, and each gets the retry for which it was ended.
type reservation struct {
	record // of the operation, as it was; payer, paid, delay and sendPaid are those of the retry
	token  token.Token
	kind   classify.Kind
}

// Reserve decides as RefreshRetryToken will. It holds nothing while code of the user runs, and takes no
// token for which it would have to wait.
func (r *record) Reserve(t token.Token, failure error, needed time.Duration) (ok bool) {
	held := &reservation{token: t}
	if !t.Read(func() {
		held.engine, held.scope, held.op, held.plan, held.ctx = r.engine, r.scope, r.op, r.plan, r.ctx
		held.delay, held.partly = r.delay, r.partly
	}) {
		return false
	}
	defer func() {
		if recover() != nil { // a classifier or a limiter, which will panic again where the caller sees it
			ok = false
		}
		if !ok {
			held.refund()
		}
	}()
	if !held.take(failure, needed) || !r.reserved.CompareAndSwap(nil, held) {
		return false
	}
	// A verb takes the token first, and then looks for the reservation.
	return t.Present() || !r.reserved.CompareAndSwap(held, nil)
}

// take takes quota and send tokens, and reports false if a retry would not be granted.
func (h *reservation) take(failure error, needed time.Duration) bool {
	e, ctx, t := h.engine, h.ctx, retry.Token(h.token)
	found := e.judgmentOn(ctx, &h.record, t.Attempt(), failure)
	h.last, h.kind = found.failure, found.verdict.Kind()
	if h.refusalBesidesQuota(ctx, t, &found, nil) != nil {
		return false
	}
	delay, refusal := e.charge(ctx, t, &h.record, found.verdict)
	if refusal != nil || h.payer == nil { // without a payer it would have to wait for quota
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && deadline.Sub(e.config.Clock.Now()) < delay+needed {
		return false
	}
	if !h.limited() {
		return true
	}
	request := h.request()
	request.NoWait = true
	_, err := h.scope.Limiter.Acquire(ctx, request)
	h.sendPaid = err == nil
	return h.sendPaid
}

// Unreserve gives back what Reserve has taken.
func (r *record) Unreserve(t token.Token) {
	if held := r.reserved.Load(); held != nil && held.token == t && r.reserved.CompareAndSwap(held, nil) {
		held.refund()
	}
}

// useReserved grants the retry for which the attempt was ended. It gives back what was reserved if the
// attempt has ended with something else, or so late that there is no room for the backoff.
func (e *Engine) useReserved(ctx context.Context, r *record, verdict classify.Verdict) bool {
	held := r.held
	r.held = nil
	_, hinted := verdict.Hint()
	if hinted || held.kind != verdict.Kind() || e.noRoom(ctx, &r.op, held.delay, 0) != nil {
		held.refund()
		return false
	}
	r.payer, r.paid, r.delay, r.sendPaid = held.payer, held.paid, held.delay, held.sendPaid
	return true
}
