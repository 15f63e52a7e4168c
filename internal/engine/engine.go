// Package engine is the one loop behind the retry modes. Standard mode is an Engine
// without a limiter: a limit on attempts, a retry quota and a backoff. Adaptive mode is
// an Engine with one: each attempt takes a send token besides.
package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Config describes an Engine. All of it is set, but for what may be nil or zero.
type Config struct {
	Clock      clock.Clock
	Observer   retry.Observer // or nil
	Classifier classify.Classifier
	Service    string // of operations that do not name theirs, or empty
	SharedAs   string // or empty

	// Defaults are the numbers of a service.
	Defaults    func(service string) Defaults
	MaxAttempts int           // zero: that of the service
	Base        time.Duration // zero: that of the service

	RetryCost, TimeoutCost, ThrottlingCost int
	ThrottlingBase, MaxBackoff, MaxHint    time.Duration
	MinDelay                               time.Duration // or zero
	Jitter                                 backoff.Jitter
	Random                                 func() float64
	// HintInWindow keeps the hint of a server within a window above the backoff. Otherwise
	// the hint, up to MaxHint, is a floor for the delay. LongPollingSleeps lets long polling that the
	// quota refuses sleep its backoff first, BackoffWhenEmpty any operation.
	HintInWindow, LongPollingSleeps, BackoffWhenEmpty bool

	Quota        quota.Config
	MaxQuotaWait time.Duration // zero: a retry without quota is refused at once
	MaxElapsed   time.Duration // of each operation; zero: no limit

	// Scope returns the key of an operation; nil means retry.Operation.Key.
	Scope     func(op retry.Operation) retry.ScopeKey
	MaxScopes int           // zero: defaultMaxScopes
	ScopeIdle time.Duration // zero: defaultScopeIdle
}

// Defaults are numbers that depend on the service.
type Defaults struct {
	MaxAttempts int
	Base        time.Duration
}

// Limiter holds attempts back and learns from their answers; see adaptive.Limiter.
type Limiter interface {
	Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error)
	Report(r ratelimit.Response) ratelimit.Change
	Expected(cost float64) time.Duration
	State() (state ratelimit.SendRateState, waiting int)
}

// Send is what makes an Engine one with a limiter.
type Send struct {
	// New makes the limiter of a scope; start is when the engine was built. An error is
	// that of each operation of the scope.
	New func(key retry.ScopeKey, start time.Time) (Limiter, error)
	// Request is that of each attempt.
	Request ratelimit.Request
}

// Engine is a retry strategy. It is safe for concurrent use. The verbs of the zero
// Engine, and of a nil one, return retry.ErrNoStrategy.
type Engine struct {
	config  Config
	reading instant.Readings
	start   time.Time
	send    Send // without New in standard mode
	records sync.Pool
	scopes  scopes
	pool    *quota.Quota // of all scopes but that of the zero key

	// Of no use without an observer.
	ids      atomic.Uint64 // of operations
	together together
}

// New returns an engine without a limiter.
func New(config Config) *Engine {
	e := &Engine{config: config, reading: instant.NewReadings(config.Clock), start: config.Clock.Now()}
	e.pool = quota.New(quota.PoolOf(config.Quota.Capacity, config.RetryCost), e.start, config.Clock)
	e.scopes.whole = e.newScope(retry.ScopeKey{})
	e.scopes.begin(config.MaxScopes, config.ScopeIdle, e.start)
	e.ids.Store(rand.Uint64()) //nolint:gosec // not a secret
	return e
}

// Limit gives an engine that is not in use yet its limiters. It fails if the scope of
// the engine as a whole cannot have one.
func (e *Engine) Limit(send Send) error {
	e.send = send
	e.scopes.whole = e.newScope(retry.ScopeKey{})
	return e.scopes.whole.err
}

// Made reports whether a constructor has made the engine.
func (e *Engine) Made() bool { return e != nil && e.scopes.whole != nil }

// Plan returns the numbers of an operation; the zero Plan for an engine that was not made.
func (e *Engine) Plan(op *retry.Operation) retry.Plan {
	if !e.Made() {
		return retry.Plan{}
	}
	return retry.Plan{
		MaxAttempts:    e.maxAttempts(op),
		QuotaCapacity:  e.config.Quota.Capacity,
		RetryCost:      e.config.RetryCost,
		TimeoutCost:    e.config.TimeoutCost,
		ThrottlingCost: e.config.ThrottlingCost,
		Base:           e.base(op),
		ThrottlingBase: e.config.ThrottlingBase,
		MaxBackoff:     e.config.MaxBackoff,
		MinDelay:       e.config.MinDelay,
		MaxElapsed:     e.maxElapsed(op),
	}
}

// Judge returns what the classifiers say of a failure; no opinion for an engine that was not made.
func (e *Engine) Judge(op *retry.Operation, failure error) classify.Verdict {
	if !e.Made() {
		return classify.Verdict{}
	}
	return e.judge(op, 0, failure, nil)
}

// Clock returns the clock that the engine waits on; nil for one that was not made.
func (e *Engine) Clock() clock.Clock {
	if !e.Made() {
		return nil
	}
	return e.config.Clock
}

// maxAttempts returns how many attempts an operation may have.
func (e *Engine) maxAttempts(op *retry.Operation) int {
	switch {
	case op.MaxAttempts != 0:
		return max(op.MaxAttempts, 1)
	case e.config.MaxAttempts > 0:
		return e.config.MaxAttempts
	}
	return e.config.Defaults(e.service(op)).MaxAttempts
}

// maxElapsed returns the time within which attempts of an operation may begin; 0 if there is
// no such limit.
func (e *Engine) maxElapsed(op *retry.Operation) time.Duration {
	limit := e.config.MaxElapsed
	if op.MaxElapsed > 0 && (limit == 0 || op.MaxElapsed < limit) {
		limit = op.MaxElapsed
	}
	return limit
}

// base returns the delay before the first retry of an operation after anything but a
// throttle.
func (e *Engine) base(op *retry.Operation) time.Duration {
	if e.config.Base > 0 {
		return e.config.Base
	}
	return e.config.Defaults(e.service(op)).Base
}

func (e *Engine) service(op *retry.Operation) string {
	if op.Service != "" {
		return op.Service
	}
	return e.config.Service
}

var errNotMade = fmt.Errorf(
	"%w: a strategy that no constructor has made: use what standard.New or adaptive.New returns", retry.ErrNoStrategy)

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
	ctx    context.Context //nolint:containedctx // it belongs to the operation and ends with it
	last   error           // of the last attempt
	sent   time.Time       // when the present attempt got its send token
	timed  bool            // whether the present attempt began then
	paid   int             // what the last granted retry cost
	payer  *quota.Quota    // what has paid that, the quota of the scope or the pool; nil without a retry
	owed   int             // what of it Wait has still to take from the quota
	delay  time.Duration   // the backoff before that retry

	tally tally
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
	r.op, r.ctx = *op, ctx
	r.last, r.delay = nil, 0
	r.paid, r.payer, r.owed = 0, nil, 0
	e.open(r)
	if limit := e.maxElapsed(op); limit > 0 {
		if end := e.config.Clock.Now().Add(limit); op.NotAfter.IsZero() || end.Before(op.NotAfter) {
			r.op.NotAfter = end
		}
	}
	if !again {
		e.enter(r)
	}
	if err := r.scope.err; err != nil {
		e.close(r)
		return retry.Token{}, err
	}
	e.nest(ctx, r)
	return retry.Token(r.First(e.plain(r))), nil
}

// plain reports whether the next attempt of an operation waits for nothing but its
// backoff.
func (e *Engine) plain(r *record) bool {
	return !r.paced() && r.owed == 0 && r.op.NotAfter.IsZero()
}

// paced reports whether the attempts of an operation take send tokens.
func (r *record) paced() bool { return r.scope.limiter != nil && !r.op.Unpaced }

// take uses a token up and returns its record and the phase that it was in.
func (e *Engine) take(t retry.Token, toEnd bool) (*record, token.Phase, error) {
	if !e.Made() {
		return nil, 0, errNotMade
	}
	r, ok := token.Token(t).Owner().(*record)
	if !ok || r.engine != e {
		return nil, 0, retry.ErrForeignToken
	}
	was, ok := token.Token(t).Take(toEnd)
	if !ok {
		return nil, was, retry.ErrTokenUsed
	}
	return r, was, nil
}

// giveBack returns what the last granted retry took to the quota that paid.
func (e *Engine) giveBack(r *record) {
	if r.payer != nil {
		r.payer.Refund(e.quotaTime(r), r.paid-r.owed)
	}
}

// close ends an operation. The record may be another one's from then on.
func (e *Engine) close(r *record) {
	r.ctx, r.last = nil, nil
	r.tally.reason = nil
	e.records.Put(r)
}

// RefreshRetryToken reports that the attempt failed and grants another one or refuses
// it. If a function of the user panics, the token accepts RecordFailure: as after a
// refusal if the limiter has heard of the attempt, and otherwise as if it were new.
func (e *Engine) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	r, was, err := e.take(t, false)
	if err != nil {
		return retry.Token{}, err
	}
	r.scope.touch()
	used, granted, otherwise := token.Token(t), false, was
	defer func() {
		if granted {
			return
		}
		if otherwise == token.Refused {
			e.giveBack(r) // an observer has ended the goroutine
		}
		used.Set(otherwise)
	}()
	found := e.opinionOn(ctx, r, t.Attempt(), failure)
	otherwise, r.paid, r.payer, r.owed = token.Refused, 0, nil, 0
	change := e.report(t, r, was, found.throttled)
	delay, refusal := e.decide(ctx, t, r, &found)
	r.tally.rests = refusal != nil && delay > 0
	e.tellChange(t, r, change)
	if found.throttled && was == token.Ready {
		e.tellTogether(t, r)
	}
	if refusal != nil {
		return retry.Token(used.WithDelay(delay)), refusal
	}
	granted = true
	return retry.Token(used.Next(delay, e.plain(r) && !e.observed())), nil
}

// RecordSuccess gives tokens back. After a success on the first attempt it gives one to the quota of
// the scope. After a later one it gives the cost of the last retry to the quota that paid.
func (e *Engine) RecordSuccess(t retry.Token) error {
	r, was, err := e.take(t, false)
	if err != nil {
		return err
	}
	r.scope.touch()
	if t.Attempt() == 1 {
		r.scope.quota.Refund(e.quotaTime(r), firstTrySuccess)
	} else {
		e.giveBack(r)
	}
	change := e.report(t, r, was, false)
	if change.Limited && r.timed && !r.op.LongPolling { // a long poll says little of other attempts
		r.scope.room.note(e.reading.Now().Sub(r.sent))
	}
	e.tellSuccess(t, r, change)
	e.close(r)
	return nil
}

// RecordFailure ends the operation without success. It gives nothing back, but for a
// retry that was granted and not made. The limiter hears of the attempt unless a
// refused refresh has told it.
func (e *Engine) RecordFailure(t retry.Token, failure error) error {
	r, was, err := e.take(t, true)
	if err != nil {
		return err
	}
	r.scope.touch()
	attempts := t.Attempt()
	switch {
	case was == token.Ready && failure == retry.ErrCanceled: //nolint:errorlint // that of the caller itself
		attempts--
		e.tellRefused(t, r, r.refusal(failure, attempts).Because(r.ctx))
		e.giveBack(r)
	case was == token.Ready:
		e.ended(t, r, failure)
	case was == token.Issued:
		attempts--
		r.tally.rests = attempts > 0
		e.giveBack(r)
	default: // a refused refresh has said everything
	}
	e.tellFailure(r, attempts, failure)
	e.close(r)
	return nil
}

// ended reports an attempt that is not made again. If the classifier panics, the token
// is what it was.
func (e *Engine) ended(t retry.Token, r *record, failure error) {
	found := opinion{failure: failure}
	if e.heeds(r) {
		judged := false
		defer func() {
			if !judged {
				token.Token(t).Set(token.Ready)
			}
		}()
		found = e.opinionOn(r.ctx, r, t.Attempt(), failure)
		judged = true
	}
	r.last = found.failure
	change := e.report(t, r, token.Ready, found.throttled)
	e.tellEnded(t, r, found.verdict)
	e.tellChange(t, r, change)
	if found.throttled {
		e.tellTogether(t, r)
	}
}

// heeds reports whether it matters if an attempt of an operation was throttled: for the send
// rate, or for an event.
func (e *Engine) heeds(r *record) bool { return r.paced() || e.observed() }

// report tells the limiter of an attempt, if it was made. If the limiter panics, the token accepts
// RecordFailure, as after a refusal.
func (e *Engine) report(t retry.Token, r *record, was token.Phase, throttled bool) ratelimit.Change {
	if !r.paced() || was != token.Ready {
		return ratelimit.Change{}
	}
	reported := false
	defer func() {
		if !reported {
			token.Token(t).Set(token.Refused)
		}
	}()
	change := r.scope.limiter.Report(ratelimit.Response{
		Sent: r.sent, Throttled: throttled, Cost: e.send.Request.Cost,
	})
	reported = true
	return change
}

// opinion is what the engine makes of a failure.
type opinion struct {
	failure   error // without a mark that has a reason and is the outermost error
	verdict   classify.Verdict
	throttled bool  // for the limiter of the scope and for together
	rule      error // why there is no retry even if the verdict asks for one; or nil
	gone      error // how the context of the operation has ended; or nil
}

// opinionOn judges a failure. A mark that asks for no retry does not say what happened. So the
// error below the mark is judged where throttles matter, and where the mark forbids a retry with a
// reason, for whether there is a retry that the reason stops.
func (e *Engine) opinionOn(ctx context.Context, r *record, attempt int, failure error) opinion {
	gone := e.gone(ctx)
	verdict := e.judge(&r.op, attempt, failure, gone)
	found := opinion{failure: failure, verdict: verdict, throttled: verdict.Kind() == classify.Throttling, gone: gone}
	if verdict.Retryable() {
		return found
	}
	mark := markOf(failure)
	if mark == nil || mark.Err == nil {
		return found
	}
	ruled := mark.Reason != nil && verdict.Forbids()
	if !ruled && !e.heeds(r) {
		return found
	}
	below := e.judge(&r.op, attempt, mark.Err, gone)
	found.throttled = below.Kind() == classify.Throttling
	if !ruled {
		return found
	}
	if failure == error(mark) { //nolint:errorlint // what is around a mark below it stays
		found.failure = mark.Err
	}
	found.verdict, found.rule = below, mark.Reason
	return found
}

// markOf returns the mark of a failure, which is where Unwrap() error leads to it; nil if
// there is none.
func markOf(failure error) *classify.JudgedError {
	for left := errtree.Max; failure != nil && left > 0; left-- {
		if mark, ok := failure.(*classify.JudgedError); ok && mark != nil { //nolint:errorlint // one error of the walk
			return mark
		}
		failure = errtree.Unwrap(failure)
	}
	return nil
}

// gone returns how the context of an operation has ended; nil if it has not. The deadline counts
// as soon as the time has come: the timers of contexts with one deadline fire one after the other,
// and an attempt may have seen the end on another one.
func (e *Engine) gone(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !e.config.Clock.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// judge returns what the classifiers say of a failure, or the verdict that it carries. gone is how
// the context of the operation has ended, or nil.
func (e *Engine) judge(op *retry.Operation, attempt int, failure, gone error) classify.Verdict {
	if failure == retry.ErrAborted { //nolint:errorlint // the loop's own, never wrapped
		return classify.Forbidden()
	}
	outcome := classify.Outcome{
		Err: failure, Service: e.service(op), Operation: op.Name, Attempt: attempt, CallerGone: gone != nil,
	}
	return outcome.Judge(e.config.Classifier, op.Classifier)
}
