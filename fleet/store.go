package fleet

import (
	"context"
	"errors"
	"time"
)

// Store keeps the state of each scope for all members of a fleet. [Memory] is one for a
// single process, redisstore has one on Valkey or Redis. It must be safe for concurrent use.
type Store interface {
	// Call replaces the state under the key by the one that [Step] returns for it, on the
	// clock of the store, and returns the reply of Step. Calls for one key are atomic. Call
	// must carry out the step at most once, and return soon after ctx is done. An error that
	// no later call can cure wraps [ErrRejected].
	Call(ctx context.Context, key string, ask Ask) (Reply, error)
}

// ErrRejected is what an error of a [Store] wraps if every call will fail the same way: the
// store forbids the command or does not know it, or the key holds something else.
var ErrRejected = errors.New("fleet: the store rejects the call")

// Ask is what a member tells the store and wants of it. Numbers that are negative, infinite or
// not a number count as zero.
type Ask struct {
	// Seed is the State of the newest [Reply] that the member has. A store that has lost the
	// state, or has an older one, goes on with it. Empty means that there is none.
	Seed string
	// Epoch is the one under which OK and Bad were counted; zero if the member knows none.
	Epoch uint64
	// OK and Bad are how many attempts of this epoch the service has answered since the last
	// call: Bad were throttled, OK were not. Each counts as its cost.
	OK, Bad float64
	// Want is how many slots the member wants, less than 1 for none. A fraction is left out.
	Want float64
	// Starting is a rate to begin with, in slots per second, if the store has no state; zero
	// means that the rate must be learned. Ceiling is a rate that is never exceeded; zero means
	// none.
	Starting, Ceiling float64
}

// Reply is the answer of a store. The zero Reply is that the scope is open: the fleet has no
// limit.
type Reply struct {
	// Epoch is the number of the present epoch; zero if the scope is open. An epoch ends when
	// the send rate is cut.
	Epoch uint64
	// Rate is the send rate of the fleet, in slots per second; zero if the scope is open, or if
	// the store still learns what the members get without it.
	Rate float64
	// Again is how long the member should wait before it asks again.
	Again time.Duration
	// Slots is how many slots the member gets. The first is due Start after the reply, each
	// further one Gap later.
	Slots      int
	Start, Gap time.Duration
	// State is the state after the call, for the next Ask; empty if the scope is open.
	State string
}
