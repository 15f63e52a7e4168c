package engine

import (
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/retry"
)

const (
	defaultMaxScopes = 10_000
	defaultScopeIdle = 5 * time.Minute

	// anotherClock is how much older than the last sweep an instant is that belongs to
	// another clock, such as that of a testing/synctest bubble: the idle time counts anew
	// from there.
	anotherClock = 365 * 24 * time.Hour

	// fewVictims is how many scopes a new one that needs room tries to replace, and
	// fewLooks how often it looks for them.
	fewVictims, fewLooks = 4, 3

	// every is the need of a sweep.
	every = math.MaxInt
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
// again after a sweep that has found nothing to remove, and when another operation has
// taken the room in the meantime.
func (e *Engine) create(r *record, hash uint64, key retry.ScopeKey) {
	if key == retry.OverflowKey() {
		e.overflow(r)
		return
	}
	ss, now := &e.scopes, e.config.Clock.Now()
	var few [fewVictims]*scope
	var fresh *scope
	for range fewLooks {
		found, victims, need := ss.look(hash, &key, now, few[:0])
		if found != nil {
			r.scope = found
			return
		}
		idle := victims[:0]
		for _, s := range victims {
			if !s.keeps(now) {
				idle = append(idle, s)
			}
		}
		if need > 0 && len(idle) == 0 {
			if need == 1 {
				break
			}
			continue
		}
		if fresh == nil {
			fresh = e.newScope(key)
			fresh.hash = hash
		}
		if s, evicted := ss.replace(idle, need, fresh); s != nil {
			r.scope = s
			e.tellScopes(r, evicted, s == fresh)
			return
		}
	}
	e.overflow(r)
}

// overflow gives an operation the scope that keys without a place share.
func (e *Engine) overflow(r *record) {
	ss, created := &e.scopes, false
	if r.scope = ss.overflow.Load(); r.scope == nil {
		fresh := e.newScope(retry.OverflowKey())
		fresh.use.Store(gone) // so that an operation looks for a place of its own each time
		created = ss.overflow.CompareAndSwap(nil, fresh)
		r.scope = ss.overflow.Load()
	}
	ss.overflowed.Add(1)
	e.tellScopes(r, nil, created)
}

// hash looks closely at what tells many scopes apart. Of services and regions there are
// few.
func (ss *scopes) hash(k *retry.ScopeKey) uint64 {
	h := maphash.String(ss.seed, k.Resource) + uint64(len(k.Service))<<8 + uint64(len(k.Region))
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

// look returns the scope of a key if it is there by now. If not, it appends to victims
// the scopes that may go if they do not have to stay, and returns how many of them need
// to: none if there is room, one if there is not, every one after a sweep.
func (ss *scopes) look(
	hash uint64, key *retry.ScopeKey, now time.Time, victims []*scope,
) (found *scope, _ []*scope, need int) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.find(hash, key); s != nil && s.touch() {
		return s, nil, 0
	}
	all := len(ss.ring)
	passed := now.Sub(ss.swept)
	if passed < -anotherClock {
		ss.swept = now
	}
	switch {
	case passed >= ss.idle:
		ss.swept = now
		return nil, ss.turnLocked(all, all, victims), every
	case all >= ss.limit:
		return nil, ss.turnLocked(2*all, fewVictims, victims), 1
	default:
		return nil, nil, 0
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

// replace puts a new scope into the table, after removing as many victims as need to go,
// if they are still not in use. It returns the scope of that key by now, which may be
// another one, or nil if there is no room, and what it has removed.
func (ss *scopes) replace(victims []*scope, need int, fresh *scope) (s *scope, evicted []*scope) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s = ss.find(fresh.hash, &fresh.key); s != nil && s.touch() {
		return s, nil
	}
	for _, victim := range victims {
		if len(evicted) < need && victim.use.CompareAndSwap(unused, gone) {
			ss.removeLocked(victim)
			evicted = append(evicted, victim)
		}
	}
	ss.evicted.Add(uint64(len(evicted)))
	if len(ss.ring) >= ss.limit {
		return nil, evicted
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

func (ss *scopes) removeLocked(s *scope) {
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

// all returns the scopes that there are.
func (ss *scopes) all() []*scope {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	all := append(make([]*scope, 0, len(ss.ring)+2), ss.whole)
	if s := ss.overflow.Load(); s != nil {
		all = append(all, s)
	}
	return append(all, ss.ring...)
}
