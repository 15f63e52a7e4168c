package engine

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// record is the state of one operation. It belongs to the caller that has taken the current token. Between two
// operations it is in a pool, and keeps the scope of the last one, which is often that of the next.
type record struct {
	token.Cell
	operation
	token token.Token // the one that was taken last
	was   token.Phase // of the token before
	then  token.Phase // of the token after the call that has taken it; or replaced, or over
	tally tally       // with an observer only
}

// What becomes of a token that is not the present one any more.
const (
	replaced token.Phase = 0 // by the next one
	over     token.Phase = ^replaced
)

// operation is what a failure is judged by and a retry granted. Reserve works on a copy.
type operation struct {
	engine   *Engine
	scope    *limit.Scope
	op       retry.Operation
	plan     *retry.Plan
	limited  bool              // whether attempts take send tokens
	ctx      context.Context   //nolint:containedctx // it belongs to the operation and ends with it
	made     int               // attempts, as far as the present call knows
	wrote    int               // the last attempt that wrote some entries of a batch while others were throttled
	found    judgment          // of the last attempt that was judged
	sent     time.Time         // when the current attempt got its send token
	loans    uint32            // of the quota when the current attempt was granted or sent, see limit.Quota.Lend
	request  ratelimit.Request // of each attempt to the limiter
	granted  grant             // the last retry
	reserved grant             // the retry after the present attempt, if it has a payer
}

// grant is what a retry has.
type grant struct {
	delay    time.Duration // its backoff
	kind     classify.Kind // of the failure before it
	cost     int
	payer    *limit.Quota // the quota or pool that paid; nil if Wait must take the cost, or if it gets nothing back
	lent     bool         // whether it costs a debt
	sendPaid bool         // whether it has its send tokens
	lacked   bool         // whether the last refusal since was for lack of quota
}

// Readings returns the readings of the engine's clock.
func (r *record) Readings() *instant.Readings { return &r.engine.reading }

// Decides reports whether the strategy is the engine.
func (r *record) Decides(strategy any) bool { return strategy == any(r.engine) }

// AcquireInitialToken begins an operation. Its error is nil.
func (e *Engine) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	r, ok := e.records.Get().(*record)
	if !ok {
		r = &record{operation: operation{engine: e, scope: e.scopes.Whole}}
		r.Own(r)
	}
	again := r.plan != nil && e.config.Scope == nil && alike(&r.op, &op) && r.scope.Touch()
	r.op, r.ctx = op, ctx
	if !again {
		r.plan = e.plan(&op)
	}
	most, elapsed := limits(&op, r.plan)
	first := r.First(most)
	if e.config.Observer != nil {
		r.token, r.tally = first, tally{id: e.ids.Add(1), at: e.reading.Now()}
	}
	if !again {
		r.enterScope()
	}
	r.loans = r.scope.Quota.Loans()
	if elapsed > 0 {
		if end := e.config.Clock.Now().Add(elapsed); op.NotAfter.IsZero() || end.Before(op.NotAfter) {
			r.op.NotAfter = end
		}
	}
	if r.limited = r.scope.Limiter != nil && !op.Unpaced; r.limited {
		r.request = e.config.Send
		r.request.NotAfter = r.op.NotAfter
	}
	if e.config.Observer != nil {
		r.emitNested()
	}
	return retry.Token(first), nil
}

// alike reports whether two operations have the same service and the same retry.Operation.Key.
func alike(a, b *retry.Operation) bool {
	return a.Scope == b.Scope && a.Service == b.Service &&
		(a.Scope != "" || a.Resource == b.Resource && a.Region == b.Region && a.Account == b.Account)
}

// enterScope finds the scope of an operation, which may be new.
func (r *record) enterScope() {
	e, key := r.engine, r.op.Key()
	if e.config.Scope != nil {
		key = e.config.Scope(r.op)
	}
	if r.scope = e.scopes.Find(&key); r.scope != nil {
		return
	}
	var created bool
	r.scope, created = e.scopes.Create(key, func(s *limit.Scope) {
		if e.config.Observer != nil {
			r.emit(retry.Event{Kind: retry.ScopeEvicted, Scope: s.Key})
		}
	})
	if created && e.config.Observer != nil {
		r.emit(retry.Event{Kind: retry.ScopeCreated})
		if r.scope.Err != nil {
			r.emit(retry.Event{Kind: retry.SettingIgnored, Err: r.scope.Err})
		}
	}
}

// take begins a call with a token that is in one of these phases.
func (e *Engine) take(t retry.Token, in token.Phase) (*record, error) {
	r, ok := token.Token(t).Owner().(*record)
	if !ok || r.engine != e {
		return nil, retry.ErrForeignToken
	}
	was, ok := token.Token(t).Take(in)
	if !ok {
		return nil, retry.ErrTokenUsed
	}
	r.scope.Touch()
	r.begin(token.Token(t), was)
	return r, nil
}

func (r *record) begin(t token.Token, was token.Phase) {
	r.token, r.was, r.then, r.made = t, was, was, t.Attempt()
}

// end ends a call that has taken a token, in which classifiers, limiters and observers of the user run. If one of them has
// panicked, or ended the goroutine, RecordFailure can still end the operation: the token is as before if the limiter has
// no report of the attempt, else refused. From then on, a finished record may belong to another operation.
func (r *record) end() {
	switch r.then {
	case replaced:
	case over:
		if r.reserved.payer != nil {
			r.refund(&r.reserved)
		}
		r.ctx, r.tally.reason = nil, nil
		if r.token.Attempt() > 1 || r.found.failure != nil {
			r.granted, r.found, r.wrote = grant{}, judgment{}, 0
		}
		r.engine.records.Put(r)
	default:
		r.restore()
	}
}

// restore makes the token of an operation that goes on the present one again. It is a function of its own because its defer
// would cost each operation some nanoseconds.
func (r *record) restore() {
	defer r.token.Set(r.then) // also if the limiter of a user panics
	r.refund(&r.reserved)
	if r.then == token.Refused {
		r.refund(&r.granted) // it is not made
	}
	if r.then == token.Issued {
		r.giveSendTokens(&r.granted) // Wait starts over
	}
}

// RefreshRetryToken reports a failed attempt, and grants or refuses another one.
func (e *Engine) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	r, err := e.take(t, token.Issued|token.Ready)
	if err != nil {
		return retry.Token{}, err
	}
	defer r.end()
	r.judge(ctx, failure)
	r.report(retry.Result{})
	if r.made > 1 && r.scope.Quota.DebtLimit() > 0 && r.found.verdict.Retryable() {
		if batch, _ := wire.As[wire.EntryError](r.found.failure); batch.Entries == 0 { // it has not helped
			r.scope.Quota.Failed()
		}
	}
	delay, refusal := r.decide(ctx)
	if e.config.Observer != nil && (refusal == nil || delay > 0) {
		r.tally.phase = backingOff
	}
	if refusal != nil {
		return retry.Token(r.token.WithDelay(delay)), r.refuse(refusal)
	}
	if e.config.Observer != nil {
		r.emit(retry.Event{Kind: retry.RetryScheduled, Err: r.found.failure, Verdict: r.found.verdict, Delay: delay, Lent: r.granted.lent})
	}
	r.then, r.loans = replaced, r.scope.Quota.Loans()
	return retry.Token(r.token.Next(delay)), nil
}

// RecordSuccess gives tokens back. After a success on the first attempt it gives one to the quota of the
// scope. After a later one it gives the cost of the last retry to the quota that paid. The limiter sees some
// of the successes with throttled entries as throttles, see limit.Batches.
func (e *Engine) RecordSuccess(t retry.Token, result retry.Result) error {
	r, err := e.take(t, token.Issued|token.Ready)
	if err != nil {
		return err
	}
	defer r.end()
	if r.made == 1 {
		r.scope.Quota.Refund(1)
	} else {
		r.refund(&r.granted)
		r.scope.Quota.Helped()
	}
	if r.limited || r.engine.config.Observer != nil {
		r.found = judgment{throttled: r.limited && r.scope.Throttled(max(result.Throttled, 0), result.Entries)}
		r.report(result)
	}
	r.engine.scopes.Ended(r.scope, r.made == 1, false)
	r.then = over // also if the observer of a user ends the goroutine
	if e.config.Observer != nil {
		r.emitOver(nil)
	}
	return nil
}

// RecordFailure ends the operation without success. It gives back only what an attempt took that was not made.
// It reports the attempt to the limiter, unless a refused refresh has done so.
func (e *Engine) RecordFailure(t retry.Token, failure error) error {
	r, err := e.take(t, token.Issued|token.Ready|token.Refused)
	if err != nil {
		return err
	}
	defer r.end()
	r.engine.scopes.Ended(r.scope, false, r.granted.lacked && r.was != token.Ready)
	defer r.fail(failure)                    // also if a classifier or the limiter of a user panics
	canceled := failure == retry.ErrCanceled //nolint:errorlint // the caller's own
	switch {
	case r.was == token.Issued:
		r.made--
	case r.was == token.Ready && canceled:
		r.made--
		r.then, r.granted.sendPaid = token.Issued, r.limited // as before its Wait, which paid
		_ = r.refuse(r.canceled(r.ctx))
	case r.was == token.Ready:
		defer r.report(retry.Result{}) // likewise
		if r.found = (judgment{failure: failure}); r.limited || r.engine.config.Observer != nil {
			r.judge(r.ctx, failure)
		}
	}
	return nil
}

// fail ends the operation without success.
func (r *record) fail(failure error) {
	r.refund(&r.granted)
	r.then = over // also if the observer of a user ends the goroutine
	if r.engine.config.Observer != nil {
		r.enter(attempting)
		r.emitOver(r.reasonOf(failure))
	}
}

// report reports an attempt to the limiter, if it was made and takes send tokens, and to the observer.
func (r *record) report(result retry.Result) {
	if r.found.throttled {
		if batch, ok := wire.As[wire.EntryError](r.found.failure); ok && batch.Throttled > 0 {
			r.wrote, r.granted.delay = r.made, 0
			r.found.left = float64(batch.Throttled) / float64(batch.Entries)
			r.found.throttled = r.limited && r.scope.Throttled(batch.Throttled, batch.Entries)
		}
	}
	if r.found.failure != nil && (r.limited || r.engine.config.Observer != nil) {
		if canceled, ok := wire.As[wire.CanceledError](r.found.failure); ok { // by throttles, whatever the verdict
			result = retry.Result{Throttled: canceled.Throttled, Entries: canceled.Entries}
			r.found.throttled = r.limited && r.scope.Throttled(canceled.Throttled, canceled.Causes)
		}
	}
	r.granted.payer, r.then = nil, token.Refused // the retry was made
	r.giveSendTokens(&r.granted)                 // that its loop did not wait for
	var change ratelimit.Change
	if r.engine.config.Observer != nil {
		defer r.emitEnded(result, &change) // also if the limiter of a user panics
	}
	if r.was == token.Ready && r.limited {
		change = r.scope.Limiter.Report(ratelimit.Response{
			Sent: r.sent, Throttled: r.found.throttled, PartThrottled: r.found.partly, Part: r.request.Part, Cost: r.request.Cost,
		})
		if r.found.partly {
			r.refund(&r.reserved) // which is for another kind of retry
			r.request.Part = true
		}
		if r.found.failure == nil && change.Limited && !r.sent.IsZero() && !r.op.LongPolling { // a long poll says little about others
			r.scope.AttemptTime.Note(r.engine.reading.Now().Sub(r.sent))
		}
	}
}

// refund returns the cost of a retry to the quota that paid, and its send tokens if it is not made. The limiter comes last,
// because that of a user may panic.
func (o *operation) refund(g *grant) {
	if g.payer != nil {
		g.payer.Refund(g.cost)
		g.payer = nil
	}
	o.giveSendTokens(g)
}

func (o *operation) giveSendTokens(g *grant) {
	if g.sendPaid {
		g.sendPaid = false
		o.scope.Limiter.Give(o.request)
	}
}
