package scope

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/retry"
)

const (
	defaultMax  = 10_000
	defaultIdle = 5 * time.Minute
	shardCount  = 64
)

// Config says what scopes are made of, and how many there are.
type Config struct {
	Clock clock.Clock
	Start time.Time // when the scopes begin, whenever they are made
	Quota quota.Config
	Pool  quota.Config // of the pool beside all scopes but that of the zero key
	// NewLimiter makes the limiter of a scope. Nil means standard mode.
	NewLimiter func(key retry.ScopeKey, start time.Time) (Limiter, error)
	Max        int           // zero: defaultMax
	Idle       time.Duration // zero: defaultIdle
}

// Table finds the scope of a key. One rule bounds their number: in its turn, a shard loses each
// scope that was not used since its last turn and does not have to stay. All shards have a turn once
// in each idle time. When there is no place for a new scope, they have turns until there is one. If
// all scopes were used, a second round takes the first one that does not have to stay.
//
// Shards have turns only when a scope is created, so that there is no timer.
type Table struct {
	Whole      *Scope // of the zero key; it stays
	Pool       *quota.Quota
	config     Config
	overflow   atomic.Pointer[Scope] // what keys without a place share; it stays
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
	scopes atomic.Pointer[map[uint64]*Scope]
}

// NewTable returns a table with the scope of the zero key.
func NewTable(config Config) *Table {
	config.Max, config.Idle = cmp.Or(config.Max, defaultMax), cmp.Or(config.Idle, defaultIdle)
	t := &Table{config: config, seed: maphash.MakeSeed(), swept: config.Start}
	t.Pool = quota.New(config.Pool, config.Start, config.Clock)
	for i := range t.shards {
		t.shards[i].scopes.Store(&map[uint64]*Scope{})
	}
	t.Whole = t.newScope(retry.ScopeKey{})
	return t
}

// Find returns the scope of a key and marks it as used; nil if there is none.
func (t *Table) Find(key *retry.ScopeKey) *Scope {
	if key.IsZero() {
		return t.Whole
	}
	hash := t.hash(key)
	if s := (*t.shard(hash).scopes.Load())[hash]; s != nil && s.Key == *key && s.Touch() {
		return s
	}
	return nil
}

// Create returns a new scope for a key, or what keys without a place share, which may be new too. It
// calls evicted for each scope that had to go. No lock is held while code of the user makes a limiter,
// so that another operation may have created the scope by then, or have taken the place.
func (t *Table) Create(key retry.ScopeKey, evicted func(s *Scope)) (s *Scope, created bool) {
	var fresh *Scope
	for key != retry.OverflowKey() && t.makeRoom(evicted) {
		if fresh == nil {
			fresh = t.newScope(key)
		}
		if s = t.add(fresh); s != nil && s.Key == key {
			return s, s == fresh
		}
		if s != nil {
			break // its key has the same hash
		}
	}
	if s = t.overflow.Load(); s == nil {
		fresh = t.newScope(retry.OverflowKey())
		fresh.use.Store(gone) // so that each operation looks for a place of its own again
		created = t.overflow.CompareAndSwap(nil, fresh)
		s = t.overflow.Load()
	}
	t.overflowed.Add(1)
	return s, created
}

// makeRoom evicts scopes, see Table, and reports whether there is a place.
func (t *Table) makeRoom(evicted func(s *Scope)) bool {
	now := t.config.Clock.Now()
	first, sweep, full := t.startTurns(now)
	if full {
		return false
	}
	var soonest time.Time // when the first of the scopes that have to stay need not
	for turn := range 2 * shardCount {
		if (!sweep || turn >= shardCount) && t.hasRoom(first+turn) {
			return true
		}
		sh := &t.shards[(first+turn)%shardCount]
		unused := sh.unused()
		may := slices.DeleteFunc(unused, func(s *Scope) bool {
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
		for _, s := range t.remove(sh, may) {
			evicted(s)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken < t.config.Max {
		return true
	}
	t.full = soonest
	return false
}

// startTurns returns the shard that has the next turn, whether all shards have to have one, and whether
// it is known that no scope may go.
func (t *Table) startTurns(now time.Time) (first int, sweep, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := t.full.Sub(now); t.taken >= t.config.Max && left > 0 && left <= longestStay { // more after a clock has gone back
		return 0, false, true
	}
	if sweep = now.Sub(t.swept) >= t.config.Idle; sweep || instant.OfAnotherClock(now, t.swept) {
		t.swept = now
	}
	return t.next, sweep, false
}

// hasRoom reports whether there is a place. If not, the given shard has a turn.
func (t *Table) hasRoom(next int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken < t.config.Max {
		return true
	}
	t.next = (next + 1) % shardCount
	return false
}

// add puts a new scope into its place. It returns the scope that has the place if there is one already,
// and nil if there is no room.
func (t *Table) add(fresh *Scope) *Scope {
	t.mu.Lock()
	defer t.mu.Unlock()
	sh := t.shard(fresh.hash)
	if s := (*sh.scopes.Load())[fresh.hash]; s != nil {
		s.use.Store(used)
		return s
	}
	if t.taken >= t.config.Max {
		return nil
	}
	t.taken++
	changed := maps.Clone(*sh.scopes.Load())
	changed[fresh.hash] = fresh
	sh.scopes.Store(&changed)
	return fresh
}

// remove removes those of some scopes of a shard that are still not in use, and returns them.
func (t *Table) remove(sh *shard, some []*Scope) (removed []*Scope) {
	if len(some) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := maps.Clone(*sh.scopes.Load())
	removed = slices.DeleteFunc(some, func(s *Scope) bool { return !s.use.CompareAndSwap(unused, gone) })
	for _, s := range removed {
		delete(changed, s.hash)
	}
	sh.scopes.Store(&changed)
	t.taken -= len(removed)
	t.evicted.Add(uint64(len(removed)))
	return removed
}

// All returns the scopes that can be shown, sorted by name.
func (t *Table) All() []*Scope {
	all := []*Scope{t.Whole}
	if s := t.overflow.Load(); s != nil {
		all = append(all, s)
	}
	for i := range t.shards {
		all = slices.AppendSeq(all, maps.Values(*t.shards[i].scopes.Load()))
	}
	all = slices.DeleteFunc(all, func(s *Scope) bool { return s.Err != nil })
	slices.SortFunc(all, func(a, b *Scope) int { return strings.Compare(a.name, b.name) })
	return all
}

// Counts returns how often a key had no place, and how many scopes were evicted.
func (t *Table) Counts() (overflowed, evicted uint64) { return t.overflowed.Load(), t.evicted.Load() }

// IsShared reports whether operations of all services are in a scope.
func (t *Table) IsShared(s *Scope) bool { return s == t.Whole || s == t.overflow.Load() }

func (t *Table) hash(k *retry.ScopeKey) (hash uint64) {
	for _, part := range [...]*string{&k.Resource, &k.Service, &k.Region, &k.Scope, &k.Account, &k.Name} {
		if hash *= 31; *part != "" {
			hash += maphash.String(t.seed, *part)
		}
	}
	return hash
}

func (t *Table) shard(hash uint64) *shard { return &t.shards[hash%shardCount] }

// unused returns the scopes that were not used since the last call.
func (sh *shard) unused() (found []*Scope) {
	for _, s := range *sh.scopes.Load() {
		if !s.use.CompareAndSwap(used, unused) {
			found = append(found, s)
		}
	}
	return found
}
