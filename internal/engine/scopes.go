package engine

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/retry"
)

const (
	defaultMaxScopes = 10_000
	defaultScopeIdle = 5 * time.Minute

	// fewVictims is how many scopes a new scope that needs room tries to replace. fewLooks is
	// how often it looks for them.
	fewVictims, fewLooks = 4, 4
)

// scopes finds the scope of a key, without a lock if the scope is there, in a table of
// chains. Two rules bound the number of scopes. Both are applied when a scope is created, so
// that there is no timer:
//
//   - Once in each idle time a sweep removes the scopes that were not used since the sweep
//     before.
//   - When all places are taken, the new scope replaces one that was not used since the hand
//     came by (the second-chance or clock algorithm).
//
// A scope that has to stay (see scope.keeps) is not removed by either.
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
	hand  int        // the index of the next one to look at
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

// create gives an operation a new scope, or the overflow scope if there is no room. It looks
// again after a sweep, and when another operation has taken the room in the meantime.
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
		fresh.use.Store(gone) // so that each operation looks for a place of its own again
		ss.overflow.CompareAndSwap(nil, fresh)
		r.scope = ss.overflow.Load()
	}
	ss.overflowed.Add(1)
	e.tellCreated(r, fresh)
}

// hash hashes the parts of a key that tell many scopes apart. The same resource is rarely in
// many services or regions, so those two count only where there is no resource.
func (ss *scopes) hash(k *retry.ScopeKey) uint64 {
	h := maphash.String(ss.seed, k.Resource)
	if k.Resource == "" {
		h = maphash.String(ss.seed, k.Service)*31 + maphash.String(ss.seed, k.Region)
	}
	for _, part := range [...]string{k.Scope, k.Account, k.Name} {
		if h *= 31; part != "" {
			h += maphash.String(ss.seed, part)
		}
	}
	return h
}

// find returns the scope of a key if it is in the table. It needs no lock. While the table
// grows, it may miss a scope.
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
	ofAnother        // the place of a victim
	afterSweep       // any place that the sweep leaves free
)

// look returns the scope of a key if it is there by now. If not, it says where a new scope may
// go, and appends to victims the scopes that may be removed if they do not have to stay: a few
// if there is no room, and once in each idle time all that were not used since the last sweep.
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

// turnLocked moves the hand on, by so many steps or until it has found enough victims. A scope
// that was used since the hand came by last is not a victim this time. There is a second round
// only for few victims; those of the first round do not count again.
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

// remove removes the victims that are still not in use, and returns those.
func (ss *scopes) remove(victims []*scope) []*scope {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return slices.DeleteFunc(victims, func(s *scope) bool { return !ss.removeLocked(s) })
}

// put puts a new scope into the table. If there is no room, it removes a victim that is still
// not in use. It returns the scope of the key, which may be one that another operation has put
// there, or nil if there is still no room; and what it has removed.
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

// removeLocked removes a scope if it is not in use, and reports whether it did.
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
	link.Store(s.next.Load()) // s keeps its next, for a reader that is at s
	ss.evicted.Add(1)
	return true
}

// grown returns a table with twice as many chains. A reader of an old chain may miss scopes,
// but comes to an end.
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
