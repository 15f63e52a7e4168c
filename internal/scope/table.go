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

// Config describes scopes and their number.
type Config struct {
	Clock clock.Clock
	Start time.Time // when all scopes begin, even those made later
	Quota quota.Config
	Costs []int        // of retries of each kind
	Pool  quota.Config // of the pool of all scopes except that of the zero key
	// NewLimiter makes the limiter of a scope. Nil means standard mode.
	NewLimiter func(key retry.ScopeKey, start time.Time) (Limiter, error)
	Max        int           // zero: defaultMax
	Idle       time.Duration // zero: defaultIdle
}

// Table finds the scope of a key. It bounds the number of scopes with the clock algorithm: a cursor
// visits them in turn, and evicts those that were not used since its last visit, unless staysUntil or
// owesUntil keeps them. It visits all of them once in each idle time. If there is no place for a new scope, it
// continues until there is one, or until it has visited each scope twice.
//
// The cursor moves only when a scope is created, so it needs no timer.
type Table struct {
	Whole      *Scope // of the zero key; it stays
	Pool       *quota.Quota
	config     Config
	initial    int                   // tokens of a new scope
	dearest    int                   // the largest cost of a retry that these can pay
	overflow   atomic.Pointer[Scope] // shared by keys without a place; it stays
	seed       maphash.Seed
	shards     [shardCount]shard
	overflowed atomic.Uint64
	evicted    atomic.Uint64

	mu        sync.Mutex // guards what follows, and changes of shards
	scopes    []*Scope   // the scopes that have a place
	cursor    int        // the place that it visits next
	swept     time.Time  // when the cursor last began a round
	fullUntil time.Time  // until when all scopes must stay
}

// shard has the scopes whose hashes have the same remainder. Its map is never modified, only
// replaced, so finding a scope needs no lock. A key whose hash is taken by another key shares the
// overflow: among 10,000 keys that happens once in 10^11 programs.
type shard struct {
	scopes atomic.Pointer[map[uint64]*Scope]
}

// NewTable returns a table with the scope of the zero key.
func NewTable(config Config) *Table {
	config.Max, config.Idle = cmp.Or(config.Max, defaultMax), cmp.Or(config.Idle, defaultIdle)
	t := &Table{config: config, seed: maphash.MakeSeed(), swept: config.Start}
	t.Pool = quota.New(config.Pool, config.Start, config.Clock)
	t.initial = max(min(config.Quota.Initial, config.Quota.Capacity), 0)
	for _, cost := range config.Costs {
		if cost <= t.initial {
			t.dearest = max(t.dearest, cost)
		}
	}
	for i := range t.shards {
		t.shards[i].scopes.Store(&map[uint64]*Scope{})
	}
	t.Whole = t.newScope(retry.ScopeKey{})
	return t
}

// Find returns the scope of a key and marks it as used; nil if there is none.
func (t *Table) Find(key *retry.ScopeKey) *Scope {
	if *key == (retry.ScopeKey{}) {
		return t.Whole
	}
	hash := t.hash(key)
	if s := t.shard(hash).get()[hash]; s != nil && s.Key == *key && s.Touch() {
		return s
	}
	return nil
}

// Create returns a new scope for a key, or the overflow if there is no place, which may be new too. It
// calls evicted for each evicted scope. It holds no lock while code of the user makes a limiter, so
// another operation may create the scope or take the place meanwhile.
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
			break // another key has the same hash
		}
	}
	if s = t.overflow.Load(); s == nil {
		fresh = t.newScope(retry.OverflowKey())
		fresh.use.Store(gone) // so that each operation looks for its own place again
		created = t.overflow.CompareAndSwap(nil, fresh)
		s = t.overflow.Load()
	}
	t.overflowed.Add(1)
	return s, created
}

// makeRoom evicts scopes, see Table, and reports whether there is a place. It holds no lock while
// it asks a scope whether it must stay, because code of the user may answer.
func (t *Table) makeRoom(evicted func(s *Scope)) bool {
	now := t.config.Clock.Now()
	steps, full := t.sweep(now)
	if full {
		return false
	}
	var soonest time.Time // when the first of the scopes that must stay may go
	evict := func(some []*Scope) {
		some = slices.DeleteFunc(some, func(s *Scope) bool {
			until := later(s.staysUntil(now), t.owesUntil(s, now))
			stays := until.After(now)
			if stays && (soonest.IsZero() || until.Before(soonest)) {
				soonest = until
			}
			return stays
		})
		for _, s := range t.remove(some) {
			evicted(s)
		}
	}
	evict(t.unused(now, &steps, steps))
	for steps = 2 * t.config.Max; !t.hasRoom(); {
		some := t.unused(now, &steps, 1)
		if len(some) == 0 {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.fullUntil = later(soonest, now.Add(askAgain)) // so that all are asked at most once in that time
			return len(t.scopes) < t.config.Max
		}
		evict(some)
	}
	return true
}

// owesUntil returns until when a scope must stay because a new one would have more tokens, so that evictions
// would let retries exceed the quota. It stays for as long as it cannot pay for a retry.
func (t *Table) owesUntil(s *Scope, now time.Time) time.Time {
	switch have := s.Quota.Available(now); {
	case have >= t.initial:
		return now
	case have < t.dearest:
		return now.Add(askAgain)
	}
	quiet := now.Sub(t.config.Start) - time.Duration(s.quiet.Load())
	if quiet.Abs() >= owingFor { // or the clock is another one
		return now
	}
	return now.Add(owingFor - quiet)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sweep returns how many steps the cursor must go because an idle time has passed, and whether it is
// known that no scope may go.
func (t *Table) sweep(now time.Time) (steps int, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := t.fullUntil.Sub(now); len(t.scopes) >= t.config.Max && left > 0 && left <= longestStay { // more after a clock has gone back
		return 0, true
	}
	passed := now.Sub(t.swept) >= t.config.Idle
	if passed || instant.OfAnotherClock(now, t.swept) {
		t.swept = now
	}
	if !passed {
		return 0, false
	}
	return len(t.scopes), false
}

func (t *Table) hasRoom() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.scopes) < t.config.Max
}

// unused moves the cursor on, by the steps that are left or until it has found enough scopes that were
// not used since it last passed.
func (t *Table) unused(now time.Time, steps *int, enough int) (found []*Scope) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; *steps > 0 && len(found) < enough && len(t.scopes) > 0; *steps-- {
		t.cursor %= len(t.scopes)
		if s := t.scopes[t.cursor]; s.use.CompareAndSwap(used, unused) {
			s.quiet.Store(int64(now.Sub(t.config.Start)))
		} else {
			found = append(found, s)
		}
		t.cursor++
	}
	return found
}

// add puts a new scope into its place. It returns the scope that is already there, if any, and nil if
// there is no room.
func (t *Table) add(fresh *Scope) *Scope {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.shard(fresh.hash).get()[fresh.hash]; s != nil {
		s.use.Store(used)
		return s
	}
	if len(t.scopes) >= t.config.Max {
		return nil
	}
	fresh.place = len(t.scopes)
	t.scopes = append(t.scopes, fresh)
	changed := maps.Clone(t.shard(fresh.hash).get())
	changed[fresh.hash] = fresh
	t.shard(fresh.hash).scopes.Store(&changed)
	return fresh
}

// remove removes the scopes that are still not in use, and returns them.
func (t *Table) remove(some []*Scope) (removed []*Scope) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := map[*shard]map[uint64]*Scope{}
	for _, s := range some {
		if !s.use.CompareAndSwap(unused, gone) {
			continue
		}
		removed = append(removed, s)
		sh, last := t.shard(s.hash), len(t.scopes)-1
		if changed[sh] == nil {
			changed[sh] = maps.Clone(sh.get())
		}
		delete(changed[sh], s.hash)
		t.scopes[s.place], t.scopes[last].place = t.scopes[last], s.place
		t.scopes[last] = nil
		t.scopes = t.scopes[:last]
	}
	for sh, scopes := range changed {
		sh.scopes.Store(&scopes)
	}
	t.evicted.Add(uint64(len(removed)))
	return removed
}

// All returns the scopes, sorted by name.
func (t *Table) All() []*Scope {
	t.mu.Lock()
	all := append([]*Scope{t.Whole}, t.scopes...)
	t.mu.Unlock()
	if s := t.overflow.Load(); s != nil {
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *Scope) int { return strings.Compare(a.name, b.name) })
	return all
}

// Counts returns how often a key had no place, and how many scopes were evicted.
func (t *Table) Counts() (overflowed, evicted uint64) { return t.overflowed.Load(), t.evicted.Load() }

func (t *Table) hash(k *retry.ScopeKey) (hash uint64) {
	for _, part := range [...]*string{&k.Resource, &k.Service, &k.Region, &k.Scope, &k.Account, &k.Name} {
		if hash *= 31; *part != "" {
			hash += maphash.String(t.seed, *part)
		}
	}
	return hash
}

func (t *Table) shard(hash uint64) *shard { return &t.shards[hash%shardCount] }

func (sh *shard) get() map[uint64]*Scope { return *sh.scopes.Load() }
