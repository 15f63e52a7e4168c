package engine

import (
	"time"

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
	id     uint64
	phase  phase
	at     time.Time // when the phase began
	spent  [phases]time.Duration
	total  time.Duration
	reason error // of the last refusal
}

// enter begins a phase of an operation, and returns how long the one before took. A clock that goes backwards counts as
// standing still.
func (r *record) enter(p phase) (took time.Duration) {
	if r.engine.config.Observer == nil {
		return 0
	}
	t := &r.tally
	now := r.engine.config.Clock.Now()
	took = max(now.Sub(t.at), 0)
	t.spent[t.phase] += took
	t.total += took
	t.phase, t.at = p, now
	return took
}

// emit completes an event, passes it on, and survives a panic of the observer. An event without a
// time is about now. One kind is about a scope other than the operation's.
func (r *record) emit(event retry.Event) {
	defer func() { _ = recover() }()
	if event.Time.IsZero() {
		event.Time = r.engine.config.Clock.Now()
	}
	event.OperationID, event.Operation, event.Attempt = r.tally.id, r.op, r.token.Attempt()
	switch event.Kind {
	case retry.OperationEnded:
		event.Attempt = r.made
		fallthrough
	case retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused:
		event.Quota, event.Pool = r.scope.Quota.Available(), r.scope.Quota.Pooled()
	default: // has no quota
	}
	if event.Kind != retry.ScopeEvicted {
		event.Scope = r.scope.Key
	}
	r.engine.config.Observer.Observe(r.ctx, event)
}

// emitNested reports attempts that multiply, because the operation is in an attempt of another loop.
func (r *record) emitNested() {
	around, _ := retry.AttemptFrom(r.ctx)
	if around.MaxAttempts <= 1 {
		return
	}
	within, _ := retry.AttemptFrom(retry.Token(r.token).Context(r.ctx))
	if within.MaxAttempts > around.MaxAttempts {
		r.emit(retry.Event{Kind: retry.LoopNested, MaxAttempts: within.MaxAttempts})
	}
}

// emitEnded reports an attempt, which ended now, and what its answer did to the send rate. Without a Wait, it began with the
// phase.
func (r *record) emitEnded(result retry.Result, change *ratelimit.Change) {
	r.tally.phase, r.tally.reason = attempting, nil
	ended := retry.Event{Kind: retry.AttemptEnded, Err: r.found.failure, Verdict: r.found.verdict, Elapsed: r.enter(attempting)}
	ended.Time = r.tally.at
	if result.Throttled > 0 {
		ended.EntriesThrottled, ended.Entries = result.Throttled, max(result.Throttled, result.Entries)
	}
	r.emit(ended)
	if change.Limited && change.From != change.To {
		r.emit(retry.Event{Kind: retry.SendRateChanged, Rate: float64(change.To), RateBefore: float64(change.From)})
	}
}

// emitOver reports the end of the operation, and why it is no success.
func (r *record) emitOver(reason error) {
	t := &r.tally
	r.emit(retry.Event{
		Kind: retry.OperationEnded, Time: t.at, Err: r.found.failure, Verdict: r.found.verdict, Reason: reason, Elapsed: t.total,
		BackoffWait: t.spent[backingOff], QuotaWait: t.spent[awaitingQuota], SendWait: t.spent[awaitingSend],
	})
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
