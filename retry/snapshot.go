package retry

import "time"

// Snapshot is the state of a [Strategy] at an instant.
type Snapshot struct {
	// Mode is "standard" or "adaptive".
	Mode string
	// Behavior is the generation that the defaults come from.
	Behavior Behavior
	// SharedAs is the key under which clients share the strategy, see awsretry.Factory. It is
	// empty for a strategy without such a key.
	SharedAs string
	// Pool is how many tokens are left in the pool that the scopes share, and PoolCapacity how
	// many there can be. The scope of the strategy as a whole does not use it.
	Pool, PoolCapacity int
	// Scopes are the scopes that exist, sorted by name.
	Scopes []ScopeSnapshot
	// Overflowed is how many operations used the scope of [OverflowKey] because there were
	// too many scopes.
	Overflowed uint64
	// Evicted is how many scopes were dropped, because no operation used them for a while or
	// because others needed their place.
	Evicted uint64
	// EvictedStrainedCalls and EvictedRefusedCalls are the StrainedCalls and RefusedCalls of the scopes that were
	// dropped.
	EvictedStrainedCalls, EvictedRefusedCalls uint64
}

// ScopeSnapshot is the state of a scope.
type ScopeSnapshot struct {
	// Key is the scope.
	Key ScopeKey
	// Scope is the text of Key; empty for the scope of the strategy as a whole.
	Scope string
	// Quota is how many tokens are left in the retry quota. QuotaCapacity is how many there
	// can be.
	Quota, QuotaCapacity int
	// Debt is how many tokens the scope owes for retries that were lent after lost connections. Tokens pay it for which the
	// full quota has no room. A quota with debts lends only to attempts that were sent before they began.
	Debt int
	// DebtLimit is how many of the most tokens that a retry has found the quota may lack after it has paid for another
	// one, see standard.Config.DebtLimit; 0 without that. Debt does not count.
	DebtLimit int
	// StrainedCalls is how many operations have ended while the retry quota was not full, and
	// RefusedCalls is how many of these have failed because it did not cover a retry. Neither grows
	// while the quota is full, so that in trouble the growth of the second by that of the first is
	// the share of the operations that fail for lack of quota.
	StrainedCalls, RefusedCalls uint64
	// SendRateSource is where the send rate comes from: "local" for the limiter of this
	// process, "fleet" if a fleet of processes shares it, "fleet-lost" while the process
	// cannot reach the store of its fleet, or the word of a limiter from another module. It is
	// empty in standard mode, where all fields below are zero.
	SendRateSource string
	// Limited is true if attempts may have to wait: from the first throttle on, or from the
	// start if a limit is known.
	Limited bool
	// FillRate is the send rate and MeasuredRate the smoothed rate of responses. Both are in
	// attempts per second, or with a SendCost in tokens per second, as of the last response.
	FillRate, MeasuredRate float64
	// SendTokens are the tokens in the bucket of the send rate, or the slots that a member of a
	// fleet has in hand. SendCapacity is how many tokens there can be. Both are as of the last
	// attempt or response.
	SendTokens, SendCapacity float64
	// Waiting is how many attempts wait for a send token.
	Waiting int
	// LastThrottle is when a throttle last cut the send rate; the zero time if none did.
	LastThrottle time.Time
	// FleetRate is the send rate of the whole fleet, in attempts per second, as its store last
	// reported it. StoreCalls is how many calls of the store the limiter has made, and
	// StoreFailures how many of them failed. All three are zero without a fleet.
	FleetRate                 float64
	StoreCalls, StoreFailures uint64
}
