package fleet

import (
	"context"
	"errors"
	"time"
)

// Store keeps the state of each scope for all members of a fleet. [Memory] is a Store for a single
// process; redisstore has one on Valkey or Redis. It must be safe for concurrent use.
type Store interface {
	// Call applies [Step] to the state under the key, with the time of the store's clock, stores
	// the new state, and returns the reply. Calls for one key are atomic. Call must carry out the
	// step at most once, and return soon after ctx is done. A permanent error wraps [ErrRejected].
	Call(ctx context.Context, key string, ask Ask) (Reply, error)
}

// ErrRejected is wrapped by an error of a [Store] if every call will fail the same way: the store
// forbids the command or does not know it, or the key holds something else.
var ErrRejected = errors.New("fleet: the store rejects the call")

// Ask is what a member reports to the store and asks of it. Numbers that are negative, infinite or
// NaN count as zero.
type Ask struct {
	// Seed is the State of the newest [Reply] that the member has. A store that has lost the state,
	// or has an older one, continues with Seed. Empty means none.
	Seed string
	// Epoch is the epoch in which OK and Bad were counted; zero if the member knows none.
	Epoch uint64
	// OK and Bad count the attempts of this epoch that the service has answered since the last
	// call: Bad were throttled, OK were not. Each counts with its cost.
	OK, Bad float64
	// Want is how many slots the member wants, rounded down; less than 1 means none.
	Want float64
	// Starting is the initial rate, in slots per second, if the store has no state; zero means that
	// the store must learn the rate. Ceiling is the maximum rate; zero means none.
	Starting, Ceiling float64
}

// Reply is the answer of a store. The zero Reply means that the scope is open: the fleet has no
// limit.
type Reply struct {
	// Epoch is the number of the current epoch; zero if the scope is open. A cut of the send rate
	// ends an epoch.
	Epoch uint64
	// Rate is the send rate of the fleet, in slots per second; zero if the scope is open, or while
	// the store learns what the members get without it.
	Rate float64
	// Again is how long the member should wait before it asks again.
	Again time.Duration
	// Slots is how many slots the member gets. The first is due Start after the reply, each of the
	// others Gap after the one before.
	Slots      int
	Start, Gap time.Duration
	// State is the state after the call, for the next Ask; empty if the scope is open.
	State string
}
