package micro

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What the machine needs for the least of each step. All goroutines share one counter, lock and so on, as the operations
// of a client share its strategy.

func emptyCall(context.Context) error { return nil }

// usedOnce is the least for a token that can be used once, for its wait and for its
// end, whatever goroutine tries: a record from a pool, swapped twice, and back.
func usedOnce(testing.TB) round {
	var pool sync.Pool
	return func(context.Context) error {
		state, ok := pool.Get().(*atomic.Uint64)
		if !ok {
			state = new(atomic.Uint64)
		}
		life := state.Load()
		if !state.CompareAndSwap(life, life+1) || !state.CompareAndSwap(life+1, life+2) {
			return errNever
		}
		pool.Put(state)
		return nil
	}
}

// twoEvents is the least for an attempt that is limited by a rate: the clock is
// read when it is sent and when it is answered, and the answer changes what all
// attempts share.
func twoEvents(testing.TB) round {
	var mu sync.Mutex
	var last time.Time
	return func(context.Context) error {
		sent := time.Now()
		answered := time.Now()
		mu.Lock()
		defer mu.Unlock()
		if last = answered; sent.After(last) {
			return errNever
		}
		return nil
	}
}

// twoAtomicsAndRandom is the least for a retry: its cost is taken and given back,
// and its jitter drawn.
func twoAtomicsAndRandom(testing.TB) round {
	var quota atomic.Int64
	return func(context.Context) error {
		quota.Add(-5)
		jitter := rand.Float64()
		quota.Add(5)
		if jitter < 0 {
			return errNever
		}
		return nil
	}
}

// errNever keeps the compiler from leaving out what is measured.
var errNever = errors.New("this cannot be")
