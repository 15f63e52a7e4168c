package token_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/token"
)

// owner is the state of an operation that does nothing.
type owner struct{ token.Cell }

func (*owner) Wait(context.Context, token.Token) error { return nil }
func (*owner) Readings() *instant.Readings             { return nil }
func (*owner) Decides(any) bool                        { return true }

func (*owner) Reserve(token.Ref, error, time.Duration, func() bool) bool { return false }

func newOwner() *owner {
	o := &owner{}
	o.Own(o)
	return o
}

// in returns a token in the given phase.
func in(o *owner, p token.Phase) token.Token {
	t := o.First(3)
	t.Set(p)
	return t
}

const anyPhase = token.Issued | token.Ready | token.Refused

// The loop waits while another goroutine reserves a retry.
func TestWhileReadyConcurrentSafe(t *testing.T) {
	t.Parallel()
	o, state := newOwner(), 0
	next := o.First(3)
	var present atomic.Pointer[token.Token]
	present.Store(&next)
	stop, all := make(chan struct{}), sync.WaitGroup{}
	var read atomic.Int64
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if present.Load().Ref().WhileReady(func() { state++ }) {
					read.Add(1)
				}
				runtime.Gosched()
			}
		})
	}
	for range 2_000 {
		held := *present.Load()
		held.Set(token.Ready)
		runtime.Gosched()
		_, ok := held.Take(token.Issued | token.Ready)
		require.True(t, ok, "it takes nothing")
		state++
		later := held.Next(0)
		present.Store(&later)
	}
	close(stop)
	all.Wait()
	require.Positive(t, read.Load())
	require.EqualValues(t, 2_000+read.Load(), state)
}

func TestWhoTakesATokenWaitsForWhatRunsWhileItIsReady(t *testing.T) {
	t.Parallel()
	held := in(newOwner(), token.Ready)
	began, taken := make(chan struct{}), make(chan bool, 1)
	require.True(t, held.Ref().WhileReady(func() {
		go func() {
			close(began)
			taken <- take(anyPhase)(held)
		}()
		<-began
		for range 100 {
			runtime.Gosched()
		}
		require.Empty(t, taken)
	}))
	require.True(t, <-taken)
}

func TestZeroTokenBelongsToNoOperation(t *testing.T) {
	t.Parallel()
	require.Nil(t, token.Ref{}.Owner())
	require.Zero(t, token.Token{}.Attempt())
	require.Zero(t, token.Token{}.Delay())
}

// TestTakersConcurrentSafe has goroutines that all try to take the same token at the same time,
// one token after the other. Each success adds one, so that the sum is the number of tokens.
func TestTakersConcurrentSafe(t *testing.T) {
	t.Parallel()
	const tokens = 500
	for name, uses := range map[string][]func(held token.Token) bool{
		"of one kind": {take(token.Issued), take(token.Issued)},
		"of two":      {take(token.Issued), take(anyPhase)},
		"many":        {take(token.Issued), take(token.Issued), take(anyPhase), take(anyPhase), take(token.Issued | token.Ready)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held := make([]token.Token, tokens)
			for i := range held {
				held[i] = newOwner().First(3)
			}
			var won, arrived atomic.Int64
			var wg sync.WaitGroup
			for _, use := range uses {
				wg.Go(func() {
					for i := range held {
						arrived.Add(1)
						for arrived.Load() < int64((i+1)*len(uses)) {
							runtime.Gosched() // until all are here
						}
						if use(held[i]) {
							won.Add(1)
						}
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, tokens, won.Load())
		})
	}
}

func take(in token.Phase) func(held token.Token) bool {
	return func(held token.Token) bool {
		_, ok := held.Take(in)
		return ok
	}
}

// TestStaleTakersConcurrentSafe has goroutines that try the old tokens of a cell while its
// operations go on.
func TestStaleTakersConcurrentSafe(t *testing.T) {
	t.Parallel()
	const operations = 500
	o := newOwner()
	var stale atomic.Pointer[token.Token]
	var taken atomic.Int64
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if old := stale.Load(); old != nil && take(anyPhase)(*old) {
					taken.Add(1)
				}
			}
		})
	}
	for range operations {
		held := o.First(3)
		for range 2 {
			waited := take(token.Issued)(held)
			held.Set(token.Ready)
			if !waited || !take(token.Issued|token.Ready)(held) {
				taken.Add(1)
			}
			stale.Store(new(held))
			held = held.Next(0)
		}
	}
	close(done)
	wg.Wait()
	require.Zero(t, taken.Load())
}
