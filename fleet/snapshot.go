package fleet

import (
	"cmp"
	"runtime"
	"slices"
	"weak"

	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// ScopeSnapshot is the state of a member at one instant.
type ScopeSnapshot struct {
	// Key is the scope, and Scope its text.
	Key   retry.ScopeKey
	Scope string
	State State
	// FleetRate is the send rate of the fleet in the last reply of the store, in slots per second;
	// zero if there is none. OwnRate is the rate of the member: what it sent in the last ten
	// seconds, what it may send while it is alone, or its own send rate while the scope is open.
	FleetRate, OwnRate ratelimit.Rate
	// Epoch is the number of the epoch that the member knows; zero if it knows none.
	Epoch uint64
	// SlotsInHand is how many slots the member has, and Waiting how many attempts wait.
	SlotsInHand, Waiting int
	// Calls is how many calls of the store the member has made, and Failures how many of them
	// failed. LastError is the error of the last finished call; nil if it succeeded.
	Calls, Failures uint64
	LastError       error
}

// Snapshot returns the state of the members that have been used, sorted by scope. Two strategies of
// a process have two members for a scope; the one used first comes first.
func (f *Fleet) Snapshot() []ScopeSnapshot {
	members := f.inUse()
	slices.SortFunc(members, func(a, b *limiter) int { return cmp.Compare(a.place, b.place) })
	snapshots := make([]ScopeSnapshot, 0, len(members))
	for _, l := range members {
		snapshots = append(snapshots, l.snapshot())
	}
	slices.SortStableFunc(snapshots, func(a, b ScopeSnapshot) int { return cmp.Compare(a.Scope, b.Scope) })
	return snapshots
}

// inUse returns the members that have been used, in any order.
func (f *Fleet) inUse() []*limiter {
	f.mu.Lock()
	defer f.mu.Unlock()
	members := make([]*limiter, 0, len(f.members))
	for member := range f.members {
		if l := member.Value(); l != nil {
			members = append(members, l)
		}
	}
	return members
}

// failing returns how many members failed in their last call.
func (f *Fleet) failing() (count int) {
	for _, l := range f.inUse() {
		l.mu.Lock()
		if l.member.err != nil {
			count++
		}
		l.mu.Unlock()
	}
	return count
}

func (l *limiter) snapshot() ScopeSnapshot {
	now := l.lock(l.clock.Now())
	defer l.mu.Unlock()
	m := &l.member
	return ScopeSnapshot{
		Key: l.scope, Scope: l.scope.String(), State: m.state,
		FleetRate: m.rate, OwnRate: m.Rate(now), Epoch: m.epoch,
		SlotsInHand: int(m.runs.InHand(now)), Waiting: l.waitingLocked(),
		Calls: m.calls, Failures: m.failed, LastError: m.err,
	}
}

// register puts a member into the snapshots. A strategy does not say when it evicts a scope:
// the member leaves the snapshots when the garbage collector takes it.
func (f *Fleet) register(l *limiter) {
	member := weak.Make(l)
	f.mu.Lock()
	f.used++
	l.place = f.used
	f.members[member] = struct{}{}
	f.mu.Unlock()
	runtime.AddCleanup(l, func(gone weak.Pointer[limiter]) {
		f.mu.Lock()
		delete(f.members, gone)
		f.mu.Unlock()
	}, member)
}
