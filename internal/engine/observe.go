package engine

import (
	"context"
	"fmt"
	"math"

	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

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
		event.Scope = r.scope.key
	}
	e.config.Observer.Observe(r.ctx, *event)
}

// nest finds out where an operation stands among loops, limits it to what the loop around it
// allows, and tells of attempts that multiply. Their product stops at the largest number of
// attempts that a setting can have.
func (e *Engine) nest(ctx context.Context, r *record) {
	around, _ := retry.AttemptFrom(ctx)
	if around.Once {
		r.op.MaxAttempts = 1
	}
	outer, most := max(int64(around.MaxAttempts), 1), int64(min(e.maxAttempts(&r.op), math.MaxInt32))
	product := min(outer*most, math.MaxInt32)
	r.Nest(token.Nesting{Loops: int32(around.Loops + 1), MaxAttempts: int32(product), Once: around.Once})
	if e.observed() && outer > 1 && product > outer {
		e.tell(r, &retry.Event{Kind: retry.LoopNested, Attempt: 1, MaxAttempts: int(product)})
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

// tellChange tells what an answer did to the send rate.
func (e *Engine) tellChange(t retry.Token, r *record, c ratelimit.Change) {
	if e.observed() && c.Limited && c.From != c.To {
		e.tell(r, &retry.Event{
			Kind: retry.SendRateChanged, Attempt: t.Attempt(), Rate: float64(c.To), RateBefore: float64(c.From),
		})
	}
}

// watches reports whether throttles of an operation count for together. The scope of the strategy
// as a whole and the overflow do not: operations of all services are in them.
func (e *Engine) watches(r *record) bool {
	return e.observed() && r.op.Service != "" && r.scope != e.scopes.whole && r.scope != e.scopes.overflow.Load()
}

// tellTogether tells of a service whose scopes are throttled together, if the throttle of an
// attempt shows it.
func (e *Engine) tellTogether(t retry.Token, r *record) {
	if !e.watches(r) {
		return
	}
	service := retry.ScopeKey{Account: r.op.Account, Service: r.op.Service, Region: r.op.Region}
	if scopes := e.together.throttle(e.reading.Now(), service, r.scope.key); scopes != nil {
		e.tell(r, &retry.Event{
			Kind: retry.ScopesThrottledTogether, Scope: service, Attempt: t.Attempt(), Scopes: scopes,
		})
	}
}

// tellEvicted tells of the scopes that an operation has driven out.
func (e *Engine) tellEvicted(r *record, evicted []*scope) {
	for _, s := range evicted {
		if e.observed() {
			e.tell(r, &retry.Event{Kind: retry.ScopeEvicted, Scope: s.key, Attempt: 1})
		}
	}
}

// tellCreated tells of the scope of an operation if that is the new one.
func (e *Engine) tellCreated(r *record, fresh *scope) {
	if e.observed() && r.scope == fresh {
		e.tell(r, &retry.Event{Kind: retry.ScopeCreated, Attempt: 1})
	}
}

// Snapshot returns the state of all scopes.
func (e *Engine) Snapshot() retry.Snapshot {
	if !e.Made() {
		return retry.Snapshot{}
	}
	all := e.scopes.list()
	snapshot := retry.Snapshot{
		Mode:         "standard",
		SharedAs:     e.config.SharedAs,
		Pool:         e.pool.Available(e.start),
		PoolCapacity: e.pool.Capacity(),
		Scopes:       make([]retry.ScopeSnapshot, len(all.scopes)),
		Overflowed:   e.scopes.overflowed.Load(),
		Evicted:      e.scopes.evicted.Load(),
	}
	if e.send.New != nil {
		snapshot.Mode = "adaptive"
	}
	now := e.config.Clock.Now()
	for i, s := range all.scopes {
		snapshot.Scopes[all.places[i]] = s.snapshot(now)
	}
	return snapshot
}
