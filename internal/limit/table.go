package limit

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

const (
	defaultMax  = 10_000
	defaultIdle = 5 * time.Minute
	// throttledFor is how long after its last throttle a scope counts as throttled. After that nothing
	// is lost: CUBIC then allows more than 10^7 attempts a second from any rate, and a limit that was
	// found is old.
	throttledFor = 10 * time.Minute
	// owingFor is how long tokens that a scope lacks are owed after an operation has last ended in it, and all debts after
	// a scope has last left one.
	owingFor = time.Hour
	// looks is how many places a new scope looks at for one that can go, so that a full table takes no longer than that.
	looks = 64
)

// TableConfig describes scopes and their number.
type TableConfig struct {
	Clock clock.Clock
	Start time.Time // when all scopes begin, even those made later
	Quota QuotaConfig
	Pool  QuotaConfig // of the pool of all scopes except that of the zero key
	// NewLimiter makes the limiter of a scope, and reports whether it begins with the tokens of a known limit. Its error
	// says what is wrong with the limiter, which is used all the same. Nil means standard mode.
	NewLimiter func(key retry.ScopeKey, start time.Time) (l ratelimit.Limiter, known bool, err error)
	Max        int           // zero: defaultMax
	Idle       time.Duration // zero: defaultIdle
}

// Table finds the scope of a key. It bounds the number of scopes with the clock algorithm: a cursor
// visits them in turn, and evicts those that were not used since its last visit, unless they
// must stay. Once in each idle time all are visited. If there is no place for a new scope, the cursor looks at
// a few twice, until one has gone; if all must stay, the one goes that was throttled longest ago, and waits for nothing.
//
// Scopes are visited only when one is created, so the table needs no timer.
//
// The tokens of the quotas belong to the table, and are as many as its places can hold. A scope that goes leaves what it
// lacks as a debt, of which new scopes take their share: what is owed, divided by the free places. So evictions grant no
// retry, however many keys there are. What neither a quota nor the pool has room for pays the debt.
type Table struct {
	Whole      *Scope // of the zero key; it stays
	Pool       *Quota
	config     TableConfig
	initial    int                   // tokens of a new scope if nothing is owed
	overflow   atomic.Pointer[Scope] // shared by keys without a place; it stays
	seed       maphash.Seed
	groups     atomic.Pointer[groups] // of the scopes that have a place, but for Whole; finding one needs no lock
	overflowed atomic.Uint64
	evicted    atomic.Uint64
	strained   atomic.Uint64 // of scopes that are gone
	refused    atomic.Uint64 // likewise

	mu     sync.Mutex // guards what follows, and changes of the buckets
	scopes []*Scope   // the scopes that have a place
	cursor int        // the place that it visits next
	swept  time.Time  // when all were last visited because an idle time had passed
	lacked time.Time  // when a scope that lacked tokens was last evicted
}

// groups are the buckets: lists of scopes. They are made when they are needed first, because most strategies have a few
// scopes, and one that makes no call with a key has none.
type groups [1024]atomic.Pointer[group]

// group is a part of the buckets.
type group [32]atomic.Pointer[Scope]

// NewTable returns a table with the scope of the zero key.
func NewTable(config TableConfig) *Table {
	config.Max, config.Idle = cmp.Or(config.Max, defaultMax), cmp.Or(config.Idle, defaultIdle)
	t := &Table{config: config, seed: maphash.MakeSeed(), swept: config.Start}
	t.Pool = NewQuota(config.Pool, config.Start, config.Clock)
	t.initial = max(min(config.Quota.Initial, config.Quota.Capacity), 0)
	t.Whole = t.newScope(retry.ScopeKey{})
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
	if hash == 0 && *key == t.Whole.Key { // The zero key has the hash 0.
		return t.Whole
	}
	s := t.bucket(hash).Load()
	for s != nil && (s.hash != hash || s.Key != *key) {
		s = s.next.Load()
	}
	return s
}

// bucket returns the list for a hash.
func (t *Table) bucket(hash uint64) *atomic.Pointer[Scope] {
	all := made(&t.groups)
	return &made(&all[hash%uint64(len(all))])[hash/uint64(len(all))%uint64(len(group{}))]
}

// made returns what a pointer points at, which is made for the first caller.
func made[T any](at *atomic.Pointer[T]) *T {
	for {
		if v := at.Load(); v != nil {
			return v
		}
		at.CompareAndSwap(nil, new(T))
	}
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
	if !within(now, t.lacked, owingFor) {
		t.Pool.Settle(math.MaxInt)
	}
	if !within(now, t.swept, t.config.Idle) {
		t.swept = now
		for i := range slices.Backward(t.scopes) {
			t.visit(i, now, evicted)
		}
	}
	if !t.fullLocked() {
		return true
	}
	var coldest *Scope // throttled longest ago
	var since time.Time
	start, size := t.cursor, min(looks, len(t.scopes))
	t.cursor += size
	for n := 0; n < 2*size && t.fullLocked(); n++ { // the first round finds those in use
		if s, throttled := t.visit(start+n%size, now, evicted); !throttled.IsZero() && (coldest == nil || throttled.Before(since)) {
			coldest, since = s, throttled
		}
	}
	if t.fullLocked() && coldest != nil {
		t.evictLocked(coldest, now, evicted)
	}
	return !t.fullLocked()
}

// visit evicts the scope at a place, counted on from the first after the last, if it is not in use and may go. For one that
// stays only because it was throttled, it returns when that was.
func (t *Table) visit(place int, now time.Time, evicted func(s *Scope)) (s *Scope, throttled time.Time) {
	if len(t.scopes) == 0 {
		return nil, throttled
	}
	s = t.scopes[place%len(t.scopes)]
	if s.use.CompareAndSwap(used, unused) {
		return s, throttled
	}
	stays := false
	t.unlocked(func() { stays, throttled = t.mustStay(s, now) })
	if !stays && throttled.IsZero() {
		t.evictLocked(s, now, evicted)
	}
	return s, throttled
}

func (t *Table) fullLocked() bool { return len(t.scopes) >= t.config.Max }

// unlocked calls a function without the lock, because code of the user may run in it.
func (t *Table) unlocked(f func()) {
	t.mu.Unlock()
	defer t.mu.Lock()
	f()
}

// mustStay reports whether an operation waits in a scope, or it has fewer send tokens than a new one, which evictions would
// grant again. For another it returns when it was throttled, if that was lately.
func (t *Table) mustStay(s *Scope, now time.Time) (stays bool, throttled time.Time) {
	if s.Limiter == nil || s.Quota.Waiting() > 0 {
		return s.Quota.Waiting() > 0, throttled
	}
	expected := s.Limiter.Expected(ratelimit.Request{Part: true}) // first, because it brings the state up to now
	state := s.Limiter.State()
	switch cut := state.LastThrottle; {
	case state.Waiting > 0 || s.known && state.SendTokens < state.SendCapacity:
		return true, throttled
	case !cut.IsZero() && now.Sub(cut) < throttledFor:
		return false, cut
	default:
		return expected > 0, throttled
	}
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
	share := min(t.Pool.Owed()/(t.config.Max-len(t.scopes)), t.initial+perLoan) // more than its tokens, so that it lends nothing
	fresh.Quota.begin(t.Pool.Settle(share))
	fresh.place = len(t.scopes)
	t.scopes = append(t.scopes, fresh)
	bucket := t.bucket(fresh.hash)
	fresh.next.Store(bucket.Load())
	bucket.Store(fresh)
	return fresh
}

// evictLocked evicts a scope, unless it is in use again.
func (t *Table) evictLocked(s *Scope, now time.Time, evicted func(s *Scope)) {
	if !s.use.CompareAndSwap(unused, gone) {
		return
	}
	since := now.Sub(t.config.Start) - time.Duration(s.ended.Load())
	if lacks := t.initial - s.Quota.Available() + s.Quota.Debt(); lacks > 0 && since.Abs() < owingFor {
		t.Pool.Owe(lacks)
		t.lacked = now
	}
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
	t.keepCounts(s)
	t.unlocked(func() { evicted(s) })
}

// Snapshot returns the state of the pool and of the scopes, sorted by name.
func (t *Table) Snapshot() retry.Snapshot {
	snapshot := retry.Snapshot{
		Pool: t.Pool.Available(), PoolCapacity: t.Pool.Capacity(), Overflowed: t.overflowed.Load(), Evicted: t.evicted.Load(),
		EvictedStrainedCalls: t.strained.Load(), EvictedRefusedCalls: t.refused.Load(),
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
