package engine

import (
	"slices"
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

// scope is what operations with the same key share.
type scope struct {
	hash    uint64
	next    atomic.Pointer[scope] // in its chain
	use     atomic.Uint32
	key     retry.ScopeKey
	quota   *quota.Quota
	limiter Limiter // nil in standard mode
	room    room    // of attempts while the send rate is limited
	err     error   // why there is no limiter
	name    string
	place   int // in the ring; guarded by scopes.mu
}

// The values of scope.use.
const (
	unused uint32 = iota // since the hand came by
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
	config := e.config.Quota
	if !key.IsZero() { // a strategy without scopes has the quota of the AWS SDKs and no more
		config.Pool = e.pool
	}
	s.quota = quota.New(config, e.start, e.config.Clock)
	s.use.Store(used)
	if e.send.New != nil {
		s.limiter, s.err = e.send.New(key, e.start)
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

// keeps reports whether a scope has to stay although it is not in use: an operation waits in
// it, or it was throttled lately, or it has no send token. A new scope in its place would have
// one at once, so that evictions would let attempts exceed the send rate.
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
		got.FleetRate, got.StoreCalls, got.StoreFailures = float64(state.FleetRate), state.StoreCalls, state.StoreFailures
	}
	return got
}

// listing is all scopes that can be shown, in the order in which they lie in memory, and the
// place of each by name. It is right as long as the number of scopes and the number of
// evicted ones stay the same.
type listing struct {
	evicted uint64
	scopes  []*scope
	places  []int
}

// list returns the present listing, for reading only. Sorting takes longer than reading, so
// list sorts only when there are other scopes than the last time.
func (ss *scopes) list() listing {
	now := ss.unsorted()
	if last := ss.listed.Load(); last != nil && last.evicted == now.evicted && len(last.scopes) == len(now.scopes) {
		return *last
	}
	byName := make([]int, len(now.scopes))
	for i := range byName {
		byName[i] = i
	}
	slices.SortFunc(byName, func(a, b int) int { return strings.Compare(now.scopes[a].name, now.scopes[b].name) })
	now.places = make([]int, len(byName))
	for place, i := range byName {
		now.places[i] = place
	}
	ss.listed.Store(&now)
	return now
}

// unsorted is list without the places.
func (ss *scopes) unsorted() listing {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	all := append(make([]*scope, 0, len(ss.ring)+2), ss.whole)
	if s := ss.overflow.Load(); s != nil {
		all = append(all, s)
	}
	all = slices.DeleteFunc(append(all, ss.ring...), func(s *scope) bool { return s.err != nil })
	return listing{evicted: ss.evicted.Load(), scopes: all}
}
