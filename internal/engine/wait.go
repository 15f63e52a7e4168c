package engine

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Wait returns when the attempt of the token may be made: after its backoff, once it has paid the
// quota it owes, and with a send token. After a refused refresh it only sleeps.
//
// However it ends, the caller may wait for the token again unless the attempt may be made, and the send token of an
// attempt that is not made goes back.
func (r *record) Wait(ctx context.Context, t token.Token) error {
	was, ok := t.Take(token.Issued | token.Refused)
	if !ok {
		return retry.ErrTokenUsed
	}
	if was == token.Issued && t.Delay() <= 0 && r.plain() && ctx.Err() == nil {
		r.loans = r.scope.Quota.Loans()
		t.Set(token.Ready)
		return nil
	}
	r.begin(t, was)
	defer r.end()
	if was == token.Issued {
		r.made-- // its attempt follows
		return r.wait(ctx)
	}
	if refusal := r.sleep(ctx); refusal != nil {
		return refusal
	}
	return nil
}

// plain reports whether the next attempt waits for nothing but its backoff.
func (r *record) plain() bool {
	return !r.limited && !r.owes() && r.op.NotAfter.IsZero() && r.tally.phase == attempting
}

// owes reports whether Wait must still take the cost of the granted retry from the quota.
func (o *operation) owes() bool { return o.granted.payer == nil && o.granted.cost > 0 }

func (r *record) wait(ctx context.Context) error {
	refusal := r.sleep(ctx)
	r.scope.Touch() // after the backoff, so that no scope with a waiter is evicted
	if refusal == nil {
		refusal = r.late()
	}
	if refusal == nil && r.owes() {
		refusal = r.waitForQuota(ctx)
	}
	if refusal == nil && r.limited {
		refusal = r.acquire(ctx)
	}
	if refusal != nil {
		if r.token.Attempt() > 1 {
			r.enter(backingOff)
		}
		return r.refuse(refusal)
	}
	if r.tally.phase != attempting {
		r.enter(attempting)
	}
	r.granted.sendPaid, r.then, r.loans = false, token.Ready, r.scope.Quota.Loans()
	return nil
}

// sleep sleeps the backoff. It refuses at once if the deadline leaves no room for it.
func (r *record) sleep(ctx context.Context) *retry.Error {
	delay, err := r.token.Delay(), ctx.Err()
	if err == nil && delay > 0 {
		if reason := r.noRoom(ctx, delay, 0); reason != nil {
			return r.refusal(retry.Error{Reason: reason, Wait: delay})
		}
		err = r.engine.config.Clock.Sleep(ctx, delay)
	}
	if err != nil {
		return r.canceled(ctx)
	}
	return nil
}

// late refuses an attempt that would begin after the end of the operation.
func (o *operation) late() *retry.Error {
	if end := o.op.NotAfter; end.IsZero() || !instant.Late(o.engine.config.Clock.Now(), end) {
		return nil
	}
	return o.refusal(retry.Error{Reason: retry.ErrMaxElapsed})
}

// noRoom returns why a wait of d must not begin, which would leave the attempt less time than needed before the deadline of
// ctx, or end after op.NotAfter; nil if there is room.
func (o *operation) noRoom(ctx context.Context, d, needed time.Duration) error {
	if _, limited := ctx.Deadline(); !limited && o.op.NotAfter.IsZero() {
		return nil
	}
	now := o.engine.config.Clock.Now()
	switch instant.EndsOf(ctx, now, o.op.NotAfter, needed).Missed(now, d) {
	case instant.Deadline:
		return retry.ErrDeadline
	case instant.Last:
		return retry.ErrMaxElapsed
	default:
		return nil
	}
}

// errNoQuota says that a wait for quota has reached its end.
var errNoQuota = errors.New("retry: no quota in the time allowed")

// waitForQuota waits for the tokens of a retry that the quota did not cover.
func (r *record) waitForQuota(ctx context.Context) *retry.Error {
	r.enter(awaitingQuota)
	payer, err := r.scope.Quota.Wait(ctx, r.granted.cost, r.engine.config.MaxQuotaWait, r.op.NotAfter)
	r.granted.payer = payer
	reason := retry.ErrQuotaExhausted
	switch {
	case err == nil:
		return nil
	case r.engine.gone(ctx) != nil:
		return r.canceled(ctx)
	case errors.Is(err, ratelimit.ErrNotAfter):
		reason = retry.ErrMaxElapsed
	}
	return r.refusal(retry.Error{Reason: reason, Detail: errNoQuota, Needed: r.granted.cost})
}

// acquire takes the send token of an attempt, with events around a wait. A retry may have reserved it.
func (r *record) acquire(ctx context.Context) *retry.Error {
	if r.granted.sendPaid {
		r.sent = r.engine.config.Clock.Now()
		return nil
	}
	request := r.request
	request.AttemptTime = r.scope.AttemptTime.Needed()
	if r.engine.config.Observer != nil {
		request.OnWait = func(w ratelimit.Wait) {
			if r.tally.phase != awaitingSend { // a limiter of the user may wait more than once
				r.enter(awaitingSend)
			}
			r.emit(retry.Event{Kind: retry.SendWaitBegan, Delay: w.Expected, Waiting: w.Ahead, Rate: float64(w.FillRate)})
		}
	}
	sent, err := r.scope.Limiter.Acquire(ctx, request)
	r.sent, r.granted.sendPaid = sent, err == nil
	refusal := r.late() // a limiter of the user may ignore the end
	if err != nil {
		refusal = r.notSent(ctx, err)
	}
	if r.tally.phase == awaitingSend {
		ended := retry.Event{Kind: retry.SendWaitEnded, Delay: r.enter(attempting)}
		if refusal != nil {
			ended.Err = refusal
		}
		r.emit(ended)
	}
	return refusal
}

// notSent says why an attempt got no send token.
func (o *operation) notSent(ctx context.Context, err error) *retry.Error {
	refused, ok := wire.As[*ratelimit.WaitError](err)
	if !ok && ctx.Err() != nil {
		return o.canceled(ctx)
	}
	if !ok {
		return o.refusal(retry.Error{Reason: retry.ErrSendRateLimited, Detail: err})
	}
	refusal := retry.Error{Detail: wire.Join(retry.ErrSendRateLimited, refused), Wait: refused.Wait.Expected}
	switch {
	case errors.Is(refused, context.DeadlineExceeded):
		refusal.Reason = retry.ErrDeadline
	case errors.Is(refused, ratelimit.ErrNotAfter):
		refusal.Reason = retry.ErrMaxElapsed
	default:
		refusal.Reason, refusal.Detail = retry.ErrSendRateLimited, refused
	}
	return o.refusal(refusal)
}
