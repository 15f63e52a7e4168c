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
	// Overflowed is how many operations used the shared overflow scope because there
	// were too many scopes.
	Overflowed uint64
	// Evicted is how many scopes were dropped, because they were not used for a while or
	// had to make room for others.
	Evicted uint64
}

// ScopeSnapshot is the state of a scope.
type ScopeSnapshot struct {
	// Key is the scope.
	Key ScopeKey
	// Scope is its name; empty for the strategy as a whole.
	Scope string
	// Quota is how many tokens of the retry quota are left, and QuotaCapacity how many
	// there can be.
	Quota, QuotaCapacity int
	// SendRateSource is where the send rate comes from: "local" where the limiter is of
	// this process alone, or what a limiter from outside says. It is empty in standard
	// mode, and all that follows is zero there.
	SendRateSource string
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
