package retry

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Tokens issues the tokens of one strategy and sees to it that each is used once:
// it is what a Strategy is built on. D is what the strategy keeps of an operation
// besides what Record holds. Set the fields before the first use; Tokens must not
// be copied and is safe for concurrent use.
type Tokens[D any] struct {
	// Clock is what Wait sleeps on; nil means clock.System.
	Clock clock.Clock
	// Send, if not nil, is called by Wait after the backoff and returns when the
	// attempt may be sent, or an error, usually from Record.Refusal.
	Send func(ctx context.Context, t Token, r *Record[D]) error
	// Refused, if not nil, is called when a Wait fails, with its error.
	Refused func(t Token, r *Record[D], e *Error)

	pool   sync.Pool
	roster roster
}

// Record is the state of one operation. Whoever got it from Open or Take owns it
// until it goes back with Next, Refuse, Restore or Close.
type Record[D any] struct {
	// Operation is what Open was called with.
	Operation Operation
	// Scope is the key of Operation until the strategy sets another one.
	Scope ScopeKey
	// Context is the context of the operation, for events.
	Context context.Context //nolint:containedctx // it belongs to the operation and ends with it
	// Last is the error of the last attempt; nil before the first has failed.
	Last error
	// Data is the strategy's own. Open does not clear it.
	Data D

	cell
	sent bool
}

// limit lets no attempt begin after end.
func (r *Record[D]) limit(end time.Time) {
	if r.Operation.NotAfter.IsZero() || end.Before(r.Operation.NotAfter) {
		r.Operation.NotAfter = end
	}
}

// Sent reports whether the Wait of the token that was taken had come to its end,
// so that the attempt may have been made.
func (r *Record[D]) Sent() bool { return r.sent }

// Refusal returns an *Error with the given reason after the given number of
// attempts, filled in with what the record knows.
func (r *Record[D]) Refusal(reason error, attempts int) *Error {
	return &Error{Reason: reason, Scope: r.Scope, Attempts: attempts, Last: r.Last}
}

// Open begins an operation. It copies op and does not keep the pointer.
func (ts *Tokens[D]) Open(ctx context.Context, op *Operation) (Token, *Record[D]) {
	r, ok := ts.pool.Get().(*Record[D])
	if !ok {
		r = &Record[D]{}
		r.issuer = &owned[D]{tokens: ts, record: r, reading: clock.NewReadings(ts.clock())}
		ts.roster.add(&r.cell)
	}
	r.Operation, r.Context = *op, ctx
	if !op.Unscoped() || !r.Scope.IsZero() {
		r.Scope = op.Key()
	}
	if op.MaxElapsed > 0 {
		r.limit(ts.clock().Now().Add(op.MaxElapsed))
	}
	if limited := !r.Operation.NotAfter.IsZero(); r.limited.Load() != limited {
		r.limited.Store(limited)
	}
	return Token{cell: &r.cell, generation: r.word.Load() >> phaseBits, attempt: 1}, r
}

// Take uses the token up and returns its record, or ErrForeignToken or
// ErrTokenUsed.
func (ts *Tokens[D]) Take(t Token) (*Record[D], error) { return ts.take(t, issued) }

// TakeToEnd is Take for RecordSuccess.
func (ts *Tokens[D]) TakeToEnd(t Token) (*Record[D], error) { return ts.take(t, t.lastPhase()) }

// TakeLast is TakeToEnd for RecordFailure: it takes a refused token too, and
// reports that.
func (ts *Tokens[D]) TakeLast(t Token) (r *Record[D], afterRefusal bool, err error) {
	r, err = ts.TakeToEnd(t)
	if err == ErrTokenUsed && t.take(refused, t.lastPhase()) { //nolint:errorlint // returned as it is, from take
		r, err = ts.record(t)
		return r, true, err
	}
	return r, false, err
}

func (ts *Tokens[D]) take(t Token, next phase) (*Record[D], error) {
	r, err := ts.record(t)
	if err != nil {
		return nil, err
	}
	now := t.phase()
	if now > ready || now == waiting || !t.take(now, next) {
		return nil, ErrTokenUsed
	}
	r.sent = now == ready
	return r, nil
}

// Next issues the token for the attempt that follows the one of the used token t,
// to be made after delay.
func (ts *Tokens[D]) Next(t Token, delay time.Duration) Token {
	return Token{cell: t.cell, generation: t.generation + 1, attempt: t.attempt + 1, delay: delay}
}

// Refuse lets the used token t, and the one that is returned, accept one
// RecordFailure more. delay is a last sleep before the operation returns.
func (ts *Tokens[D]) Refuse(t Token, delay time.Duration) Token {
	t.set(refused)
	t.delay = delay
	return t
}

// Restore makes the used token t what it was before Take, for a strategy that
// cannot finish what it began because a classifier panicked.
func (ts *Tokens[D]) Restore(t Token, r *Record[D]) {
	if r.sent {
		t.set(ready)
	} else {
		t.set(issued)
	}
}

// Close ends the operation of a record. The record may be another operation's
// from then on.
func (ts *Tokens[D]) Close(r *Record[D]) {
	if now := r.word.Load(); now&phaseMask != uint64(free) {
		r.word.Store(word(now>>phaseBits, free))
	}
	r.Context, r.Last = nil, nil
	ts.pool.Put(r)
}

func (ts *Tokens[D]) record(t Token) (*Record[D], error) {
	if t.cell != nil {
		if o, ok := t.cell.issuer.(*owned[D]); ok && o.tokens == ts {
			return o.record, nil
		}
	}
	return nil, ErrForeignToken
}

func (ts *Tokens[D]) clock() clock.Clock {
	if ts.Clock == nil {
		return clock.System{}
	}
	return ts.Clock
}

// owned ties a cell to its record without knowing D where a Token is used.
type owned[D any] struct {
	tokens  *Tokens[D]
	record  *Record[D]
	reading clock.Readings
}

func (o *owned[D]) clock() clock.Clock { return o.tokens.clock() }

func (o *owned[D]) readings() *clock.Readings { return &o.reading }

func (o *owned[D]) wait(ctx context.Context, t Token) error {
	switch {
	case t.delay <= 0 && o.tokens.Send == nil && !t.cell.limited.Load() && ctx.Err() == nil && t.begin(ready):
		return nil // there was nothing to wait for
	case t.begin(waiting):
		return o.waitToSend(ctx, t)
	case t.move(refused, resting):
		defer t.set(refused)
		return o.sleep(ctx, t)
	default:
		return ErrTokenUsed
	}
}

func (o *owned[D]) waitToSend(ctx context.Context, t Token) (err error) {
	after := issued
	defer func() { t.set(after) }()
	if err = o.sleep(ctx, t); err == nil {
		err = o.late(t)
	}
	if err == nil && o.tokens.Send != nil {
		if err = o.tokens.Send(ctx, t, o.record); err == nil {
			err = o.late(t) // a limiter of the user need not know of the end
		}
	}
	if err == nil {
		after = ready
		return nil
	}
	if refusal, ok := errors.AsType[*Error](err); ok && o.tokens.Refused != nil {
		o.tokens.Refused(t, o.record, refusal)
	}
	return err
}

// late refuses an attempt that would begin after the end of the operation.
func (o *owned[D]) late(t Token) error {
	end := o.record.Operation.NotAfter
	if end.IsZero() || !o.tokens.clock().Now().After(end) {
		return nil
	}
	return o.record.Refusal(ErrMaxElapsed, t.RetryCount())
}

// sleep is the backoff. A deadline that leaves no room for it is not waited for.
func (o *owned[D]) sleep(ctx context.Context, t Token) error {
	if ctx.Err() != nil {
		return o.record.Refusal(ErrCanceled, t.RetryCount()).Because(ctx)
	}
	if t.delay <= 0 {
		return nil
	}
	clk := o.tokens.clock()
	if reason := CheckWait(ctx, clk, o.record.Operation.NotAfter, t.delay); reason != nil {
		return o.record.Refusal(reason, t.RetryCount()).ForWait(t.delay)
	}
	if err := clk.Sleep(ctx, t.delay); err != nil {
		return o.record.Refusal(ErrCanceled, t.RetryCount()).Because(ctx)
	}
	return nil
}
