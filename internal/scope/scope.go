// Package scope keeps what a strategy holds for each scope: created on first
// use, the same for everybody who asks, and bounded in number and idle time.
package scope

import (
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of a Config.
const (
	DefaultLimit = 10_000
	DefaultIdle  = 5 * time.Minute
)

// Config describes a Registry.
type Config[K comparable, V any] struct {
	// Limit is how many keys besides the zero key and the overflow's have a value of
	// their own; zero or less means DefaultLimit.
	Limit int
	// Idle is how long nobody has used a value when it may be dropped; zero or less
	// means DefaultIdle.
	Idle time.Duration
	// OverflowKey is the key of the value that further keys share.
	OverflowKey K
	// Now tells the time.
	Now func() time.Time
	// Create makes the value of a key. It is called without a lock and may be called
	// for a key whose value somebody else has made in the meantime; the result is
	// dropped then.
	Create func(key K) V
	// Keep, if not nil, reports whether an entry that nobody uses has to stay. It is
	// called without a lock.
	Keep func(e *Entry[K, V], now time.Time) bool
	// InFlight counts the users of keys. It must not call the registry.
	InFlight func() map[K]int
}

// Registry holds a value for each key. The zero key's is there from the start and
// stays. It is safe for concurrent use; finding a value that is there takes no lock
// and, as a rule, writes nothing.
type Registry[K comparable, V any] struct {
	config     Config[K, V]
	whole      *Entry[K, V]
	overflowed atomic.Uint64
	evicted    atomic.Uint64
	others     sync.Map // of *Entry[K, V] by K

	mu        sync.Mutex // held to add or remove entries
	count     int        // of others but the overflow; guarded by mu
	lastSweep time.Time  // guarded by mu
	sweeping  bool       // guarded by mu
}

// Entry is a key with its value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V

	used    atomic.Bool // since the last sweep
	leaving atomic.Bool // a sweep is about to decide
}

// Touch says that the entry is in use. Whoever is done with one touches it before
// he ceases to count as in flight.
func (e *Entry[K, V]) Touch() {
	if !e.used.Load() {
		e.used.Store(true)
	}
}

// Leaving reports whether a sweep has dropped the entry or is about to decide.
// Whoever has got an entry asks after he has begun to count as in flight, and if it
// is leaving gets one again.
func (e *Entry[K, V]) Leaving() bool { return e.leaving.Load() }

// News is what a Get has brought about besides its entry.
type News[K comparable] struct {
	// Created is true if the entry is new.
	Created bool
	// Evicted are the keys whose values were dropped to make room.
	Evicted []K
}

// New returns a registry.
func New[K comparable, V any](config Config[K, V]) *Registry[K, V] {
	if config.Limit <= 0 {
		config.Limit = DefaultLimit
	}
	if config.Idle <= 0 {
		config.Idle = DefaultIdle
	}
	var zero K
	return &Registry[K, V]{
		config:    config,
		whole:     &Entry[K, V]{Key: zero, Value: config.Create(zero)},
		lastSweep: config.Now(),
	}
}

// Whole returns the entry of the zero key.
func (r *Registry[K, V]) Whole() *Entry[K, V] { return r.whole }

// Get returns the entry of the key, or the overflow's. What it has brought about is
// nil for an entry that was there. Keys that may well be zero are looked up faster
// by asking for the Whole then.
func (r *Registry[K, V]) Get(key K) (*Entry[K, V], *News[K]) {
	var zero K
	if key == zero {
		return r.whole, nil
	}
	if e := r.find(key); e != nil {
		e.Touch()
		if !e.leaving.Load() {
			return e, nil
		}
	}
	return r.enter(key)
}

// enter is Get for a key that has no entry, or one that a sweep looks at.
func (r *Registry[K, V]) enter(key K) (*Entry[K, V], *News[K]) {
	news := &News[K]{Evicted: r.sweep(r.config.Now())}
	e, ok := r.lookUp(key)
	if !ok {
		e, news.Created = r.add(key)
	}
	if e == nil {
		r.overflowed.Add(1)
		if e, ok = r.lookUp(r.config.OverflowKey); !ok {
			e, news.Created = r.add(r.config.OverflowKey)
		}
	}
	return e, news
}

// Find returns the entry of the key, without using it; nil if there is none.
func (r *Registry[K, V]) Find(key K) *Entry[K, V] {
	var zero K
	if key == zero {
		return r.whole
	}
	return r.find(key)
}

func (r *Registry[K, V]) find(key K) *Entry[K, V] {
	found, _ := r.others.Load(key)
	e, _ := found.(*Entry[K, V])
	return e
}

// lookUp finds an entry after any sweep has decided. ok is true too if there is
// none and no room for it.
func (r *Registry[K, V]) lookUp(key K) (e *Entry[K, V], ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lookUpLocked(key)
}

func (r *Registry[K, V]) lookUpLocked(key K) (e *Entry[K, V], ok bool) {
	if e = r.find(key); e != nil {
		e.Touch()
		return e, true
	}
	return nil, key != r.config.OverflowKey && r.count >= r.config.Limit
}

// add creates the entry of a key, unless it is there or there is no room by now.
func (r *Registry[K, V]) add(key K) (e *Entry[K, V], created bool) {
	fresh := &Entry[K, V]{Key: key, Value: r.config.Create(key)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.lookUpLocked(key); ok {
		return e, false
	}
	fresh.Touch()
	r.others.Store(key, fresh)
	if key != r.config.OverflowKey {
		r.count++
	}
	return fresh, true
}

// Overflowed reports how often Get had to answer with the overflow's entry.
func (r *Registry[K, V]) Overflowed() uint64 { return r.overflowed.Load() }

// Evicted reports how many entries were dropped because nobody used them.
func (r *Registry[K, V]) Evicted() uint64 { return r.evicted.Load() }

// Each calls f for every entry, that of the zero key first, the others in no order.
func (r *Registry[K, V]) Each(f func(e *Entry[K, V])) {
	f(r.whole)
	r.others.Range(func(_, found any) bool {
		if e, ok := found.(*Entry[K, V]); ok {
			f(e)
		}
		return true
	})
}
