package engine

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// throttledFor is how long after its last throttle a scope counts as throttled.
// Nothing is left to forget after that: CUBIC allows more than 10^7 attempts a
// second by then, whatever the rate was, unless ProbeEvery slows it.
const throttledFor = 10 * time.Minute

// scope is what operations with the same key share.
type scope struct {
	hash    uint64
	next    atomic.Pointer[scope] // in its chain
	use     atomic.Uint32
	key     retry.ScopeKey
	quota   *ratelimit.QuotaLine
	limiter Limiter // nil in standard mode
	err     error   // why there is no limiter
	name    string
	place   int // in the ring; guarded by scopes.mu
}

// What the use of a scope may be.
const (
	unused uint32 = iota // since scopes looked last
	used
	gone // from the table: the next operation with the key makes another scope
)

// newScope makes the state of a key. The parts of the key are copied into one text, so
// that they do not keep what they were cut from, and lie beside each other.
func (e *Engine) newScope(key retry.ScopeKey) *scope {
	text := strings.Clone(key.Scope + key.Account + key.Service + key.Region + key.Operation + key.Resource)
	for _, part := range [...]*string{
		&key.Scope, &key.Account, &key.Service, &key.Region, &key.Operation, &key.Resource,
	} {
		n := len(*part)
		*part, text = text[:n], text[n:]
	}
	quota := ratelimit.NewQuota(e.config.Quota, e.start)
	s := &scope{key: key, name: key.String(), quota: ratelimit.NewQuotaLine(quota, e.config.Clock)}
	s.use.Store(used)
	if e.send.New != nil {
		s.limiter, s.err = e.send.New(key, e.start)
	}
	return s
}

// touch says that the scope is in use, and reports whether it is still in the table.
// An operation that uses one that is not, because it began before, goes on with it.
func (s *scope) touch() bool {
	if s.use.Load() == unused {
		s.use.CompareAndSwap(unused, used)
	}
	return s.use.Load() == used
}

// keeps reports whether a scope has to stay although it is not in use: an operation
// waits in it, or its send rate holds attempts back with good reason. A new scope has a
// send token, so that one without any stays until it has one.
func (s *scope) keeps(now time.Time) bool {
	switch {
	case s.quota.Waiting() > 0:
		return true
	case s.limiter == nil:
		return false
	}
	expected := s.limiter.Expected(1) // first, because it brings the state up to now
	state, waiting := s.limiter.State()
	return waiting > 0 || expected > 0 ||
		!state.LastThrottle.IsZero() && now.Sub(state.LastThrottle) < throttledFor
}

// snapshot returns the state of the scope.
func (s *scope) snapshot(now time.Time) retry.ScopeSnapshot {
	got := retry.ScopeSnapshot{
		Key: s.key, Scope: s.name, Quota: s.quota.Available(now), QuotaCapacity: s.quota.Capacity(),
	}
	if s.limiter != nil {
		state, waiting := s.limiter.State()
		got.SendRateSource = state.Source
		got.Limited, got.Waiting, got.LastThrottle = state.Limited, waiting, state.LastThrottle
		got.FillRate, got.MeasuredRate = float64(state.FillRate), float64(state.MeasuredRate)
		got.SendTokens, got.SendCapacity = state.Tokens, state.Capacity
	}
	return got
}
