package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// tally has the figures for events. Only an operation with an observer has one, because it needs readings of the clock.
type tally struct {
	id    uint64
	start instant.Mark
	stopwatch
	verdict classify.Verdict // on the last failure
	reason  error            // of the last refusal
}

// enter begins a phase of an operation and returns how long the one before took.
func (r *record) enter(p phase) (took time.Duration) {
	if !r.engine.observed() {
		return 0
	}
	return r.tally.enter(p, r.engine.reading.Mark().Sub(r.tally.start))
}

// elapsed returns how long an operation has taken at an instant of the clock.
func (r *record) elapsed(now time.Time) time.Duration {
	return r.engine.reading.MarkOf(now).Sub(r.tally.start)
}

// emit completes an event, passes it on, and survives a panic of the observer. An event without a
// time is about now. One kind is about a scope other than the operation's.
func (e *Engine) emit(r *record, event *retry.Event) {
	defer func() { _ = recover() }()
	if event.Time.IsZero() {
		event.Time = e.config.Clock.Now()
	}
	event.OperationID, event.Operation = r.tally.id, r.op
	switch event.Kind {
	case retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused, retry.OperationEnded:
		event.Quota, event.Pool = e.quotaLeft(r)
	default: // has no quota
	}
	if event.Kind != retry.ScopeEvicted {
		event.Scope = r.scope.Key
	}
	e.config.Observer.Observe(r.ctx, *event)
}

// emitNested reports attempts that multiply, because the operation is in an attempt of another loop.
func (e *Engine) emitNested(r *record) {
	around, _ := retry.AttemptFrom(r.ctx)
	if around.Once {
		r.op.MaxAttempts = 1
	}
	outer, most := max(around.MaxAttempts, 1), maxAttempts(&r.op, r.plan)
	if product := min(int64(outer)*int64(min(most, math.MaxInt32)), math.MaxInt32); outer > 1 && product > int64(outer) {
		e.emit(r, &retry.Event{Kind: retry.LoopNested, Attempt: 1, MaxAttempts: int(product)})
	}
}

// emitEnded reports a failed attempt.
func (e *Engine) emitEnded(t retry.Token, r *record, verdict classify.Verdict) {
	now := e.config.Clock.Now()
	took := r.tally.attempted(r.elapsed(now))
	r.tally.verdict, r.tally.reason = verdict, nil
	e.emit(r, &retry.Event{
		Kind: retry.AttemptEnded, Time: now, Attempt: t.Attempt(), Err: r.last, Verdict: verdict, Elapsed: took,
	})
}

// emitSuccess reports a successful attempt, its effect on the send rate, and the end of the operation.
func (r *record) emitSuccess(change ratelimit.Change, result retry.Result) {
	e, now := r.engine, r.engine.config.Clock.Now()
	took := r.tally.attempted(r.elapsed(now))
	attempt := retry.Event{Kind: retry.AttemptEnded, Time: now, Elapsed: took}
	if result.Throttled > 0 {
		attempt.EntriesThrottled, attempt.Entries = result.Throttled, max(result.Throttled, result.Entries)
	}
	e.emitEnd(r, attempt)
	r.emitRate(change)
	e.emitEnd(r, r.tally.end(now))
}

// emitEnd is a copy of emit for successes. Every successful operation has two of these events, and an
// event is large; emitEnd takes it by value and passes that on, which saves a copy.
func (e *Engine) emitEnd(r *record, event retry.Event) {
	defer func() { _ = recover() }()
	event.OperationID, event.Operation, event.Scope = r.tally.id, r.op, r.scope.Key
	event.Attempt = r.verb.token.Attempt()
	event.Quota, event.Pool = e.quotaLeft(r)
	e.config.Observer.Observe(r.ctx, event)
}

// emitFailure reports an operation that ended without success after this many attempts.
func (e *Engine) emitFailure(r *record, attempts int, failure error) {
	now := e.config.Clock.Now()
	r.tally.enter(attempting, r.elapsed(now))
	ended := r.tally.end(now)
	ended.Attempt, ended.Err, ended.Verdict, ended.Reason = attempts, r.last, r.tally.verdict, r.reasonOf(failure)
	e.emit(r, &ended)
}

// end returns the event for the end of an operation.
func (t *tally) end(now time.Time) retry.Event {
	return retry.Event{
		Kind: retry.OperationEnded, Time: now, Elapsed: t.began,
		BackoffWait: t.spent[backingOff], QuotaWait: t.spent[awaitingQuota], SendWait: t.spent[awaitingSend],
	}
}

// reasonOf returns why the operation ended: the refusal, or what the loop says about the end.
func (r *record) reasonOf(failure error) error {
	switch {
	case r.tally.reason != nil:
		return r.tally.reason
	case failure == retry.ErrAborted: //nolint:errorlint // the loop's own, never wrapped
		return retry.ErrAborted
	case r.ctx.Err() != nil:
		return retry.ErrCanceled
	default:
		return retry.ErrNotRetryable
	}
}

// emitRefused reports an attempt that is not made.
func (e *Engine) emitRefused(t retry.Token, r *record, refusal *retry.Error) {
	if !e.observed() {
		return
	}
	reason := refusal.Reason
	if refusal.Detail != nil && reason == retry.ErrNotRetryable { //nolint:errorlint // the same value
		reason = fmt.Errorf("%w: %w", reason, refusal.Detail) // the rule that stopped a retry
	}
	r.tally.reason = reason
	e.emit(r, &retry.Event{
		Kind: retry.RetryRefused, Attempt: t.Attempt(), Err: refusal.Last, Reason: reason, Delay: refusal.Wait,
	})
}

// emitRate reports what an answer did to the send rate.
func (r *record) emitRate(c ratelimit.Change) {
	if c.Limited && c.From != c.To {
		r.engine.emit(r, &retry.Event{
			Kind: retry.SendRateChanged, Attempt: r.verb.token.Attempt(), Rate: float64(c.To), RateBefore: float64(c.From),
		})
	}
}
