package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// tally is what events are told with. Only an operation with an observer has one, because it takes
// readings of the clock.
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

// elapsed returns how long an operation takes at an instant that the clock has given.
func (r *record) elapsed(now time.Time) time.Duration {
	return r.engine.reading.MarkOf(now).Sub(r.tally.start)
}

// tell completes an event and passes it on, and survives a panic of the observer. An event without
// a time is about now. Two kinds are about another scope than that of the operation.
func (e *Engine) tell(r *record, event *retry.Event) {
	defer func() { _ = recover() }()
	if event.Time.IsZero() {
		event.Time = e.config.Clock.Now()
	}
	event.OperationID, event.Operation = r.tally.id, r.op
	switch event.Kind {
	case retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused, retry.OperationEnded:
		event.Quota, event.Pool = e.quotaLeft(r)
	default: // says nothing of the quota
	}
	if event.Kind != retry.ScopesThrottledTogether && event.Kind != retry.ScopeEvicted {
		event.Scope = r.scope.Key
	}
	e.config.Observer.Observe(r.ctx, *event)
}

// tellNested tells of attempts that multiply, because the operation is in an attempt of another loop.
func (e *Engine) tellNested(r *record) {
	around, _ := retry.AttemptFrom(r.ctx)
	if around.Once {
		r.op.MaxAttempts = 1
	}
	outer, most := max(around.MaxAttempts, 1), maxAttempts(&r.op, r.plan)
	if product := min(int64(outer)*int64(min(most, math.MaxInt32)), math.MaxInt32); outer > 1 && product > int64(outer) {
		e.tell(r, &retry.Event{Kind: retry.LoopNested, Attempt: 1, MaxAttempts: int(product)})
	}
}

// tellEnded tells of an attempt that failed.
func (e *Engine) tellEnded(t retry.Token, r *record, verdict classify.Verdict) {
	now := e.config.Clock.Now()
	took := r.tally.attempted(r.elapsed(now))
	r.tally.verdict, r.tally.reason = verdict, nil
	e.tell(r, &retry.Event{
		Kind: retry.AttemptEnded, Time: now, Attempt: t.Attempt(), Err: r.last, Verdict: verdict, Elapsed: took,
	})
}

// tellSuccess tells of an attempt that has succeeded, of what that did to the send rate, and of the
// end of the operation.
func (r *record) tellSuccess(change ratelimit.Change) {
	e, now := r.engine, r.engine.config.Clock.Now()
	took := r.tally.attempted(r.elapsed(now))
	throttled, of := token.Token(r.verb.token).Entries()
	e.tellEnd(r, retry.Event{
		Kind: retry.AttemptEnded, Time: now, Elapsed: took, EntriesThrottled: throttled, Entries: of,
	})
	r.tellRates(change, throttled > 0)
	e.tellEnd(r, r.tally.end(now))
}

// tellEnd is tell for a success. Every operation has two of these events, and an event is large, so
// this function makes it where it is passed on.
func (e *Engine) tellEnd(r *record, event retry.Event) {
	defer func() { _ = recover() }()
	event.OperationID, event.Operation, event.Scope = r.tally.id, r.op, r.scope.Key
	event.Attempt = r.verb.token.Attempt()
	event.Quota, event.Pool = e.quotaLeft(r)
	e.config.Observer.Observe(r.ctx, event)
}

// tellFailure tells of an operation that is over without success after so many attempts.
func (e *Engine) tellFailure(r *record, attempts int, failure error) {
	now := e.config.Clock.Now()
	r.tally.enter(attempting, r.elapsed(now))
	ended := r.tally.end(now)
	ended.Attempt, ended.Err, ended.Verdict, ended.Reason = attempts, r.last, r.tally.verdict, r.reasonOf(failure)
	e.tell(r, &ended)
}

// end is the event that an operation is over.
func (t *tally) end(now time.Time) retry.Event {
	return retry.Event{
		Kind: retry.OperationEnded, Time: now, Elapsed: t.began,
		BackoffWait: t.spent[backingOff], QuotaWait: t.spent[awaitingQuota], SendWait: t.spent[awaitingSend],
	}
}

// reasonOf returns why the operation has ended: the refusal, or what the loop says of the end.
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

// tellRefused tells of an attempt that is not made.
func (e *Engine) tellRefused(t retry.Token, r *record, refusal *retry.Error) {
	if !e.observed() {
		return
	}
	reason := refusal.Reason
	if refusal.Detail != nil && reason == retry.ErrNotRetryable { //nolint:errorlint // the same value
		reason = fmt.Errorf("%w: %w", reason, refusal.Detail) // the rule that stopped a retry
	}
	r.tally.reason = reason
	e.tell(r, &retry.Event{
		Kind: retry.RetryRefused, Attempt: t.Attempt(), Err: refusal.Last, Reason: reason, Delay: refusal.Wait,
	})
}

// tellRates tells what an answer did to the send rate, and of a service whose scopes are throttled
// together, if the throttle of an attempt shows it. The scope of the strategy as a whole and the
// overflow do not count for that: operations of all services are in them.
func (r *record) tellRates(c ratelimit.Change, throttled bool) {
	e := r.engine
	if c.Limited && c.From != c.To {
		e.tell(r, &retry.Event{
			Kind: retry.SendRateChanged, Attempt: r.verb.token.Attempt(), Rate: float64(c.To), RateBefore: float64(c.From),
		})
	}
	if !throttled || r.verb.was != token.Ready || r.op.Service == "" || e.scopes.IsShared(r.scope) {
		return
	}
	service := retry.ScopeKey{Account: r.op.Account, Service: r.op.Service, Region: r.op.Region}
	if scopes := e.together.Throttle(e.reading.Now(), service, r.scope.Key); scopes != nil {
		e.tell(r, &retry.Event{
			Kind: retry.ScopesThrottledTogether, Scope: service, Attempt: r.verb.token.Attempt(), Scopes: scopes,
		})
	}
}
