package engine

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/retry"
)

const (
	defaultMaxScopes = 10_000
	defaultScopeIdle = 5 * time.Minute
	shardCount       = 64
)

// scopes finds the scope of a key. One rule bounds their number: in its turn, a shard loses each
// scope that was not used since its last turn and does not have to stay. All shards have a turn once
// in each idle time. When there is no place for a new scope, they have turns until there is one. If
// all scopes were used, a second round takes the first one that does not have to stay.
//
// Shards have turns only when a scope is created, so that there is no timer.
type scopes struct {
	whole      *scope                // of the zero key; it stays
	overflow   atomic.Pointer[scope] // what keys without a place share; it stays
	limit      int
	idle       time.Duration
	seed       maphash.Seed
	shards     [shardCount]shard
	overflowed atomic.Uint64
	evicted    atomic.Uint64

	mu    sync.Mutex // guards what follows, and changes of shards
	taken int        // places
	next  int        // the shard that has the next turn
	swept time.Time  // when all shards had a turn
	full  time.Time  // until when all scopes have to stay
}

// shard has the scopes whose hashes have the same remainder. Its map never changes: another one takes
// its place, so that no lock is needed to find a scope. A key with the hash of another one shares the
// overflow: of 10,000 keys two have the same hash once in 10^11 programs.
type shard struct {
	scopes atomic.Pointer[map[uint64]*scope]
}

func (ss *scopes) begin(limit int, idle time.Duration, now time.Time) {
	ss.limit, ss.idle = cmp.Or(limit, defaultMaxScopes), cmp.Or(idle, defaultScopeIdle)
	ss.seed, ss.swept = maphash.MakeSeed(), now
	for i := range ss.shards {
		ss.shards[i].scopes.Store(&map[uint64]*scope{})
	}
}

// enterScope finds the scope of an operation, which may be new.
func (e *Engine) enterScope(r *record) {
	ss, key := &e.scopes, r.op.Key()
	if e.config.Scope != nil {
		key = e.config.Scope(r.op)
	}
	if key.IsZero() {
		r.scope = ss.whole
		return
	}
	hash := ss.hash(&key)
	if r.scope = ss.shard(hash).find(hash, &key); r.scope == nil {
		e.createScope(r, hash, key)
	}
}

// createScope gives an operation a new scope, or the overflow scope if there is no place. No lock is
// held while a limiter is made, so that another operation may have created the scope by then, or
// have taken the place.
func (e *Engine) createScope(r *record, hash uint64, key retry.ScopeKey) {
	var fresh *scope
	for key != retry.OverflowKey() && e.makeRoom(r) {
		if fresh == nil {
			fresh = e.newScope(key)
			fresh.hash = hash
		}
		switch r.scope = e.scopes.add(fresh); {
		case r.scope == nil:
			continue
		case r.scope == fresh:
			e.tellCreated(r)
			return
		case r.scope.key == key:
			return
		}
		break
	}
	e.enterOverflow(r)
}

// enterOverflow gives an operation the scope that keys without a place share.
func (e *Engine) enterOverflow(r *record) {
	ss := &e.scopes
	if r.scope = ss.overflow.Load(); r.scope == nil {
		fresh := e.newScope(retry.OverflowKey())
		fresh.use.Store(gone) // so that each operation looks for a place of its own again
		created := ss.overflow.CompareAndSwap(nil, fresh)
		if r.scope = ss.overflow.Load(); created {
			defer e.tellCreated(r)
		}
	}
	ss.overflowed.Add(1)
}

// makeRoom evicts scopes, see scopes, and reports whether there is a place.
func (e *Engine) makeRoom(r *record) bool {
	ss, now := &e.scopes, e.config.Clock.Now()
	first, sweep, full := ss.startTurns(now)
	if full {
		return false
	}
	var soonest time.Time // when the first of the scopes that have to stay need not
	for turn := range 2 * shardCount {
		if (!sweep || turn >= shardCount) && ss.hasRoom(first+turn) {
			return true
		}
		sh := &ss.shards[(first+turn)%shardCount]
		unused := sh.unused()
		may := slices.DeleteFunc(unused, func(s *scope) bool {
			until := s.staysUntil(now)
			if stays := until.After(now); !stays {
				return false
			}
			if soonest.IsZero() || until.Before(soonest) {
				soonest = until
			}
			return true
		})
		if turn >= shardCount {
			may = may[:min(len(may), 1)]
		}
		for _, s := range ss.remove(sh, may) {
			e.tellEvicted(r, s)
		}
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.taken < ss.limit {
		return true
	}
	ss.full = soonest
	return false
}

// startTurns returns the shard that has the next turn, whether all shards have to have one, and whether
// it is known that no scope may go.
func (ss *scopes) startTurns(now time.Time) (first int, sweep, full bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if left := ss.full.Sub(now); ss.taken >= ss.limit && left > 0 && left <= longestStay { // more after a clock has gone back
		return 0, false, true
	}
	if sweep = now.Sub(ss.swept) >= ss.idle; sweep || instant.OfAnotherClock(now, ss.swept) {
		ss.swept = now
	}
	return ss.next, sweep, false
}

// hasRoom reports whether there is a place. If not, the given shard has a turn.
func (ss *scopes) hasRoom(next int) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.taken < ss.limit {
		return true
	}
	ss.next = (next + 1) % shardCount
	return false
}

// add puts a new scope into its place. It returns the scope that has the place if there is one already,
// and nil if there is no room.
func (ss *scopes) add(fresh *scope) *scope {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	sh := ss.shard(fresh.hash)
	if s := (*sh.scopes.Load())[fresh.hash]; s != nil {
		s.use.Store(used)
		return s
	}
	if ss.taken >= ss.limit {
		return nil
	}
	ss.taken++
	changed := maps.Clone(*sh.scopes.Load())
	changed[fresh.hash] = fresh
	sh.scopes.Store(&changed)
	return fresh
}

// remove removes those of some scopes of a shard that are still not in use, and returns them.
func (ss *scopes) remove(sh *shard, some []*scope) (removed []*scope) {
	if len(some) == 0 {
		return nil
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	changed := maps.Clone(*sh.scopes.Load())
	removed = slices.DeleteFunc(some, func(s *scope) bool { return !s.use.CompareAndSwap(unused, gone) })
	for _, s := range removed {
		delete(changed, s.hash)
	}
	sh.scopes.Store(&changed)
	ss.taken -= len(removed)
	ss.evicted.Add(uint64(len(removed)))
	return removed
}

// all returns the scopes that can be shown, sorted by name.
func (ss *scopes) all() []*scope {
	all := []*scope{ss.whole}
	if s := ss.overflow.Load(); s != nil {
		all = append(all, s)
	}
	for i := range ss.shards {
		all = slices.AppendSeq(all, maps.Values(*ss.shards[i].scopes.Load()))
	}
	all = slices.DeleteFunc(all, func(s *scope) bool { return s.err != nil })
	slices.SortFunc(all, func(a, b *scope) int { return strings.Compare(a.name, b.name) })
	return all
}

// isShared reports whether operations of all services are in a scope.
func (ss *scopes) isShared(s *scope) bool { return s == ss.whole || s == ss.overflow.Load() }

func (ss *scopes) hash(k *retry.ScopeKey) (hash uint64) {
	for _, part := range [...]*string{&k.Resource, &k.Service, &k.Region, &k.Scope, &k.Account, &k.Name} {
		if hash *= 31; *part != "" {
			hash += maphash.String(ss.seed, *part)
		}
	}
	return hash
}

func (ss *scopes) shard(hash uint64) *shard { return &ss.shards[hash%shardCount] }

// find returns the scope of a key and marks it as used; nil if it is not there.
func (sh *shard) find(hash uint64, key *retry.ScopeKey) *scope {
	if s := (*sh.scopes.Load())[hash]; s != nil && s.key == *key && s.touch() {
		return s
	}
	return nil
}

// unused returns the scopes that were not used since the last call.
func (sh *shard) unused() (found []*scope) {
	for _, s := range *sh.scopes.Load() {
		if !s.use.CompareAndSwap(used, unused) {
			found = append(found, s)
		}
	}
	return found
}
