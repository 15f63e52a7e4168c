package retry

import "time"

// Snapshot is the state of a strategy at an instant.
type Snapshot struct {
	// Mode is "standard" or "adaptive".
	Mode string
	// Scopes are the scopes that exist, sorted by name.
	Scopes []ScopeSnapshot
	// Overflowed is how many operations used the shared overflow scope because
	// there were too many scopes.
	Overflowed uint64
}

// ScopeSnapshot is the state of a scope. The send rate is zero in standard mode.
type ScopeSnapshot struct {
	// Key is the scope.
	Key ScopeKey
	// Scope is its name; empty for the strategy as a whole.
	Scope string
	// Quota is how many retry quota tokens are left, and QuotaCapacity how many
	// there can be.
	Quota, QuotaCapacity int
	// Limited is true once a throttle has turned the send rate on.
	Limited bool
	// FillRate is the send rate and MeasuredRate the smoothed rate of responses,
	// both per second.
	FillRate, MeasuredRate float64
	// SendTokens are those in the send-rate bucket, of SendCapacity.
	SendTokens, SendCapacity float64
	// Waiting is how many callers wait for a send token.
	Waiting int
	// LastThrottle is when the send rate was last cut; zero if never.
	LastThrottle time.Time
}
