// Package token makes the tokens of an operation good for one use each.
package token

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
)

// Owner is the state of an operation. Each of its tokens leads to it.
type Owner interface {
	// Wait returns when the attempt of the token may be made.
	Wait(ctx context.Context, t Token) error
	// Readings are those of the clock that Wait waits on.
	Readings() *instant.Readings
	// Decides reports whether the strategy is the one that decides about retries, and not one around it.
	Decides(strategy any) bool
	// Reserve takes what the retry after the attempt needs, if a retry would be granted now after this
	// failure and its deadline would leave the next attempt that much time. Then it calls end, and the retry is
	// granted if end reports that it has ended the attempt. Reserve reports the same. It may be called from any
	// goroutine. A caller that takes the token waits for end, which must be short.
	Reserve(r Ref, failure error, needed time.Duration, end func() bool) (ended bool)
}

// Token is what an operation carries from attempt to attempt. The zero Token belongs to no
// operation. It is small, so that the compiler keeps it in registers.
type Token struct {
	ref   Ref
	delay time.Duration
}

// Ref is a token without its delay: what the context of an attempt keeps.
type Ref struct {
	cell       *Cell
	generation uint32 // an old token would have to wait for 2^32 others of its cell before it looks like a new one
	Number     int32  // of the attempt
}

// AttemptKey is the key of contexts for what [Attempted] is.
type AttemptKey struct{}

// Attempted is the context of one attempt, or knows the one that it belongs to.
type Attempted interface {
	// Attempt returns the token of the attempt and the context around it. A negative number stands for operations that
	// have one attempt. It may be called from any goroutine.
	Attempt() (Ref, context.Context)
}

// Cell says which token of an operation is the present one, and what that token may be used for. It serves many operations,
// one after the other: the generation tells all their tokens apart.
type Cell struct {
	word  atomic.Uint64 // generation and phase
	most  atomic.Int32  // attempts of the present operation
	owner Owner         // set once, before the first token
}

// Phase is what the present token may be used for.
type Phase uint64

// The phases. While the token is taken, none is present.
const (
	Issued  Phase = 1 << iota // everything
	Ready                     // everything but Wait: the attempt may have been made
	Refused                   // the end of the operation, and a last wait
	locked                    // as Ready, during WhileReady

	phaseBits = 4
	phaseMask = 1<<phaseBits - 1
)

func word(generation uint32, p Phase) uint64 { return uint64(generation)<<phaseBits | uint64(p) }

// Own sets the owner of the cell. It is called once.
func (c *Cell) Own(owner Owner) {
	c.owner = owner
	c.word.Store(word(0, Issued))
}

// First returns the first token of the next operation, which may make so many attempts.
func (c *Cell) First(most int) Token {
	if n := int32(min(most, math.MaxInt32)); c.most.Load() != n { // a store takes much longer
		c.most.Store(n)
	}
	return Token{ref: Ref{cell: c, generation: uint32(c.word.Load() >> phaseBits), Number: 1}}
}

// Next returns the token that follows t. The caller has taken t.
func (t Token) Next(delay time.Duration) Token {
	return Token{Ref{cell: t.ref.cell, generation: t.ref.generation + 1, Number: min(t.ref.Number, math.MaxInt32-1) + 1}, delay}
}

// Attempt returns the number of the attempt; the first is 1.
func (t Token) Attempt() int { return int(t.ref.Number) }

// Delay returns the backoff that Wait sleeps before the attempt.
func (t Token) Delay() time.Duration { return t.delay }

// WithDelay returns the same token with another delay.
func (t Token) WithDelay(d time.Duration) Token {
	t.delay = d
	return t
}

// Ref returns the token without its delay.
func (t Token) Ref() Ref { return t.ref }

// Owner returns the state of the operation; nil for the zero Token.
func (t Token) Owner() Owner {
	if t.ref.cell == nil {
		return nil
	}
	return t.ref.cell.owner
}

// Owner returns the state of the operation; nil for a Ref of the zero Token.
func (r Ref) Owner() Owner {
	if r.cell == nil {
		return nil
	}
	return r.cell.owner
}

// MaxAttempts returns how many attempts the operation may make. It reports false for a token that is
// not the present one, because the cell may serve another operation by now, and for the zero Token.
func (r Ref) MaxAttempts() (most int, ok bool) {
	if r.cell == nil {
		return 0, false
	}
	most = int(r.cell.most.Load())
	// The cell leaves the generation of an operation before it gets the number of the next one.
	return most, uint32(r.cell.word.Load()>>phaseBits) == r.generation
}

// WhileReady calls f and returns true if the attempt may have been made and the token is not taken. A caller that
// takes the token meanwhile waits for f, which must be short.
func (r Ref) WhileReady(f func()) bool {
	if !r.cell.word.CompareAndSwap(word(r.generation, Ready), word(r.generation, locked)) {
		return false
	}
	f()
	r.cell.word.Store(word(r.generation, Ready))
	return true
}

// Take uses the token up if it is the present one and in one of these phases, and returns which. From then on the state of
// the operation belongs to the caller, until the caller sets the token or issues the next one.
func (t Token) Take(in Phase) (was Phase, ok bool) {
	for {
		now := t.ref.cell.word.Load()
		was = Phase(now & phaseMask)
		switch {
		case uint32(now>>phaseBits) != t.ref.generation:
			return 0, false
		case was&in != 0:
			if t.ref.cell.word.CompareAndSwap(now, word(t.ref.generation+1, Issued)) { // which is the word of the next token
				return was, true
			}
		case was == locked && in&Ready != 0:
			runtime.Gosched()
		default:
			return 0, false
		}
	}
}

// Set makes the token the present one, in the given phase. Only the caller that has taken it may call it.
func (t Token) Set(p Phase) { t.ref.cell.word.Store(word(t.ref.generation, p)) }
