package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/retry"
)

// judgment is what the engine finds out about an attempt.
type judgment struct {
	failure   error // without a mark that has a reason and is the outermost error; nil after a success
	before    error // the failure of the attempt before
	verdict   classify.Verdict
	throttled bool    // as the limiter sees it, so not by a hard quota
	partly    bool    // throttled in a part of the scope
	left      float64 // share of the entries of a batch that were throttled, if others were written
	rule      error   // why there is no retry even if the verdict asks for one; or nil
}

// judge judges a failure. If a mark keeps the failure from being retried, judge also judges the marked error: the
// limiter must know of throttles, and a Reason is reported only if it stopped a retry.
func (o *operation) judge(ctx context.Context, failure error) {
	gone := o.engine.gone(ctx) != nil
	found := judgment{failure: failure, before: o.found.failure, verdict: o.engine.judge(&o.op, o.made, failure, gone)}
	below := found.verdict
	if mark := markOf(failure, below); mark != nil {
		below = o.engine.judge(&o.op, o.made, mark.Err, gone)
		if mark.Reason != nil && found.verdict.Forbids() {
			if failure == error(mark) { //nolint:errorlint // keeps what wraps a mark below it
				found.failure = mark.Err
			}
			found.verdict, found.rule = below, mark.Reason
		}
	}
	if o.op.NotIdempotent && found.rule == nil && found.verdict.Retryable() && mayHaveRun(failure, found.verdict) {
		found.rule = errMayHaveRun
	}
	found.partly = below.Reach() == classify.ReachPart
	found.throttled = below.Kind() == classify.Throttling && !found.partly && !below.HardQuota()
	o.found = found
}

var errMayHaveRun = errors.New("retry: the attempt may have been carried out, and the operation is not idempotent")

// mayHaveRun reports whether an attempt that failed so may have been carried out. A mark is the program's own decision.
func mayHaveRun(failure error, v classify.Verdict) bool {
	return !classify.Outcome{Err: failure}.Judge(nil, nil).Retryable() && !classify.Unprocessed(failure, v)
}

// markOf returns the mark of an error that keeps a failure with this verdict from being retried: the one that Unwrap() error
// leads to; nil if there is none.
func markOf(failure error, v classify.Verdict) *classify.JudgedError {
	for left := wire.MaxErrors; !v.Retryable() && failure != nil && left > 0; left-- {
		if mark, ok := failure.(*classify.JudgedError); ok && mark != nil && mark.Err != nil { //nolint:errorlint // one error of the walk
			return mark
		}
		failure = wire.Unwrap(failure)
	}
	return nil
}

// judge returns the verdict of the classifiers on a failure, or the one that it carries. gone says that the context of
// the operation has ended.
func (e *Engine) judge(op *retry.Operation, attempt int, failure error, gone bool) classify.Verdict {
	if failure == retry.ErrAborted { //nolint:errorlint // the loop's own, never wrapped
		return classify.Forbidden()
	}
	outcome := classify.Outcome{Err: failure, Service: e.service(op), Operation: op.Name, Attempt: attempt, CallerGone: gone}
	return outcome.Judge(e.config.Classifier, op.Classifier)
}

// gone returns how the context of an operation has ended; nil if it has not. A deadline counts as
// soon as its time has come, because the timers of contexts with one deadline fire one after
// another, and an attempt may have seen the end of another context.
func (e *Engine) gone(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !e.config.Clock.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// forbids returns what forbids a retry, apart from time and quota.
func (o *operation) forbids(ctx context.Context) *retry.Error {
	gone, retryable := ctx.Err(), o.found.verdict.Retryable()
	most, _ := limits(&o.op, o.plan)
	if around, _ := retry.AttemptFrom(o.ctx); around.Once {
		most = 1
	}
	if n := o.found.verdict.MaxAttempts(); n > 0 {
		most = min(most, n)
	}
	if !retryable { // decide refuses a retry that the deadline leaves no room for
		gone = o.engine.gone(ctx)
	}
	// If the failure is the end of ctx, the operation was canceled, even if a classifier would retry such errors.
	endedWith := gone != nil && (wire.Is(o.found.failure, gone) || wire.Is(o.found.failure, context.Cause(ctx)))
	switch {
	case !retryable && !endedWith:
		return o.refusal(retry.Error{Reason: retry.ErrNotRetryable})
	case retryable && o.made >= most:
		return o.refusal(retry.Error{Reason: retry.ErrAttemptsExhausted, MaxAttempts: most})
	case gone != nil:
		refusal := o.canceled(ctx)
		if o.found.before != nil && endedWith {
			// The attempt says only that the caller is gone; the one before says what the service answered.
			refusal.Last, refusal.Detail = o.found.before, wire.Join(refusal.Detail, o.found.failure)
		}
		return refusal
	case o.found.rule != nil:
		return o.refusal(retry.Error{Reason: retry.ErrNotRetryable, Detail: o.found.rule})
	default:
		return nil
	}
}

// decide grants or refuses a retry: retryable at all, attempts left, caller not gone, no rule against it, room for the
// wait, quota. The quota comes last, so that it or the pool pays only for a retry that nothing else forbids. decide returns
// the backoff, or with a refusal how long to sleep before the operation returns.
func (o *operation) decide(ctx context.Context) (delay time.Duration, refusal *retry.Error) {
	if refusal = o.forbids(ctx); refusal != nil {
		return 0, refusal
	}
	kind := o.found.verdict.Kind()
	hint, hinted := o.found.verdict.Hint()
	if g := o.reserved; g.payer != nil {
		if !hinted && g.kind == kind && o.noRoom(ctx, g.delay, 0) == nil {
			o.granted, o.reserved = g, grant{}
			return g.delay, nil
		}
		o.refund(&o.reserved) // the attempt has ended with something else, or too late
	}
	quota, cost := o.scope.Quota, costOf(o.plan, kind)
	bare, least, delay := o.backoff()
	wait, reason := o.roomForRetry(ctx, delay)
	if reason != nil && delay > least { // neither a hint in a window nor the spread above a full one fails a call
		delay = least
		wait, reason = o.roomForRetry(ctx, delay)
	}
	if !o.found.verdict.HintInFull() {
		hint = 0
	} else if hint > o.engine.config.MaxFullHint {
		wait, reason = 0, retry.ErrHintTooLong
	}
	limited, waits := quota.Limits(cost), o.engine.config.MaxQuotaWait > 0 && cost <= quota.Capacity()
	switch {
	case reason == nil:
		var payer *limit.Quota
		if !limited {
			payer = quota.Charge(cost)
		}
		lent := payer == nil && kind == classify.Transient && classify.LostConnection(o.found.failure) && quota.Lend(cost, o.loans)
		switch {
		case lent:
			o.granted = grant{delay: delay, kind: kind, lent: true}
			return delay, nil
		case payer != nil, !limited && waits:
			o.granted = grant{delay: delay, kind: kind, cost: cost, payer: payer}
			return delay, nil
		}
	case !limited && max(quota.Available(), quota.Pooled()) >= cost: // one of them would have paid
		return 0, o.refusal(retry.Error{Reason: reason, Wait: wait, Hint: hint})
	default:
		delay = bare
	}
	refusal = o.refusal(retry.Error{Reason: retry.ErrQuotaExhausted, Needed: cost})
	if limited && (waits || max(refusal.Available, refusal.Pool) >= cost) {
		refusal.Detail = retry.ErrDebtLimit
	}
	if o.engine.config.BackoffWhenEmpty || o.op.LongPolling && o.engine.config.LongPollingSleeps {
		return delay, refusal
	}
	return 0, refusal
}

// roomForRetry returns the shortest wait of a retry with this backoff, and why the wait must not begin, as noRoom does.
func (o *operation) roomForRetry(ctx context.Context, delay time.Duration) (wait time.Duration, reason error) {
	wait, needed := delay, time.Duration(0)
	if _, timed := ctx.Deadline(); o.limited && (timed || !o.op.NotAfter.IsZero()) {
		if expected := o.scope.Limiter.Expected(o.request); expected > wait {
			wait, needed = expected, o.scope.AttemptTime.Needed()
		}
	}
	return wait, o.noRoom(ctx, wait, needed)
}

// backoff returns the bare delay before the retry that follows a failure, the least one with the hint of the
// server, and the one to take if there is room for it.
//
// Where send tokens pace them, delays grow with the attempts since one that wrote entries of a batch.
func (o *operation) backoff() (bare, least, delay time.Duration) {
	config := &o.engine.config
	if o.plan.Backoff != nil {
		bare = o.plan.Backoff(o.made, o.found.failure)
	} else {
		base, grown := o.plan.Base, o.made-1
		if o.found.verdict.Kind() == classify.Throttling {
			base = o.throttlingBase()
		}
		if o.scope.Limiter != nil {
			grown -= o.wrote
		}
		shape := backoff.Exponential{Max: o.plan.MaxBackoff, Jitter: config.Jitter}
		bare = max(shape.Delay(grown, base, o.granted.delay, config.Random()), o.plan.MinDelay)
	}
	hint, hinted := o.found.verdict.Hint()
	switch {
	case !hinted:
		return bare, bare, bare
	case o.found.verdict.HintInFull():
		return bare, max(bare, hint), backoff.HintInFull(bare, hint, config.Random())
	case config.HintInWindow:
		return bare, bare, backoff.HintInWindow(bare, hint)
	default:
		return bare, bare, backoff.HintAsFloor(bare, hint, config.MaxHint)
	}
}

// throttlingBase returns the base of the delay after a throttle. After an attempt that wrote some entries of a batch, few callers
// could not use the rate of the service with it. What that attempt left waits as after other failures if send tokens pace it and
// no attempt waits for one; without send tokens it waits the longer, the larger its share is.
func (o *operation) throttlingBase() time.Duration {
	base, most := o.plan.Base, o.plan.ThrottlingBase
	switch {
	case o.wrote != o.made, o.scope.Limiter != nil && o.scope.Limiter.State().Waiting > 0:
		return most
	case o.scope.Limiter == nil:
		return base + time.Duration(float64(most-base)*o.found.left*o.found.left)
	default:
		return base
	}
}

// costOf returns what a retry after a failure of this kind takes from the quota.
func costOf(plan *retry.Plan, kind classify.Kind) int {
	switch kind {
	case classify.Throttling:
		return plan.ThrottlingCost
	case classify.Timeout:
		return plan.TimeoutCost
	default:
		return plan.RetryCost
	}
}

// refusal completes an error that says why there is no further attempt: with the tokens that there are if some are needed,
// and at a deadline with the error that the context would have.
func (o *operation) refusal(e retry.Error) *retry.Error {
	e.Scope, e.Attempts, e.Last = o.scope.Key, o.made, o.found.failure
	if e.Needed > 0 {
		e.Available, e.Pool = o.scope.Quota.Available(), o.scope.Quota.Pooled()
	}
	if e.Reason == retry.ErrDeadline && e.Detail == nil { //nolint:errorlint // the same value
		e.Detail = context.DeadlineExceeded
	}
	return &e
}

// canceled is the refusal for an operation whose context has ended.
func (o *operation) canceled(ctx context.Context) *retry.Error {
	refusal := o.refusal(retry.Error{Reason: retry.ErrCanceled}).Complete(ctx, 0)
	refusal.Detail = cmp.Or(refusal.Detail, o.engine.gone(ctx))
	return refusal
}

// refuse notes and reports that an attempt is not made. It returns the refusal with what is wrong with the limiter of the
// scope, but not for a failure that is not retryable, which comes back as it is.
func (r *record) refuse(refusal *retry.Error) error {
	r.granted.lacked = refusal.Needed > 0
	final, detail := refusal.Reason == retry.ErrNotRetryable, refusal.Detail //nolint:errorlint // the same value
	if r.scope.Err != nil && !final {
		told := *refusal // which an observer may have
		told.Detail = wire.Join(told.Detail, r.scope.Err)
		refusal = &told
	}
	if r.engine.config.Observer != nil {
		r.tally.reason = refusal.Reason
		if final || detail == retry.ErrDebtLimit { //nolint:errorlint // likewise
			r.tally.reason = wire.Join(refusal.Reason, detail) // with the rule that stopped a retry
		}
		r.emit(retry.Event{Kind: retry.RetryRefused, Err: refusal.Last, Reason: r.tally.reason, Delay: refusal.Wait})
	}
	return refusal
}
