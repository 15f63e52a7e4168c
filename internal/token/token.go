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
	// Reserve takes what the retry after the attempt of the token needs, if a retry would be granted now
	// after this failure and its deadline would leave the next attempt that much time. It reports whether
	// it has; if so, the retry is granted. It may be called from any goroutine.
	Reserve(t Token, failure error, needed time.Duration) bool
	// Unreserve gives back what Reserve has taken, because the attempt was not ended. If the attempt has
	// ended since, it does nothing.
	Unreserve(t Token)
}

// Token is what an operation carries from attempt to attempt. The zero Token belongs to no
// operation. It has four words, so that the compiler keeps it in registers.
type Token struct {
	cell       *Cell
	generation uint64
	delay      time.Duration
	attempt    int
}

// Ref is what the context of an attempt keeps of its token, in half the space.
type Ref struct {
	cell       *Cell
	generation uint32 // its low bits
	Number     int32  // of the attempt
}

// Ref returns what the context of an attempt with that number keeps of the token.
func (t Token) Ref(number int) Ref {
	return Ref{t.cell, uint32(t.generation), int32(min(number, math.MaxInt32))} //nolint:gosec // the low bits
}

// Token returns the token if it is the present one of its operation, and otherwise the zero Token.
func (r Ref) Token() Token {
	if r.cell == nil {
		return Token{}
	}
	generation := r.cell.word.Load() >> phaseBits
	if uint32(generation) != r.generation { //nolint:gosec // the low bits
		return Token{}
	}
	return Token{cell: r.cell, generation: generation, attempt: int(r.Number)}
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

// The phases.
const (
	Issued    Phase = iota // everything
	Waiting                // nothing: Wait has begun
	Ready                  // everything but Wait: the attempt may have been made
	Refused                // the end of the operation, and a last wait
	Resting                // nothing: the last wait has begun
	Reserving              // as Ready, in a moment: Reserve copies or keeps something

	phaseBits = 3
	phaseMask = 1<<phaseBits - 1
)

func word(generation uint64, p Phase) uint64 { return generation<<phaseBits | uint64(p) }

// Own sets the owner of the cell. It is called once.
func (c *Cell) Own(owner Owner) { c.owner = owner }

// Allow says how many attempts the next operation may make. It is called before First.
func (c *Cell) Allow(most int) {
	if n := int32(min(most, math.MaxInt32)); c.most.Load() != n { // a store takes much longer
		c.most.Store(n)
	}
}

// First returns the first token of the next operation.
func (c *Cell) First() Token {
	return Token{cell: c, generation: c.word.Load() >> phaseBits, attempt: 1}
}

// Next returns the token that follows t. The caller has taken t.
func (t Token) Next(delay time.Duration) Token {
	return Token{cell: t.cell, generation: t.generation + 1, delay: delay, attempt: t.attempt + 1}
}

// Owner returns the state of the operation; nil for the zero Token.
func (t Token) Owner() Owner {
	if t.cell == nil {
		return nil
	}
	return t.cell.owner
}

// MaxAttempts returns how many attempts the operation may make. It reports false for a token that is
// not the present one, because the cell may serve another operation by now, and for the zero Token.
func (t Token) MaxAttempts() (most int, ok bool) {
	if t.cell == nil {
		return 0, false
	}
	most = int(t.cell.most.Load())
	// The cell leaves the generation of an operation before it gets the number of the next one.
	return most, t.cell.word.Load()>>phaseBits == t.generation
}

// Attempt returns the number of the attempt; the first is 1.
func (t Token) Attempt() int { return t.attempt }

// Delay returns the backoff that Wait sleeps before the attempt.
func (t Token) Delay() time.Duration { return t.delay }

// WithDelay returns the same token with another delay.
func (t Token) WithDelay(d time.Duration) Token {
	t.delay = d
	return t
}

// Move changes the phase of the token and returns true, if the token is the present one and in the phase from.
func (t Token) Move(from, to Phase) bool {
	return t.cell.word.CompareAndSwap(word(t.generation, from), word(t.generation, to))
}

// Set makes the token the present one, in the given phase. Only the caller that has taken the
// token, or has moved it to a phase without uses, may call it.
func (t Token) Set(p Phase) { t.cell.word.Store(word(t.generation, p)) }

// Take uses the token up and returns the phase that it was in. toEnd says that the caller ends
// the operation; a refused token can be taken only for that. After Take the state of the
// operation belongs to the caller, until the caller issues the next token.
func (t Token) Take(toEnd bool) (was Phase, ok bool) {
	for {
		now := t.cell.word.Load()
		was = Phase(now & phaseMask)
		usable := was == Issued || was == Ready || was == Reserving || was == Refused && toEnd
		switch {
		case !usable || now>>phaseBits != t.generation:
			return was, false
		case was == Reserving:
			runtime.Gosched()
		case t.cell.word.CompareAndSwap(now, word(t.generation+1, Issued)):
			return was, true
		}
	}
}
