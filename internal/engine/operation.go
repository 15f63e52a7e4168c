package engine

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/entry"
	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// firstTrySuccess is what a success without a retry adds to the quota.
const firstTrySuccess = 1

// record is the state of one operation. It belongs to the caller that has taken the current token, or waits for it. Between
// two operations it is in a pool, and keeps the scope of the last one, which is often that of the next.
type record struct {
	token.Cell
	engine   *Engine
	scope    *scope.Scope
	op       retry.Operation
	plan     *retry.Plan
	ctx      context.Context //nolint:containedctx // it belongs to the operation and ends with it
	last     error           // of the last attempt
	sent     time.Time       // when the current attempt got its send token
	partly   bool            // whether a part of the scope was throttled
	lacked   bool            // whether the last refusal was for lack of quota
	granted  grant           // the last retry
	reserved grant           // the retry after the present attempt, if it has a payer

	verb  verb  // has taken the current token
	tally tally // with an observer only
}

// grant is what a retry has.
type grant struct {
	delay    time.Duration // its backoff
	kind     classify.Kind // of the failure before it
	cost     int
	payer    *quota.Quota // the quota or pool that paid; nil if Wait must take the cost, or if it gets nothing back
	sendPaid bool         // whether it has its send tokens
}

// Readings returns the readings of the engine's clock.
func (r *record) Readings() *instant.Readings { return &r.engine.reading }

// AcquireInitialToken begins an operation. Its error is nil.
func (e *Engine) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	r, ok := e.records.Get().(*record)
	if !ok {
		r = &record{engine: e, scope: e.scopes.Whole}
		r.Own(r)
	}
	again := r.plan != nil && e.config.Scope == nil && alike(&r.op, &op) && r.scope.Touch()
	r.op, r.ctx = op, ctx
	r.last, r.partly, r.lacked = nil, false, false
	if e.observed() {
		r.tally = tally{id: e.ids.Add(1), start: e.reading.Now()}
	}
	if !again {
		r.plan = e.plan(&op)
		e.enterScope(r)
	}
	if limit := maxElapsed(&op, r.plan); limit > 0 {
		if end := e.config.Clock.Now().Add(limit); op.NotAfter.IsZero() || end.Before(op.NotAfter) {
			r.op.NotAfter = end
		}
	}
	r.Allow(maxAttempts(&r.op, r.plan))
	if e.observed() {
		e.emitNested(r)
	}
	return retry.Token(r.First()), nil
}

// alike reports whether two operations have the same service and the same retry.Operation.Key.
func alike(a, b *retry.Operation) bool {
	return a.Scope == b.Scope && a.Service == b.Service &&
		(a.Scope != "" || a.Resource == b.Resource && a.Region == b.Region && a.Account == b.Account)
}

// enterScope finds the scope of an operation, which may be new.
func (e *Engine) enterScope(r *record) {
	key := r.op.Key()
	if e.config.Scope != nil {
		key = e.config.Scope(r.op)
	}
	if r.scope = e.scopes.Find(&key); r.scope != nil {
		return
	}
	var created bool
	r.scope, created = e.scopes.Create(key, func(s *scope.Scope) {
		if e.observed() {
			e.emit(r, retry.Event{Kind: retry.ScopeEvicted, Scope: s.Key, Attempt: 1})
		}
	})
	if created && e.observed() {
		e.emit(r, retry.Event{Kind: retry.ScopeCreated, Attempt: 1})
		if r.scope.Err != nil {
			e.emit(r, retry.Event{Kind: retry.SettingIgnored, Attempt: 1, Err: r.scope.Err})
		}
	}
}

// limited reports whether the attempts of an operation take send tokens.
func (r *record) limited() bool { return r.scope.Limiter != nil && !r.op.Unpaced }

// verb is a call in progress that has taken a token.
type verb struct {
	token retry.Token
	was   token.Phase // of the token before
	after after
}

// after is what becomes of the token of a verb.
type after uint8

const (
	asBefore after = iota
	refused        // good for the end of the operation only
	replaced       // by the next token
	over           // as the operation
)

// take begins a verb with a token.
func (e *Engine) take(t retry.Token, toEnd bool) (*record, error) {
	r, ok := token.Token(t).Owner().(*record)
	if !ok || r.engine != e {
		return nil, retry.ErrForeignToken
	}
	was, ok := token.Token(t).Take(toEnd)
	if !ok {
		return nil, retry.ErrTokenUsed
	}
	r.scope.Touch()
	r.verb = verb{token: t, was: was}
	return r, nil
}

// end ends a verb, in which classifiers, limiters and observers of the user run. If one of them has panicked, or ended the
// goroutine, RecordFailure can still end the operation: the token is as before if the limiter has no report of the attempt,
// else refused. From then on, a finished record may belong to another operation.
func (r *record) end() {
	if r.reserved.payer != nil {
		r.refund(&r.reserved)
	}
	switch r.verb.after {
	case asBefore:
		token.Token(r.verb.token).Set(r.verb.was)
	case refused:
		r.refund(&r.granted) // it is not made
		r.granted = grant{}
		token.Token(r.verb.token).Set(token.Refused)
	case replaced:
	case over:
		r.ctx, r.last, r.tally.reason = nil, nil, nil
		if r.verb.token.Attempt() > 1 {
			r.granted = grant{}
		}
		r.engine.records.Put(r)
	}
}

// RefreshRetryToken reports a failed attempt, and grants or refuses another one.
func (e *Engine) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	r, err := e.take(t, false)
	if err != nil {
		return retry.Token{}, err
	}
	defer r.end()
	found := e.judgmentOn(ctx, r, t.Attempt(), failure)
	if found.throttled && r.limited() {
		if batch, ok := errtree.As[entry.Error](failure); ok && batch.Throttled > 0 {
			found.throttled = r.scope.Throttled(batch.Throttled, batch.Entries)
		}
	}
	r.granted.payer = nil // it was made
	r.refund(&r.granted)  // the send tokens of an attempt that its loop did not wait for
	change := r.report(found.throttled, found.partly)
	delay, refusal := e.decide(ctx, t, r, &found)
	if e.observed() {
		r.emitRate(change)
	}
	if refusal != nil {
		return retry.Token(token.Token(t).WithDelay(delay)), refusal
	}
	r.verb.after = replaced
	return retry.Token(token.Token(t).Next(delay)), nil
}

// RecordSuccess gives tokens back. After a success on the first attempt it gives one to the quota of the
// scope. After a later one it gives the cost of the last retry to the quota that paid. The limiter sees some
// of the successes with throttled entries as throttles, see scope.Batches.
func (e *Engine) RecordSuccess(t retry.Token, result retry.Result) error {
	r, err := e.take(t, false)
	if err != nil {
		return err
	}
	defer r.end()
	if t.Attempt() == 1 {
		r.scope.Quota.Refund(firstTrySuccess)
	} else {
		r.refund(&r.granted)
	}
	r.scope.Ended(false)
	change := r.report(r.limited() && r.scope.Throttled(max(result.Throttled, 0), result.Entries), false)
	if change.Limited && !r.sent.IsZero() && !r.op.LongPolling { // a long poll says little about other attempts
		r.scope.AttemptTime.Note(e.reading.Now().Sub(r.sent))
	}
	if e.observed() {
		now := e.emitEnded(t, r, &judgment{}, result)
		r.emitRate(change)
		e.emit(r, r.tally.end(now, t.Attempt()))
	}
	r.verb.after = over
	return nil
}

// RecordFailure ends the operation without success. It gives back only what an attempt took that was not made.
// It reports the attempt to the limiter, unless a refused refresh has done so.
func (e *Engine) RecordFailure(t retry.Token, failure error) error {
	r, err := e.take(t, true)
	if err != nil {
		return err
	}
	defer r.end()
	r.scope.Ended(r.lacked && r.verb.was != token.Ready)
	attempts := t.Attempt()
	switch {
	case r.verb.was == token.Ready && failure == retry.ErrCanceled: //nolint:errorlint // the caller's own
		attempts--
		e.refuse(t, r, r.refusal(failure, attempts).Because(r.ctx))
		r.granted.sendPaid = r.limited() // by Wait
		r.refund(&r.granted)
	case r.verb.was == token.Ready:
		r.judgeLast(failure)
	case r.verb.was == token.Issued:
		attempts--
		r.refund(&r.granted)
	default: // a refused refresh has reported everything
	}
	if e.observed() {
		e.emitFailure(r, attempts, failure)
	}
	r.verb.after = over
	return nil
}

// judgeLast reports an attempt that is not retried. It judges the failure if anyone wants to know.
func (r *record) judgeLast(failure error) {
	e := r.engine
	found := judgment{failure: failure}
	if r.limited() || e.observed() {
		found = e.judgmentOn(r.ctx, r, r.verb.token.Attempt(), failure)
	}
	r.last, r.granted.payer = found.failure, nil // the retry was made
	change := r.report(found.throttled, found.partly)
	if e.observed() {
		e.emitEnded(r.verb.token, r, &found, retry.Result{})
		r.emitRate(change)
	}
}

// report reports an attempt to the limiter, if it was made and takes send tokens.
func (r *record) report(throttled, partly bool) (change ratelimit.Change) {
	r.verb.after = refused
	if r.verb.was != token.Ready || !r.limited() {
		return change
	}
	change = r.scope.Limiter.Report(ratelimit.Response{
		Sent: r.sent, Throttled: throttled, PartThrottled: partly, Part: r.partly, Cost: r.engine.config.Send.Cost,
	})
	if partly && !r.partly {
		r.refund(&r.reserved) // which is for another kind of retry
		r.partly = true
	}
	return change
}

// refund returns the cost of a retry to the quota that paid, and its send tokens if it is not made. The limiter comes last,
// because that of a user may panic.
func (r *record) refund(g *grant) {
	if g.payer != nil {
		g.payer.Refund(g.cost)
		g.payer = nil
	}
	if g.sendPaid {
		g.sendPaid = false
		r.scope.Limiter.Give(r.request())
	}
}
