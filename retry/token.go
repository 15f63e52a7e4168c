package retry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Token is what one operation carries from attempt to attempt. It is a small
// value; what it says of the attempt and the delay stays true however long it is
// kept, but it is good for one call of its strategy only, see Strategy. The zero
// Token belongs to no strategy.
type Token struct {
	cell       *cell
	generation uint64
	delay      time.Duration
	attempt    int
}

// Attempt reports the number of the attempt that the token is for; the first is
// 1.
func (t Token) Attempt() int { return t.attempt }

// RetryCount reports how many retries that makes: the attempts but the first.
func (t Token) RetryCount() int { return max(t.attempt-1, 0) }

// Delay reports the backoff that Wait sleeps. What adaptive mode adds for the
// send rate is known only when the backoff is over.
func (t Token) Delay() time.Duration { return t.delay }

// WithoutDelay returns the token for a caller that has slept the delay itself:
// its Wait does not sleep it again.
func (t Token) WithoutDelay() Token {
	t.delay = 0
	return t
}

// Wait returns when the attempt may be made: after the backoff and, in adaptive
// mode, with a send token. It is the only place that waits. A wait that could not
// end before the deadline of ctx is refused at once, and so is an attempt, be it the
// first, that would begin after the end of the operation, see Operation.NotAfter. The error is an *Error that
// holds the last error of the operation, or ErrForeignToken or ErrTokenUsed.
//
// After an error the attempt counts as never made; Wait may then be called again
// and starts over. After success another Wait gives ErrTokenUsed.
func (t Token) Wait(ctx context.Context) error {
	if t.cell == nil {
		return ErrForeignToken
	}
	return t.cell.issuer.wait(ctx, t)
}

// cell is the part of an operation's state that makes tokens single-use. It is
// pooled with that state; the generation tells the tokens of all its lives apart.
type cell struct {
	word   atomic.Uint64            // generation and phase
	issuer issuer                   // set once, before the first token
	held   atomic.Pointer[ScopeKey] // see Record.Hold

	// limited is whether the operation has an instant after which nothing begins. It
	// changes before the first token of an operation is issued, so that a reader that
	// finds the generation of a token unchanged afterwards has read it right.
	limited atomic.Bool
}

// issuer is the Tokens that a cell belongs to.
type issuer interface {
	wait(ctx context.Context, t Token) error
	clock() clock.Clock
	readings() *clock.Readings
}

// clock is what the token waits on.
func (t Token) clock() clock.Clock {
	if t.cell == nil {
		return clock.System{}
	}
	return t.cell.issuer.clock()
}

// readings are those of the clock; nil for a token without a strategy of its own.
func (t Token) readings() *clock.Readings {
	if t.cell == nil {
		return nil
	}
	return t.cell.issuer.readings()
}

// phase is what the present generation of a cell may be used for.
type phase uint64

const (
	free    phase = iota // all calls; the operation has not begun to count as under way, or has ended
	issued               // all calls
	waiting              // none: a Wait is under way
	ready                // all but Wait: the attempt may have been made
	refused              // RecordFailure, and Wait for a last sleep
	resting              // none: that sleep is under way
	over                 // none: the token's generation is not the present one

	phaseBits = 3
	phaseMask = 1<<phaseBits - 1
)

func word(generation uint64, p phase) uint64 { return generation<<phaseBits | uint64(p) }

// phase returns the phase of the token's own generation.
func (t Token) phase() phase {
	now := t.cell.word.Load()
	if now>>phaseBits != t.generation {
		return over
	}
	return phase(now & phaseMask)
}

// move changes the phase of the token's own generation.
func (t Token) move(from, to phase) bool {
	return t.cell.word.CompareAndSwap(word(t.generation, from), word(t.generation, to))
}

// begin moves a token that nobody has waited for to the given phase.
func (t Token) begin(to phase) bool {
	now := t.phase()
	return now <= issued && t.move(now, to)
}

func (t Token) set(p phase) { t.cell.word.Store(word(t.generation, p)) }

// take ends the token's generation, if it is in the given phase, and begins the
// next one in another. Nobody holds a token of that yet, so the caller then owns
// the state alone.
func (t Token) take(from, next phase) bool {
	return t.cell.word.CompareAndSwap(word(t.generation, from), word(t.generation+1, next))
}
