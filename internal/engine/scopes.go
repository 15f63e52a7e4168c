package engine

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/retry"
)

const (
	defaultMaxScopes = 10_000
	defaultScopeIdle = 5 * time.Minute

	// fewVictims is how many scopes a new one that needs room tries to replace, and
	// fewLooks how often it looks for them.
	fewVictims, fewLooks = 4, 4
)

// scopes finds the scope of a key. A scope that is there is found without a lock, in a
// table of chains. They are bounded in two ways, both when a scope is created, so that
// there is no timer: a sweep once in each idle time removes what was not used since the
// one before, and when all places are taken one scope is replaced that was not used
// since the hand of a clock came by (second chance). One that has to stay does.
type scopes struct {
	whole      *scope                // of the zero key; it stays
	overflow   atomic.Pointer[scope] // what keys without a place share; it stays
	limit      int
	idle       time.Duration
	seed       maphash.Seed
	table      atomic.Pointer[[]atomic.Pointer[scope]] // a power of two of chains
	overflowed atomic.Uint64
	evicted    atomic.Uint64
	listed     atomic.Pointer[listing] // what list returned last

	mu    sync.Mutex // held to change what follows and the chains
	ring  []*scope   // those in the table
	hand  int        // the next of them to look at
	swept time.Time
}

func (ss *scopes) begin(limit int, idle time.Duration, now time.Time) {
	if ss.limit = limit; limit == 0 {
		ss.limit = defaultMaxScopes
	}
	if ss.idle = idle; idle == 0 {
		ss.idle = defaultScopeIdle
	}
	ss.seed, ss.swept = maphash.MakeSeed(), now
	ss.table.Store(new(make([]atomic.Pointer[scope], 16)))
}

// enter finds the scope of an operation, which may be new.
func (e *Engine) enter(r *record) {
	ss := &e.scopes
	key := r.op.Key()
	if e.config.Scope != nil {
		key = e.config.Scope(r.op)
	}
	if key.IsZero() {
		r.scope = ss.whole
		return
	}
	hash := ss.hash(&key)
	if s := ss.find(hash, &key); s != nil && s.touch() {
		r.scope = s
		return
	}
	e.create(r, hash, key)
}

// sameScope reports whether two operations have the same retry.Operation.Key.
func sameScope(a, b *retry.Operation) bool {
	if a.Scope != "" || b.Scope != "" {
		return a.Scope == b.Scope
	}
	return a.Resource == b.Resource && a.Service == b.Service && a.Region == b.Region && a.Account == b.Account
}

// create gives an operation a new scope, or, if there is no room, the overflow. It looks
// again after a sweep, and if another operation has taken the room in the meantime.
func (e *Engine) create(r *record, hash uint64, key retry.ScopeKey) {
	if key == retry.OverflowKey() {
		e.overflow(r)
		return
	}
	ss, now := &e.scopes, e.config.Clock.Now()
	var few [fewVictims]*scope
	var fresh *scope
	for range fewLooks {
		s, victims, place := ss.look(hash, &key, now, few[:0])
		if r.scope = s; s != nil {
			return
		}
		victims = slices.DeleteFunc(victims, func(s *scope) bool { return s.keeps(now) })
		if place == afterSweep {
			e.tellEvicted(r, ss.remove(victims))
			continue
		}
		if place == ofAnother && len(victims) == 0 {
			break
		}
		if fresh == nil {
			fresh = e.newScope(key)
			fresh.hash = hash
		}
		var evicted []*scope
		if r.scope, evicted = ss.put(fresh, victims); r.scope != nil {
			e.tellEvicted(r, evicted)
			e.tellCreated(r, fresh)
			return
		}
	}
	e.overflow(r)
}

// overflow gives an operation the scope that keys without a place share.
func (e *Engine) overflow(r *record) {
	ss := &e.scopes
	var fresh *scope
	if r.scope = ss.overflow.Load(); r.scope == nil {
		fresh = e.newScope(retry.OverflowKey())
		fresh.use.Store(gone) // so that an operation looks for a place of its own each time
		ss.overflow.CompareAndSwap(nil, fresh)
		r.scope = ss.overflow.Load()
	}
	ss.overflowed.Add(1)
	e.tellCreated(r, fresh)
}

// hash hashes what tells many scopes apart. A resource is rarely in many services and
// regions, so these count where there is none.
func (ss *scopes) hash(k *retry.ScopeKey) uint64 {
	h := maphash.String(ss.seed, k.Resource)
	if k.Resource == "" {
		h = maphash.String(ss.seed, k.Service)*31 + maphash.String(ss.seed, k.Region)
	}
	for _, part := range [...]string{k.Scope, k.Account, k.Operation} {
		if h *= 31; part != "" {
			h += maphash.String(ss.seed, part)
		}
	}
	return h
}

// find needs no lock. It may miss a scope while the table grows.
func (ss *scopes) find(hash uint64, key *retry.ScopeKey) *scope {
	table := *ss.table.Load()
	for s := table[hash&uint64(len(table)-1)].Load(); s != nil; s = s.next.Load() {
		if s.hash == hash && s.key == *key {
			return s
		}
	}
	return nil
}

// place is where a new scope may go.
type place uint8

const (
	free       place = iota
	ofAnother        // of a victim
	afterSweep       // wherever that leaves one
)

// look returns the scope of a key if it is there by now. If not, it says where a new one
// may go, and appends to victims the scopes that may go for that if they do not have to
// stay: a few if there is no room, and once in each idle time all that were not used since
// the last sweep.
func (ss *scopes) look(
	hash uint64, key *retry.ScopeKey, now time.Time, victims []*scope,
) (found *scope, _ []*scope, where place) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.find(hash, key); s != nil && s.touch() {
		return s, nil, free
	}
	all, passed := len(ss.ring), now.Sub(ss.swept)
	if passed >= ss.idle || instant.OfAnotherClock(now, ss.swept) {
		ss.swept = now
	}
	switch {
	case passed >= ss.idle:
		return nil, ss.turnLocked(all, all, victims), afterSweep
	case all >= ss.limit:
		return nil, ss.turnLocked(2*all, fewVictims, victims), ofAnother
	default:
		return nil, nil, free
	}
}

// turnLocked moves the hand on, by so many steps or until it has found enough victims: a
// scope that was used since the hand came by last is not one, this time. In a second
// round, which is only for few victims, those of the first do not count again.
func (ss *scopes) turnLocked(steps, enough int, victims []*scope) []*scope {
	for ; steps > 0 && len(victims) < enough; steps-- {
		if ss.hand >= len(ss.ring) {
			ss.hand = 0
		}
		s := ss.ring[ss.hand]
		ss.hand++
		if !s.use.CompareAndSwap(used, unused) && !slices.Contains(victims[:min(len(victims), fewVictims)], s) {
			victims = append(victims, s)
		}
	}
	return victims
}

// remove removes the victims that are still not in use, and returns them.
func (ss *scopes) remove(victims []*scope) []*scope {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return slices.DeleteFunc(victims, func(s *scope) bool { return !ss.removeLocked(s) })
}

// put puts a new scope into the table. Where there is no room it removes one of the
// victims, if it is still not in use. It returns the scope of that key by now, which may
// be another one, or nil if there is no room still, and what it has removed.
func (ss *scopes) put(fresh *scope, victims []*scope) (s *scope, evicted []*scope) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s = ss.find(fresh.hash, &fresh.key); s != nil && s.touch() {
		return s, nil
	}
	for i, victim := range victims {
		if len(ss.ring) >= ss.limit && ss.removeLocked(victim) {
			evicted = victims[i : i+1]
		}
	}
	if len(ss.ring) >= ss.limit {
		return nil, nil
	}
	ss.addLocked(fresh)
	return fresh, evicted
}

func (ss *scopes) addLocked(s *scope) {
	table := *ss.table.Load()
	if len(ss.ring) >= len(table) {
		table = grown(table)
		ss.table.Store(&table)
	}
	s.place = len(ss.ring)
	ss.ring = append(ss.ring, s)
	push(table, s)
}

// removeLocked removes a scope if it is not in use, and reports that.
func (ss *scopes) removeLocked(s *scope) bool {
	if !s.use.CompareAndSwap(unused, gone) {
		return false
	}
	last := len(ss.ring) - 1
	ss.ring[s.place], ss.ring[last].place = ss.ring[last], s.place
	ss.ring[last] = nil
	ss.ring = ss.ring[:last]
	table := *ss.table.Load()
	link := &table[s.hash&uint64(len(table)-1)]
	for link.Load() != s {
		link = &link.Load().next
	}
	link.Store(s.next.Load()) // a reader that is at s goes on from there
	ss.evicted.Add(1)
	return true
}

// grown returns a table with twice as many chains. A reader that is in one of the old
// chains may miss scopes, but comes to an end.
func grown(old []atomic.Pointer[scope]) []atomic.Pointer[scope] {
	table := make([]atomic.Pointer[scope], 2*len(old))
	for i := range old {
		for s := old[i].Load(); s != nil; {
			next := s.next.Load()
			push(table, s)
			s = next
		}
	}
	return table
}

func push(table []atomic.Pointer[scope], s *scope) {
	chain := &table[s.hash&uint64(len(table)-1)]
	s.next.Store(chain.Load())
	chain.Store(s)
}

// listing is all scopes that can be shown, in the order in which they lie in memory, and
// the place of each by name. It is right for as long as no more were evicted and there are
// as many.
type listing struct {
	evicted uint64
	scopes  []*scope
	places  []int
}

// list returns the listing of now, for reading only. To sort takes longer than to read, so
// it is done only when there are other scopes than the last time.
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
	quota   *quota.Quota
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
	s := &scope{key: key, name: key.String(), quota: quota.New(e.config.Quota, e.start, e.config.Clock)}
	s.use.Store(used)
	if e.send.New != nil {
		s.limiter, s.err = e.send.New(key, e.start)
	}
	return s
}

// touch says that the scope is in use, and reports whether it is still in the table.
// An operation that uses one that is not, because it began before, goes on with it.
func (s *scope) touch() bool {
	if use := s.use.Load(); use != unused {
		return use == used
	}
	return s.use.CompareAndSwap(unused, used) || s.use.Load() == used
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
