package hottest

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/awsretry/awsretry/retry"
)

// Reading is the state of strategies that metrics show.
type Reading struct {
	// Pool and PoolCapacity are the tokens of all pools.
	Pool, PoolCapacity int
	// PoolsEmpty is how many strategies cannot pay for a retry in one of their scopes: neither the quota of the scope
	// nor the pool has the tokens for it.
	PoolsEmpty int
	// StoresUnreached is how many strategies have called the store of their fleet but never got an answer.
	StoresUnreached int
	// AllScopes is how many scopes there are, and Overflowed and Evicted are the sums of the snapshots.
	AllScopes           int
	Overflowed, Evicted uint64
	// Kinds are the distinct strategies, sorted.
	Kinds []Kind
	// Shown are the scopes that have metrics of their own, see [Scopes.Pick].
	Shown []retry.ScopeSnapshot
}

// Kind has the properties that distinguish strategies. It is for labels.
type Kind struct{ Mode, Attempts, Behavior string }

// Read takes a snapshot of each strategy. The time is the latest one of their clocks.
func (s *Scopes) Read(strategies []retry.Strategy) Reading {
	var r Reading
	var now time.Time
	snapshots := make([]retry.Snapshot, len(strategies))
	for i, strategy := range strategies {
		one, plan := strategy.Snapshot(), strategy.Plan(retry.Operation{})
		r.Pool, r.PoolCapacity = r.Pool+one.Pool, r.PoolCapacity+one.PoolCapacity
		r.AllScopes, r.Overflowed, r.Evicted = r.AllScopes+len(one.Scopes), r.Overflowed+one.Overflowed, r.Evicted+one.Evicted
		if poolEmpty(&one, &plan) {
			r.PoolsEmpty++
		}
		if storeUnreached(&one) {
			r.StoresUnreached++
		}
		r.Kinds = append(r.Kinds, Kind{Label(one.Mode), strconv.Itoa(plan.MaxAttempts), Label(string(one.Behavior))})
		if at := strategy.Clock().Now(); at.After(now) {
			now = at
		}
		snapshots[i] = one
	}
	slices.SortFunc(r.Kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Attempts, b.Attempts), cmp.Compare(a.Behavior, b.Behavior))
	})
	r.Kinds = slices.Compact(r.Kinds)
	r.Shown = s.Pick(now, snapshots...)
	return r
}

// poolEmpty reports whether the pool has too few tokens for a retry that it would have to pay for. It pays for none
// in the scope of the strategy as a whole.
func poolEmpty(s *retry.Snapshot, plan *retry.Plan) bool {
	return s.Pool < plan.RetryCost && slices.ContainsFunc(s.Scopes, func(scope retry.ScopeSnapshot) bool {
		return scope.Key != retry.ScopeKey{} && scope.Quota < plan.RetryCost
	})
}

// storeUnreached reports whether all calls of the store have failed. Each scope may have one in progress, which already
// counts as a call.
func storeUnreached(s *retry.Snapshot) bool {
	var calls, failures, scopes uint64
	for i := range s.Scopes {
		if scope := &s.Scopes[i]; scope.StoreCalls > 0 {
			calls, failures, scopes = calls+scope.StoreCalls, failures+scope.StoreFailures, scopes+1
		}
	}
	return failures > 0 && calls <= failures+scopes
}
