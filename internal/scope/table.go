package scope

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

const (
	defaultMax  = 10_000
	defaultIdle = 5 * time.Minute

	// throttledFor is how long after its last throttle a scope counts as throttled. After that nothing
	// is lost: CUBIC then allows more than 10^7 attempts a second from any rate, and a limit that Hold has
	// found is old.
	throttledFor = 10 * time.Minute
	// owingFor is how long after its last use a scope stays that can pay for a retry, but has fewer tokens
	// than a new one. So evictions give each place of the table at most one full quota in that time.
	owingFor = time.Hour
	// askAgain is how long after all scopes had to stay they are asked again, which takes milliseconds.
	askAgain = 10 * time.Second
)

// Config describes scopes and their number.
type Config struct {
	Clock clock.Clock
	Start time.Time // when all scopes begin, even those made later
	Quota quota.Config
	Costs []int        // of retries of each kind
	Pool  quota.Config // of the pool of all scopes except that of the zero key
	// NewLimiter makes the limiter of a scope. Its error says what is wrong with the limiter, which is used
	// all the same. Nil means standard mode.
	NewLimiter func(key retry.ScopeKey, start time.Time) (Limiter, error)
	Max        int           // zero: defaultMax
	Idle       time.Duration // zero: defaultIdle
}

// Table finds the scope of a key. It bounds the number of scopes with the clock algorithm: a cursor
// visits them in turn, and evicts those that were not used since its last visit, unless they
// must stay. It visits all of them once in each idle time. If there is no place for a new scope, it
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
	groups     [1024]atomic.Pointer[group] // of buckets: lists of the scopes that have a place; finding one needs no lock
	overflowed atomic.Uint64
	evicted    atomic.Uint64

	mu     sync.Mutex // guards what follows, and changes of the buckets
	scopes []*Scope   // the scopes that have a place
	cursor int        // the place that it visits next
	swept  time.Time  // when the cursor last visited all because an idle time had passed
	asked  time.Time  // when all scopes last had to stay; before Config.Start, if never
}

// group is a part of the buckets. It is made when it is needed first, because most strategies have a few scopes.
type group [32]atomic.Pointer[Scope]

// NewTable returns a table with the scope of the zero key.
func NewTable(config Config) *Table {
	config.Max, config.Idle = cmp.Or(config.Max, defaultMax), cmp.Or(config.Idle, defaultIdle)
	t := &Table{config: config, seed: maphash.MakeSeed(), swept: config.Start, asked: config.Start.Add(-askAgain)}
	t.Pool = quota.New(config.Pool, config.Start, config.Clock)
	t.initial = max(min(config.Quota.Initial, config.Quota.Capacity), 0)
	for _, cost := range config.Costs {
		if cost <= t.initial {
			t.dearest = max(t.dearest, cost)
		}
	}
	t.Whole = t.newScope(retry.ScopeKey{})
	t.bucket(t.Whole.hash).Store(t.Whole)
	return t
}

// Find returns the scope of a key and marks it as used; nil if there is none.
func (t *Table) Find(key *retry.ScopeKey) *Scope {
	if s := t.find(t.hash(key), key); s != nil && s.Touch() {
		return s
	}
	return nil
}

func (t *Table) find(hash uint64, key *retry.ScopeKey) *Scope {
	s := t.bucket(hash).Load()
	for s != nil && (s.hash != hash || s.Key != *key) {
		s = s.next.Load()
	}
	return s
}

// bucket returns the list for a hash.
func (t *Table) bucket(hash uint64) *atomic.Pointer[Scope] {
	at := &t.groups[hash%uint64(len(t.groups))]
	for at.Load() == nil {
		at.CompareAndSwap(nil, new(group))
	}
	return &at.Load()[hash/uint64(len(t.groups))%uint64(len(group{}))]
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
		if s = t.add(fresh); s != nil {
			return s, s == fresh
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

// makeRoom evicts scopes, see Table, and reports whether there is a place.
func (t *Table) makeRoom(evicted func(s *Scope)) bool {
	now := t.config.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fullLocked() && within(now, t.asked, askAgain) {
		return false
	}
	sweep := 0
	if !within(now, t.swept, t.config.Idle) {
		t.swept, t.cursor, sweep = now, 0, len(t.scopes)
	}
	for n := 0; len(t.scopes) > 0 && (n < sweep || t.fullLocked() && n < sweep+2*t.config.Max); n++ {
		t.cursor %= len(t.scopes)
		s, stays := t.scopes[t.cursor], true
		t.cursor++
		if s.use.CompareAndSwap(used, unused) {
			s.quiet.Store(int64(now.Sub(t.config.Start)))
			continue
		}
		t.unlocked(func() { stays = t.mustStay(s, now) })
		if !stays && s.use.CompareAndSwap(unused, gone) { // if it is not in use again
			t.removeLocked(s)
			t.unlocked(func() { evicted(s) })
		}
	}
	if t.fullLocked() {
		t.asked = now
	}
	return !t.fullLocked()
}

func (t *Table) fullLocked() bool { return len(t.scopes) >= t.config.Max }

// unlocked calls a function without the lock, because code of the user may run in it.
func (t *Table) unlocked(f func()) {
	t.mu.Unlock()
	defer t.mu.Lock()
	f()
}

// mustStay reports whether a scope must stay although it is not in use: an operation waits in it, or it was
// throttled recently, or it has no send token, or fewer tokens in its quota than a new one. A new scope would have
// them at once, so evictions would let attempts exceed the send rate, and retries the quota. A scope that cannot
// pay for a retry stays as long as that.
func (t *Table) mustStay(s *Scope, now time.Time) bool {
	if s.Limiter != nil {
		expected := s.Limiter.Expected(ratelimit.Request{Part: true}) // first, because it brings the state up to now
		state := s.Limiter.State()
		throttled := !state.LastThrottle.IsZero() && now.Sub(state.LastThrottle) < throttledFor
		if expected > 0 || state.Waiting > 0 || throttled {
			return true
		}
	}
	have, quiet := s.Quota.Available(), now.Sub(t.config.Start)-time.Duration(s.quiet.Load())
	return s.Quota.Waiting() > 0 || have < t.dearest || have < t.initial && quiet.Abs() < owingFor
}

// within reports whether less than d has passed since an instant, and the clock has not gone back.
func within(now, since time.Time, d time.Duration) bool {
	return now.Sub(since) < d && !instant.WentBack(now, since)
}

// add puts a new scope into its place. It returns the scope that is already there, if any, and nil if
// there is no room.
func (t *Table) add(fresh *Scope) *Scope {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.find(fresh.hash, &fresh.Key); s != nil {
		s.use.Store(used)
		return s
	}
	if len(t.scopes) >= t.config.Max {
		return nil
	}
	fresh.place = len(t.scopes)
	t.scopes = append(t.scopes, fresh)
	bucket := t.bucket(fresh.hash)
	fresh.next.Store(bucket.Load())
	bucket.Store(fresh)
	return fresh
}

// removeLocked removes a scope that is gone.
func (t *Table) removeLocked(s *Scope) {
	last := len(t.scopes) - 1
	t.scopes[s.place], t.scopes[last].place = t.scopes[last], s.place
	t.scopes[last] = nil
	t.scopes = t.scopes[:last]
	t.cursor = s.place // of the scope that was the last
	link := t.bucket(s.hash)
	for at := link.Load(); at != s; at = link.Load() {
		link = &at.next
	}
	link.Store(s.next.Load())
	t.evicted.Add(1)
}

// Snapshot returns the state of the pool and of the scopes, sorted by name.
func (t *Table) Snapshot() retry.Snapshot {
	snapshot := retry.Snapshot{
		Pool: t.Pool.Available(), PoolCapacity: t.Pool.Capacity(), Overflowed: t.overflowed.Load(), Evicted: t.evicted.Load(),
	}
	t.mu.Lock()
	all := append([]*Scope{t.Whole}, t.scopes...)
	t.mu.Unlock()
	if s := t.overflow.Load(); s != nil {
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *Scope) int { return strings.Compare(a.name, b.name) })
	snapshot.Scopes = make([]retry.ScopeSnapshot, len(all))
	for i, s := range all {
		snapshot.Scopes[i] = s.Snapshot()
	}
	return snapshot
}

func (t *Table) hash(k *retry.ScopeKey) (hash uint64) {
	for _, part := range [...]*string{&k.Resource, &k.Service, &k.Region, &k.Scope, &k.Account, &k.Name} {
		if hash *= 31; *part != "" {
			hash += maphash.String(t.seed, *part)
		}
	}
	return hash
}
