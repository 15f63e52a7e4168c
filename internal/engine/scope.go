package engine

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/retry"
)

// throttledFor is how long after its last throttle a scope counts as throttled. After that
// there is nothing left to forget: CUBIC allows more than 10^7 attempts a second by then,
// whatever the rate was, unless ProbeEvery makes the curve longer.
const throttledFor = 10 * time.Minute

// longestStay is longer than any scope is known to stay.
const longestStay = throttledFor + time.Second

// scope is what operations with the same key share.
type scope struct {
	hash    uint64 // of the key
	use     atomic.Uint32
	key     retry.ScopeKey
	quota   *quota.Quota
	limiter Limiter // nil in standard mode
	room    room    // of attempts while the send rate is limited
	err     error   // why there is no limiter
	name    string
}

// The values of scope.use.
const (
	unused uint32 = iota // since the last turn of its shard
	used
	gone // from the table: the next operation with the key makes another scope
)

// newScope makes the scope of a key. It copies the parts of the key into one text, so that they
// lie beside each other and keep no larger text in memory.
func (e *Engine) newScope(key retry.ScopeKey) *scope {
	text := strings.Clone(key.Scope + key.Account + key.Service + key.Region + key.Name + key.Resource)
	for _, part := range [...]*string{
		&key.Scope, &key.Account, &key.Service, &key.Region, &key.Name, &key.Resource,
	} {
		n := len(*part)
		*part, text = text[:n], text[n:]
	}
	s := &scope{key: key, name: key.String()}
	config := quota.Config{
		Capacity: e.config.Plan.QuotaCapacity, Initial: e.config.QuotaInitial, Refill: e.config.QuotaRefill,
	}
	if !key.IsZero() { // a strategy without scopes has the quota of the AWS SDKs and no more
		config.Pool = e.pool
	}
	s.quota = quota.New(config, e.start, e.config.Clock)
	s.use.Store(used)
	if e.config.NewLimiter != nil {
		s.limiter, s.err = e.config.NewLimiter(key, e.start)
	}
	return s
}

// touch marks the scope as used, and reports whether it is still in the table. An operation
// that began before its scope was removed goes on with it.
func (s *scope) touch() bool {
	if use := s.use.Load(); use != unused {
		return use == used
	}
	return s.use.CompareAndSwap(unused, used) || s.use.Load() == used
}

// staysUntil returns until when a scope has to stay although it is not in use: an operation waits in
// it, or it was throttled lately, or it has no send token. A new scope in its place would have
// one at once, so that evictions would let attempts exceed the send rate.
func (s *scope) staysUntil(now time.Time) time.Time {
	if s.limiter == nil {
		return longer(now, s.quota.Waiting())
	}
	expected := s.limiter.Expected(1) // first, because it brings the state up to now
	state, waiting := s.limiter.State()
	until := longer(now, s.quota.Waiting()+waiting)
	if at := now.Add(min(expected, longestStay)); at.After(until) {
		until = at
	}
	if at := state.LastThrottle.Add(throttledFor); !state.LastThrottle.IsZero() && at.After(until) {
		until = at
	}
	return until
}

// longer returns when to ask again whether operations wait in a scope.
func longer(now time.Time, waiting int) time.Time {
	if waiting > 0 {
		return now.Add(time.Second)
	}
	return now
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
		got.FleetRate, got.StoreCalls, got.StoreFailures = float64(state.FleetRate), state.StoreCalls, state.StoreFailures
	}
	return got
}

// room estimates how long the attempts of a scope take, so that no send token is spent on an attempt
// that the deadline of its caller cuts short. It is the estimate of round-trip times of RFC 6298,
// section 2, which begins without a deviation here, and adds it twice instead of four times: a caller
// that is refused for nothing has lost its call.
//
// It is safe for concurrent use. Where two attempts end at once, one of them may not count.
type room struct{ mean, deviation atomic.Int64 }

// longest is as long as an attempt can be; sums of a few do not overflow.
const longest = int64(24 * time.Hour)

// note counts an attempt that has succeeded.
func (r *room) note(took time.Duration) {
	last, mean, deviation := min(max(int64(took), 0), longest), r.mean.Load(), r.deviation.Load()
	if mean == 0 {
		r.mean.Store(last)
		return
	}
	r.deviation.Store(deviation + (max(last-mean, mean-last)-deviation)/4)
	r.mean.Store(mean + (last-mean)/8)
}

// needed returns the time that most attempts take; 0 if it is not known.
func (r *room) needed() time.Duration {
	return time.Duration(r.mean.Load() + 2*r.deviation.Load())
}
