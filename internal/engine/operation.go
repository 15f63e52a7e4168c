package engine

import (
	"context"
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// firstTrySuccess is what a success without a retry adds to the quota.
const firstTrySuccess = 1

// record is the state of one operation. It belongs to the caller that has taken the
// present token, or that waits for it. Between two operations it is in a pool, and
// keeps the scope of the one before, which often is that of the next.
type record struct {
	token.Cell
	engine *Engine
	scope  *scope
	op     retry.Operation
	plan   *retry.Plan
	ctx    context.Context //nolint:containedctx // it belongs to the operation and ends with it
	last   error           // of the last attempt
	sent   time.Time       // when the present attempt got its send token
	timed  bool            // whether the present attempt began then
	paid   int             // what the last granted retry cost
	payer  *quota.Quota    // what has paid that, the quota of the scope or the pool; nil if it gets nothing back
	owed   int             // what of it Wait has still to take from the quota
	delay  time.Duration   // the backoff before that retry

	tally tally // with an observer only
}

// Readings are those of the engine's clock.
func (r *record) Readings() *instant.Readings { return &r.engine.reading }

// AcquireInitialToken begins an operation. It fails only if there is no limiter for
// the scope.
func (e *Engine) AcquireInitialToken(ctx context.Context, op *retry.Operation) (retry.Token, error) {
	if !e.Made() {
		return retry.Token{}, errNotMade
	}
	r, ok := e.records.Get().(*record)
	if !ok {
		r = &record{engine: e, scope: e.scopes.whole}
		r.Own(r)
	}
	again := e.config.Scope == nil && sameScope(&r.op, op) && r.scope.touch()
	r.op, r.ctx, r.plan = *op, ctx, e.plan(op)
	r.last, r.payer, r.owed, r.delay = nil, nil, 0, 0
	if e.observed() {
		r.tally = tally{id: e.ids.Add(1), start: e.reading.Mark()}
	}
	if limit := maxElapsed(op, r.plan); limit > 0 {
		if end := e.config.Clock.Now().Add(limit); op.NotAfter.IsZero() || end.Before(op.NotAfter) {
			r.op.NotAfter = end
		}
	}
	if !again {
		e.enterScope(r)
	}
	if err := r.scope.err; err != nil {
		e.close(r)
		return retry.Token{}, err
	}
	e.nest(r)
	return retry.Token(r.First(r.plain())), nil
}

// nest finds out where an operation stands among loops, limits it to what the loop around it
// allows, and tells of attempts that multiply. Their product stops at the largest number of
// attempts that a setting can have.
func (e *Engine) nest(r *record) {
	around, nested := retry.AttemptFrom(r.ctx)
	if around.Once {
		r.op.MaxAttempts = 1
	}
	outer, most := int64(1), int64(min(maxAttempts(&r.op, r.plan), math.MaxInt32))
	if nested {
		outer = max(int64(around.MaxAttempts), 1)
	}
	product := min(outer*most, math.MaxInt32)
	r.Nest(token.Nesting{Loops: int32(around.Loops + 1), MaxAttempts: int32(product), Once: around.Once})
	if e.observed() && outer > 1 && product > outer {
		e.tell(r, &retry.Event{Kind: retry.LoopNested, Attempt: 1, MaxAttempts: int(product)})
	}
}

// plain reports whether the next attempt of an operation waits for nothing but its
// backoff.
func (r *record) plain() bool { return !r.paced() && r.owed == 0 && r.op.NotAfter.IsZero() }

// paced reports whether the attempts of an operation take send tokens.
func (r *record) paced() bool { return r.scope.limiter != nil && !r.op.Unpaced }

// verb is a call that has taken a token of an operation. Classifiers, limiters and observers of the
// user run in it. If one of them panics, or ends the goroutine, the token gets the phase left, so
// that RecordFailure can end the operation: what it was, until the limiter is told of the attempt,
// and refused from then on.
type verb struct {
	*record
	token retry.Token
	was   token.Phase // of the token before
	left  token.Phase
	done  bool
}

// take uses a token up.
func (e *Engine) take(t retry.Token, toEnd bool) (verb, error) {
	if !e.Made() {
		return verb{}, errNotMade
	}
	r, ok := token.Token(t).Owner().(*record)
	if !ok || r.engine != e {
		return verb{}, retry.ErrForeignToken
	}
	was, ok := token.Token(t).Take(toEnd)
	if !ok {
		return verb{}, retry.ErrTokenUsed
	}
	r.scope.touch()
	return verb{record: r, token: t, was: was, left: was}, nil
}

// end is the guard of a verb.
func (v *verb) end() {
	if v.done {
		return
	}
	if v.left == token.Refused {
		v.refund() // a retry that was granted is not made
	}
	token.Token(v.token).Set(v.left)
}

// RefreshRetryToken reports that the attempt failed and grants another one or refuses it.
func (e *Engine) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	v, err := e.take(t, false)
	if err != nil {
		return retry.Token{}, err
	}
	defer v.end()
	found := e.opinionOn(ctx, v.record, t.Attempt(), failure)
	v.payer, v.owed = nil, 0
	change := v.report(found.throttled)
	delay, refusal := e.decide(ctx, t, v.record, &found)
	if e.observed() {
		v.tellRates(change, found.throttled)
	}
	if refusal != nil {
		return retry.Token(token.Token(t).WithDelay(delay)), refusal
	}
	v.done = true
	return retry.Token(token.Token(t).Next(delay, v.plain() && !e.observed())), nil
}

// RecordSuccess gives tokens back. After a success on the first attempt it gives one to the quota of
// the scope. After a later one it gives the cost of the last retry to the quota that paid.
func (e *Engine) RecordSuccess(t retry.Token) error {
	v, err := e.take(t, false)
	if err != nil {
		return err
	}
	defer v.end()
	if t.Attempt() == 1 {
		v.scope.quota.Refund(e.quotaTime(v.record), firstTrySuccess)
	} else {
		v.refund()
	}
	change := v.report(false)
	if change.Limited && v.timed && !v.op.LongPolling { // a long poll says little of other attempts
		v.scope.room.note(e.reading.Now().Sub(v.sent))
	}
	if e.observed() {
		v.tellSuccess(change)
	}
	v.done = true
	e.close(v.record)
	return nil
}

// RecordFailure ends the operation without success. It gives nothing back, but for a
// retry that was granted and not made. The limiter hears of the attempt unless a
// refused refresh has told it.
func (e *Engine) RecordFailure(t retry.Token, failure error) error {
	v, err := e.take(t, true)
	if err != nil {
		return err
	}
	defer v.end()
	attempts := t.Attempt()
	switch {
	case v.was == token.Ready && failure == retry.ErrCanceled: //nolint:errorlint // that of the caller itself
		attempts--
		e.tellRefused(t, v.record, v.refusal(failure, attempts).Because(v.ctx))
		v.refund()
	case v.was == token.Ready:
		v.judgeLast(failure)
	case v.was == token.Issued:
		attempts--
		v.refund()
	default: // a refused refresh has said everything
	}
	if e.observed() {
		e.tellFailure(v.record, attempts, failure)
	}
	v.done = true
	e.close(v.record)
	return nil
}

// judgeLast reports an attempt that is not made again. It is judged if it matters whether it was
// throttled.
func (v *verb) judgeLast(failure error) {
	e := v.engine
	found := opinion{failure: failure}
	if e.heeds(v.record) {
		found = e.opinionOn(v.ctx, v.record, v.token.Attempt(), failure)
	}
	v.last, v.payer = found.failure, nil // the retry was made
	change := v.report(found.throttled)
	if e.observed() {
		e.tellEnded(v.token, v.record, found.verdict)
		v.tellRates(change, found.throttled)
	}
}

// report tells the limiter of an attempt, if it was made and takes send tokens.
func (v *verb) report(throttled bool) (change ratelimit.Change) {
	v.left = token.Refused
	if v.was == token.Ready && v.paced() {
		change = v.scope.limiter.Report(ratelimit.Response{
			Sent: v.sent, Throttled: throttled, Cost: v.engine.config.Send.Cost,
		})
	}
	return change
}

// refund returns what the last granted retry took to the quota that paid.
func (r *record) refund() {
	if r.payer != nil {
		r.payer.Refund(r.engine.quotaTime(r), r.paid-r.owed)
		r.payer = nil
	}
}

// close ends an operation. The record may be another one's from then on.
func (e *Engine) close(r *record) {
	r.ctx, r.last, r.tally.reason = nil, nil, nil
	e.records.Put(r)
}
