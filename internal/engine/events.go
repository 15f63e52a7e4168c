package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// phase is what an operation spends its time on.
type phase uint8

const (
	attempting phase = iota // or no wait
	backingOff
	awaitingQuota
	awaitingSend
	phases
)

// tally has the figures for events. Only an operation with an observer has one, because it needs readings of the clock.
type tally struct {
	id      uint64
	start   time.Time
	phase   phase
	began   time.Duration // when the phase began, since the start
	spent   [phases]time.Duration
	verdict classify.Verdict // on the last failure
	reason  error            // of the last refusal
}

// enter begins a phase at now, and returns how long the one before took. A clock that goes backwards counts as standing
// still.
func (t *tally) enter(p phase, now time.Time) (took time.Duration) {
	since := max(now.Sub(t.start), t.began)
	took = since - t.began
	t.spent[t.phase] += took
	t.phase, t.began = p, since
	return took
}

// enter begins a phase of an operation.
func (r *record) enter(p phase) (took time.Duration) {
	if !r.engine.observed() {
		return 0
	}
	return r.tally.enter(p, r.engine.reading.Now())
}

// emit completes an event, passes it on, and survives a panic of the observer. An event without a
// time is about now. One kind is about a scope other than the operation's.
func (e *Engine) emit(r *record, event retry.Event) {
	defer func() { _ = recover() }()
	if event.Time.IsZero() {
		event.Time = e.config.Clock.Now()
	}
	event.OperationID, event.Operation = r.tally.id, r.op
	switch event.Kind {
	case retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused, retry.OperationEnded:
		event.Quota, event.Pool = r.scope.Quota.Available(), r.scope.Quota.Pooled()
	default: // has no quota
	}
	if event.Kind != retry.ScopeEvicted {
		event.Scope = r.scope.Key
	}
	e.config.Observer.Observe(r.ctx, event)
}

// emitNested reports attempts that multiply, because the operation is in an attempt of another loop.
func (e *Engine) emitNested(r *record) {
	around, _ := retry.AttemptFrom(r.ctx)
	if around.Once {
		r.op.MaxAttempts = 1
	}
	outer, most := max(around.MaxAttempts, 1), maxAttempts(&r.op, r.plan)
	if product := min(int64(outer)*int64(min(most, math.MaxInt32)), math.MaxInt32); outer > 1 && product > int64(outer) {
		e.emit(r, retry.Event{Kind: retry.LoopNested, Attempt: 1, MaxAttempts: int(product)})
	}
}

// emitEnded reports an attempt, which ended now. Without a Wait, it began with the phase.
func (e *Engine) emitEnded(t retry.Token, r *record, found *judgment, result retry.Result) (now time.Time) {
	now = e.config.Clock.Now()
	r.tally.phase, r.tally.verdict, r.tally.reason = attempting, found.verdict, nil
	ended := retry.Event{Kind: retry.AttemptEnded, Time: now, Attempt: t.Attempt(), Err: found.failure, Verdict: found.verdict}
	ended.Elapsed = r.tally.enter(attempting, now)
	if result.Throttled > 0 {
		ended.EntriesThrottled, ended.Entries = result.Throttled, max(result.Throttled, result.Entries)
	}
	e.emit(r, ended)
	return now
}

// emitFailure reports an operation that ended without success after this many attempts.
func (e *Engine) emitFailure(r *record, attempts int, failure error) {
	now := e.config.Clock.Now()
	r.tally.enter(attempting, now)
	ended := r.tally.end(now, attempts)
	ended.Err, ended.Verdict, ended.Reason = r.last, r.tally.verdict, r.reasonOf(failure)
	e.emit(r, ended)
}

// end returns the event for the end of an operation.
func (t *tally) end(now time.Time, attempts int) retry.Event {
	return retry.Event{
		Kind: retry.OperationEnded, Time: now, Attempt: attempts, Elapsed: t.began,
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
	reason := refusal.Reason
	if refusal.Detail != nil && reason == retry.ErrNotRetryable { //nolint:errorlint // the same value
		reason = fmt.Errorf("%w: %w", reason, refusal.Detail) // the rule that stopped a retry
	}
	r.tally.reason = reason
	e.emit(r, retry.Event{
		Kind: retry.RetryRefused, Attempt: t.Attempt(), Err: refusal.Last, Reason: reason, Delay: refusal.Wait,
	})
}

// emitRate reports what an answer did to the send rate.
func (r *record) emitRate(c ratelimit.Change) {
	if c.Limited && c.From != c.To {
		r.engine.emit(r, retry.Event{
			Kind: retry.SendRateChanged, Attempt: r.verb.token.Attempt(), Rate: float64(c.To), RateBefore: float64(c.From),
		})
	}
}
