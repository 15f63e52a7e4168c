package engine

import (
	"time"

	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/retry"
)

// Reserve decides as RefreshRetryToken will, and keeps what the retry needs for it. So many attempts may be ended
// at the same time, and each gets the retry for which it was ended. It takes no token for which it would have to
// wait. What it takes goes back if the attempt ends meanwhile.
func (r *record) Reserve(t token.Token, failure error, needed time.Duration) (ok bool) {
	if !t.Move(token.Ready, token.Reserving) {
		return false
	}
	alone := r.alone()
	t.Set(token.Ready)
	defer func() {
		if recover() != nil { // a classifier or a limiter, which will panic again where the caller sees it
			ok = false
		}
		if !ok {
			alone.refund(&alone.reserved)
		}
	}()
	if !alone.reserve(retry.Token(t), failure, needed) || !t.Move(token.Ready, token.Reserving) {
		return false
	}
	defer t.Set(token.Ready)
	if r.reserved.payer != nil {
		return false
	}
	r.reserved = alone.reserved
	return true
}

// reserve takes quota and send tokens, and reports false if a retry would not be granted.
func (r *record) reserve(t retry.Token, failure error, needed time.Duration) bool {
	e, ctx := r.engine, r.ctx
	found := e.judgmentOn(ctx, r, t.Attempt(), failure)
	if r.refusalBesidesQuota(ctx, t, &found, nil) != nil {
		return false
	}
	granted, refusal := e.charge(ctx, t, r, &found)
	if refusal != nil || granted.payer == nil { // without a payer it would have to wait for quota
		return false
	}
	r.reserved = granted
	if deadline, ok := ctx.Deadline(); ok && deadline.Sub(e.config.Clock.Now()) < granted.delay+needed {
		return false
	}
	if !r.limited() {
		return true
	}
	request := r.request()
	request.NoWait = true
	_, err := r.scope.Limiter.Acquire(ctx, request)
	r.reserved.sendPaid = err == nil
	return err == nil
}

// Unreserve gives back what Reserve has taken.
func (r *record) Unreserve(t token.Token) {
	if !t.Move(token.Ready, token.Reserving) {
		return
	}
	alone := r.alone()
	alone.reserved, r.reserved = r.reserved, grant{}
	t.Set(token.Ready)
	alone.refund(&alone.reserved)
}

// alone returns a record of the operation for code of the user, which takes its time. By then r may serve another one.
func (r *record) alone() *record {
	return &record{
		engine: r.engine, scope: r.scope, op: r.op, plan: r.plan, ctx: r.ctx, partly: r.partly, granted: grant{delay: r.granted.delay},
	}
}
