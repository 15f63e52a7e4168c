package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/retry"
)

// judgment is what the engine finds out about a failure.
type judgment struct {
	failure   error // without a mark that has a reason and is the outermost error
	verdict   classify.Verdict
	throttled bool  // as the limiter sees it, so not by a hard quota
	partly    bool  // throttled in a part of the scope
	rule      error // why there is no retry even if the verdict asks for one; or nil
	gone      error // how the context of the operation has ended; or nil
}

// judgmentOn judges a failure. If a mark keeps the failure from being retried, judgmentOn also judges the marked error: the
// limiter must know of throttles, and a Reason is reported only if it stopped a retry.
func (e *Engine) judgmentOn(ctx context.Context, r *record, attempt int, failure error) (found judgment) {
	gone := e.gone(ctx)
	found.failure, found.gone, found.verdict = failure, gone, e.judge(&r.op, attempt, failure, gone)
	below := found.verdict
	if !below.Retryable() {
		mark := markOf(failure)
		if mark == nil || mark.Err == nil {
			return found
		}
		below = e.judge(&r.op, attempt, mark.Err, gone)
		if mark.Reason != nil && found.verdict.Forbids() {
			if failure == error(mark) { //nolint:errorlint // keeps what wraps a mark below it
				found.failure = mark.Err
			}
			found.verdict, found.rule = below, mark.Reason
		}
	}
	found.partly = below.Reach() == classify.ReachPart
	found.throttled = below.Kind() == classify.Throttling && !found.partly && !below.HardQuota()
	return found
}

// markOf returns the mark that Unwrap() error leads to from a failure; nil if there is none.
func markOf(failure error) *classify.JudgedError {
	for left := errtree.Max; failure != nil && left > 0; left-- {
		if mark, ok := failure.(*classify.JudgedError); ok && mark != nil { //nolint:errorlint // one error of the walk
			return mark
		}
		failure = errtree.Unwrap(failure)
	}
	return nil
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

// judge returns the verdict of the classifiers on a failure, or the one that it carries. gone is
// how the context of the operation has ended, or nil.
func (e *Engine) judge(op *retry.Operation, attempt int, failure, gone error) classify.Verdict {
	if failure == retry.ErrAborted { //nolint:errorlint // the loop's own, never wrapped
		return classify.Forbidden()
	}
	outcome := classify.Outcome{
		Err: failure, Service: e.service(op), Operation: op.Name, Attempt: attempt, CallerGone: gone != nil,
	}
	return outcome.Judge(e.config.Classifier, op.Classifier)
}

// decide grants or refuses a retry: retryable at all, attempts left, caller not gone, no rule against it, room for the
// wait, quota. The quota comes last, so that it pays only for a retry that nothing else forbids. decide returns the
// backoff, or with a refusal how long to sleep before the operation returns.
func (e *Engine) decide(ctx context.Context, t retry.Token, r *record, found *judgment) (time.Duration, error) {
	before := r.last
	r.last = found.failure
	if e.observed() {
		e.emitEnded(t, r, found, retry.Result{})
	}
	granted, refusal := grant{}, r.refusalBesidesQuota(ctx, t, found, before)
	if refusal == nil {
		granted, refusal = e.charge(ctx, t, r, found)
	}
	delay := granted.delay
	if refusal != nil {
		e.refuse(t, r, refusal)
		if e.observed() && delay > 0 {
			r.tally.phase = backingOff
		}
		return delay, refusal
	}
	r.granted, r.lacked = granted, false
	if e.observed() {
		r.tally.phase = backingOff
		e.emit(r, retry.Event{
			Kind: retry.RetryScheduled, Attempt: t.Attempt(), Err: r.last, Verdict: found.verdict, Delay: delay,
		})
	}
	return delay, nil
}

// refusalBesidesQuota returns what forbids a retry, apart from the quota. before is the failure of the attempt
// before the last one.
func (r *record) refusalBesidesQuota(ctx context.Context, t retry.Token, found *judgment, before error) *retry.Error {
	retryable, most := found.verdict.Retryable(), maxAttempts(&r.op, r.plan)
	if around, _ := retry.AttemptFrom(r.ctx); around.Once {
		most = 1
	}
	if n := found.verdict.MaxAttempts(); n > 0 {
		most = min(most, n)
	}
	gone := ctx.Err()
	if !retryable { // charge refuses a retry that the deadline leaves no room for
		gone = cmp.Or(gone, found.gone)
	}
	switch {
	case !retryable && !endedWith(ctx, gone, found.failure):
		return r.refusal(retry.ErrNotRetryable, t.Attempt())
	case retryable && t.Attempt() >= most:
		refusal := r.refusal(retry.ErrAttemptsExhausted, t.Attempt())
		refusal.MaxAttempts = most
		return refusal
	case gone == nil && found.rule == nil:
		return nil
	case gone == nil:
		refusal := r.refusal(retry.ErrNotRetryable, t.Attempt())
		refusal.Detail = found.rule
		return refusal
	}
	refusal := r.refusal(retry.ErrCanceled, t.Attempt()).Because(ctx)
	refusal.Detail = cmp.Or(refusal.Detail, gone)
	if before != nil && endedWith(ctx, gone, found.failure) {
		// The attempt says only that the caller is gone; the one before says what the service answered.
		refusal.Last, refusal.Detail = before, fmt.Errorf("%w: %w", refusal.Detail, r.last)
	}
	return refusal
}

// endedWith reports whether the failure is the end of ctx, which is gone. Then the operation was
// canceled, even if a classifier would retry such errors.
func endedWith(ctx context.Context, gone, failure error) bool {
	return gone != nil && (errtree.Is(failure, gone) || errtree.Is(failure, context.Cause(ctx)))
}

// charge takes the cost of a retry from the quota or from the pool. It returns the retry, or why there is none and how long
// to sleep before the operation returns.
func (e *Engine) charge(ctx context.Context, t retry.Token, r *record, found *judgment) (grant, *retry.Error) {
	verdict := found.verdict
	if g := r.reserved; g.payer != nil {
		_, hinted := verdict.Hint()
		if !hinted && g.kind == verdict.Kind() && e.noRoom(ctx, &r.op, g.delay, 0) == nil {
			r.reserved = grant{}
			return g, nil
		}
		r.refund(&r.reserved) // the attempt has ended with something else, or too late
	}
	quota, cost := r.scope.Quota, costOf(r.plan, verdict.Kind())
	bare, least, delay := e.backoff(r, t.Attempt(), found)
	wait, reason := e.roomForRetry(ctx, r, delay)
	if reason != nil && delay > least { // neither a hint in a window nor the spread above a full one fails a call
		delay = least
		wait, reason = e.roomForRetry(ctx, r, delay)
	}
	hint, _ := verdict.Hint()
	if !verdict.HintInFull() {
		hint = 0
	}
	if hint > e.config.MaxFullHint {
		wait, reason = 0, retry.ErrHintTooLong
	}
	switch {
	case reason == nil:
	case !quota.Covers(cost):
		return grant{delay: e.delayWhenRefused(r, bare)}, e.empty(r, t.Attempt(), cost)
	default:
		refusal := r.tooLong(reason, t.Attempt(), wait)
		refusal.Hint = hint
		return grant{}, refusal
	}
	payer := quota.Charge(cost)
	if payer == nil && (e.config.MaxQuotaWait == 0 || cost > quota.Capacity()) {
		return grant{delay: e.delayWhenRefused(r, delay)}, e.empty(r, t.Attempt(), cost)
	}
	return grant{delay: delay, kind: verdict.Kind(), cost: cost, payer: payer}, nil
}

// roomForRetry returns the shortest wait of a retry with this backoff, and why the wait must not begin, as noRoom does.
func (e *Engine) roomForRetry(ctx context.Context, r *record, delay time.Duration) (wait time.Duration, reason error) {
	if !timeLimited(ctx, &r.op) {
		return delay, nil
	}
	needed := time.Duration(0)
	if wait = delay; r.limited() {
		if expected := r.scope.Limiter.Expected(r.request()); expected > wait {
			wait, needed = expected, r.scope.AttemptTime.Needed()
		}
	}
	return wait, e.noRoom(ctx, &r.op, wait, needed)
}

// delayWhenRefused returns how long an operation sleeps before it returns ErrQuotaExhausted. delay is the
// backoff of the retry that it does not get.
func (e *Engine) delayWhenRefused(r *record, delay time.Duration) time.Duration {
	if e.config.BackoffWhenEmpty || r.op.LongPolling && e.config.LongPollingSleeps {
		return delay
	}
	return 0
}

// backoff returns the bare delay before the retry that follows a failure, the least one with the hint of the
// server, and the one to take if there is room for it.
func (e *Engine) backoff(r *record, attempt int, found *judgment) (bare, least, delay time.Duration) {
	bare = e.bareBackoff(r, attempt, found)
	hint, hinted := found.verdict.Hint()
	switch {
	case !hinted:
		return bare, bare, bare
	case found.verdict.HintInFull():
		return bare, max(bare, hint), backoff.HintInFull(bare, hint, e.config.Random())
	case e.config.HintInWindow:
		return bare, bare, backoff.HintInWindow(bare, hint)
	default:
		return bare, bare, backoff.HintAsFloor(bare, hint, e.config.MaxHint)
	}
}

// bareBackoff returns the delay before the retry that follows a failure, without a hint.
func (e *Engine) bareBackoff(r *record, attempt int, found *judgment) time.Duration {
	if r.plan.Backoff != nil {
		return r.plan.Backoff(attempt, found.failure)
	}
	base := r.plan.ThrottlingBase
	if found.verdict.Kind() != classify.Throttling {
		base = r.plan.Base
	}
	shape := backoff.Exponential{Max: r.plan.MaxBackoff, Jitter: e.config.Jitter}
	return max(shape.Delay(attempt-1, base, r.granted.delay, e.config.Random()), r.plan.MinDelay)
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

// refusal returns why there is no further attempt after this many.
func (r *record) refusal(reason error, attempts int) *retry.Error {
	return &retry.Error{Reason: reason, Scope: r.scope.Key, Attempts: attempts, Last: r.last}
}

// refuse notes and reports that an attempt is not made. It adds what is wrong with the limiter of the scope, but not to a
// failure that is not retryable, which comes back as it is.
func (e *Engine) refuse(t retry.Token, r *record, refusal *retry.Error) {
	r.lacked = refusal.Needed > 0
	switch {
	case r.scope.Err == nil || refusal.Reason == retry.ErrNotRetryable: //nolint:errorlint // the same value
	case refusal.Detail == nil:
		refusal.Detail = r.scope.Err
	default:
		refusal.Detail = fmt.Errorf("%w: %w", refusal.Detail, r.scope.Err)
	}
	if e.observed() {
		e.emitRefused(t, r, refusal)
	}
}

// tooLong is the refusal of a wait. At a deadline it holds the error that the context would have.
func (r *record) tooLong(reason error, attempts int, wait time.Duration) *retry.Error {
	refusal := r.refusal(reason, attempts)
	if refusal.Wait = wait; reason == retry.ErrDeadline { //nolint:errorlint // the same value
		refusal.Detail = context.DeadlineExceeded
	}
	return refusal
}

// empty is the refusal for lack of quota.
func (e *Engine) empty(r *record, attempts, needed int) *retry.Error {
	refusal := r.refusal(retry.ErrQuotaExhausted, attempts)
	refusal.Available, refusal.Pool = r.scope.Quota.Available(), r.scope.Quota.Pooled()
	refusal.Needed = needed
	return refusal
}
