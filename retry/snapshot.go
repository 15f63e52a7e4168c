package retry

import "time"

// Snapshot is the state of a strategy at an instant.
type Snapshot struct {
	// Mode is "standard" or "adaptive".
	Mode string
	// SharedAs is the key under which clients share the strategy, see
	// standard.Config; empty for one that nobody has declared to be shared.
	SharedAs string
	// Scopes are the scopes that exist, sorted by name.
	Scopes []ScopeSnapshot
	// Overflowed is how many operations used a shared overflow scope because there
	// were too many scopes; of those of the quota and those of the send rate, where
	// these have keys of their own, it is the larger number.
	Overflowed uint64
	// Evicted is how many times the quota or the send rate of a scope was dropped
	// because nobody had used it for a while.
	Evicted uint64
}

// ScopeSnapshot is the state of a scope.
type ScopeSnapshot struct {
	// Key is the scope.
	Key ScopeKey
	// Scope is its name; empty for the strategy as a whole.
	Scope string
	// InFlight is how many operations are under way in it. Those of the strategy as a
	// whole count from their first wait on. Where a function makes it the scope of the
	// quota of some operations and of the send rate of others, it is the larger number.
	InFlight int
	// HasQuota is true if it is the scope of a retry quota. Quota is how many tokens
	// are left, and QuotaCapacity how many there can be.
	HasQuota             bool
	Quota, QuotaCapacity int
	// HasSendRate is true if it is the scope of a send rate; in standard mode none
	// is, and what follows is zero.
	HasSendRate bool
	// Limited is true once attempts may have to wait: from the first throttle on, or
	// from the start with a known limit.
	Limited bool
	// FillRate is the send rate and MeasuredRate the smoothed rate of responses,
	// both per second and as of the last response.
	FillRate, MeasuredRate float64
	// SendTokens are those in the send-rate bucket, of SendCapacity, as of the last
	// attempt or response.
	SendTokens, SendCapacity float64
	// Waiting is how many callers wait for a send token.
	Waiting int
	// LastThrottle is when the send rate was last cut; zero if never.
	LastThrottle time.Time
}
