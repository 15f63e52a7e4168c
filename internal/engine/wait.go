package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Wait returns when the attempt of the token may be made: after its backoff, once it has paid the
// quota it owes, and with a send token.
func (r *record) Wait(ctx context.Context, t token.Token) error {
	switch {
	case t.Move(token.Issued, token.Waiting):
		if t.Delay() <= 0 && r.plain() && ctx.Err() == nil {
			t.Set(token.Ready)
			return nil
		}
		return r.engine.wait(ctx, retry.Token(t), r)
	case t.Move(token.Refused, token.Resting):
		defer t.Set(token.Refused)
		if refusal := r.engine.sleep(ctx, retry.Token(t), r); refusal != nil {
			return refusal
		}
		return nil
	default:
		return retry.ErrTokenUsed
	}
}

// plain reports whether the next attempt waits for nothing but its backoff.
func (r *record) plain() bool {
	return !r.limited() && !r.owes() && r.op.NotAfter.IsZero() && r.tally.phase == attempting
}

// owes reports whether Wait must still take the cost of the granted retry from the quota.
func (r *record) owes() bool { return r.granted.payer == nil && r.granted.cost > 0 }

// wait goes through the phases of a wait. However it ends, the caller may wait for the token again
// unless the attempt may be made, and the send token of an attempt that is not made goes back.
func (e *Engine) wait(ctx context.Context, t retry.Token, r *record) error {
	after, paid := token.Issued, false
	defer func() {
		defer token.Token(t).Set(after) // also if the limiter of a user panics
		if paid && after != token.Ready {
			r.scope.Limiter.Give(r.request())
		}
	}()
	refusal := e.sleep(ctx, t, r)
	r.scope.Touch() // after the backoff, so that no scope with a waiter is evicted
	if refusal == nil {
		refusal = e.late(t, r)
	}
	if refusal == nil && r.owes() {
		r.enter(awaitingQuota)
		refusal = e.waitForQuota(ctx, t, r)
	}
	switch {
	case refusal != nil || !r.limited():
	case r.granted.sendPaid:
		paid, r.granted.sendPaid = true, false
		r.sent = e.config.Clock.Now()
	default:
		refusal = e.acquire(ctx, t, r, &paid)
	}
	if refusal != nil {
		if t.Attempt() > 1 {
			r.enter(backingOff)
		}
		e.refuse(t, r, refusal)
		return refusal
	}
	if r.tally.phase != attempting {
		r.enter(attempting)
	}
	after = token.Ready
	return nil
}

// sleep sleeps the backoff. It refuses at once if the deadline leaves no room for it.
func (e *Engine) sleep(ctx context.Context, t retry.Token, r *record) *retry.Error {
	delay, err := t.Delay(), ctx.Err()
	if err == nil && delay > 0 {
		if reason := e.noRoom(ctx, &r.op, delay, 0); reason != nil {
			return r.tooLong(reason, attemptsBefore(t), delay)
		}
		err = e.config.Clock.Sleep(ctx, delay)
	}
	if err != nil {
		return r.refusal(retry.ErrCanceled, attemptsBefore(t)).Because(ctx)
	}
	return nil
}

// late refuses an attempt that would begin after the end of the operation.
func (e *Engine) late(t retry.Token, r *record) *retry.Error {
	if end := r.op.NotAfter; end.IsZero() || !e.config.Clock.Now().After(end) {
		return nil
	}
	return r.refusal(retry.ErrMaxElapsed, attemptsBefore(t))
}

// timeLimited reports whether the operation has a time limit.
func timeLimited(ctx context.Context, op *retry.Operation) bool {
	_, limited := ctx.Deadline()
	return limited || !op.NotAfter.IsZero()
}

// noRoom returns why a wait of d must not begin: ErrDeadline if it would leave the attempt less
// time than needed before the deadline of ctx, see ratelimit.Request.AttemptTime; ErrMaxElapsed if it
// would end after op.NotAfter; nil if there is room.
func (e *Engine) noRoom(ctx context.Context, op *retry.Operation, d, needed time.Duration) error {
	if !timeLimited(ctx, op) {
		return nil
	}
	now := e.config.Clock.Now()
	deadline, ok := ctx.Deadline()
	switch {
	case ok && deadline.Sub(now)-min(needed, deadline.Sub(now)/2) <= d:
		return retry.ErrDeadline
	case !op.NotAfter.IsZero() && op.NotAfter.Sub(now) < d:
		return retry.ErrMaxElapsed
	default:
		return nil
	}
}

// waitForQuota waits for the tokens of a retry that the quota did not cover.
func (e *Engine) waitForQuota(ctx context.Context, t retry.Token, r *record) *retry.Error {
	limit, reason := e.config.MaxQuotaWait, retry.ErrQuotaExhausted
	if end := r.op.NotAfter; !end.IsZero() {
		if left := end.Sub(e.config.Clock.Now()); left < limit {
			limit, reason = left, retry.ErrMaxElapsed
		}
	}
	payer, err := r.scope.Quota.Wait(ctx, r.granted.cost, limit)
	switch {
	case err == nil:
		r.granted.payer = payer
		return e.late(t, r)
	case ctx.Err() != nil:
		return r.refusal(retry.ErrCanceled, attemptsBefore(t)).Because(ctx)
	default:
		refusal := e.empty(r, attemptsBefore(t), r.granted.cost)
		refusal.Reason, refusal.Detail = reason, err
		return refusal
	}
}

// acquire takes the send token of an attempt, with events around a wait. It sets paid if it got one.
func (e *Engine) acquire(ctx context.Context, t retry.Token, r *record, paid *bool) *retry.Error {
	request := r.request()
	request.AttemptTime = r.scope.AttemptTime.Needed()
	if e.observed() {
		request.OnWait = func(w ratelimit.Wait) {
			if r.tally.phase != awaitingSend { // a limiter of the user may wait more than once
				r.enter(awaitingSend)
			}
			e.emit(r, retry.Event{
				Kind: retry.SendWaitBegan, Attempt: t.Attempt(),
				Delay: w.Expected, Waiting: w.Ahead, Rate: float64(w.FillRate),
			})
		}
	}
	sent, err := r.scope.Limiter.Acquire(ctx, request)
	*paid = err == nil
	r.sent = sent
	refusal := r.notSent(ctx, t, err)
	if refusal == nil {
		refusal = e.late(t, r) // a limiter of the user may ignore the end
	}
	if r.tally.phase == awaitingSend {
		ended := retry.Event{Kind: retry.SendWaitEnded, Attempt: t.Attempt(), Delay: r.enter(attempting)}
		if refusal != nil {
			ended.Err = refusal
		}
		e.emit(r, ended)
	}
	return refusal
}

// request is what the current attempt asks the limiter for.
func (r *record) request() ratelimit.Request {
	request := r.engine.config.Send
	request.Part, request.NotAfter = r.partly, r.op.NotAfter
	return request
}

// notSent says why an attempt got no send token.
func (r *record) notSent(ctx context.Context, t retry.Token, err error) *retry.Error {
	if err == nil {
		return nil
	}
	refusal := r.refusal(retry.ErrSendRateLimited, attemptsBefore(t))
	refused, ok := errtree.As[*ratelimit.WaitError](err)
	switch {
	case !ok && ctx.Err() != nil:
		refusal.Reason = retry.ErrCanceled
		return refusal.Because(ctx)
	case !ok:
		refusal.Detail = err
		return refusal
	}
	refusal.Wait, refusal.Detail = refused.Wait.Expected, refused
	switch {
	case errors.Is(refused, context.DeadlineExceeded):
		refusal.Reason = retry.ErrDeadline
	case errors.Is(refused, ratelimit.ErrNotAfter):
		refusal.Reason = retry.ErrMaxElapsed
	default:
		return refusal
	}
	refusal.Detail = fmt.Errorf("%w: %w", retry.ErrSendRateLimited, refused)
	return refusal
}

// attemptsBefore returns how many attempts were made before that of a token.
func attemptsBefore(t retry.Token) int { return max(t.Attempt()-1, 0) }
