// Package scope keeps what a strategy holds for each scope: created on first
// use, the same for everybody who asks, and bounded in number.
package scope

import (
	"maps"
	"sync"
	"sync/atomic"
)

// DefaultLimit is how many scopes a strategy keeps unless told otherwise.
const DefaultLimit = 10_000

// Registry holds a value for each key. The zero key's is there from the start
// and is found without a lock. When there are as many others as the limit allows,
// further keys share one value, the overflow's. It is safe for concurrent use.
type Registry[K comparable, V any] struct {
	limit       int
	create      func(K) V
	whole       V
	overflowKey K
	overflowed  atomic.Uint64

	mu     sync.RWMutex
	others map[K]V // guarded by mu
}

// New returns a registry for at most limit keys besides the zero key; zero or
// less means DefaultLimit. create makes the value of a key, without a lock that
// it could want; it may be called for a key whose value somebody else has made
// in the meantime, and the result is dropped then.
func New[K comparable, V any](limit int, overflowKey K, create func(K) V) *Registry[K, V] {
	if limit <= 0 {
		limit = DefaultLimit
	}
	var zero K
	return &Registry[K, V]{limit: limit, create: create, whole: create(zero), overflowKey: overflowKey}
}

// Whole returns the value for the zero key.
func (r *Registry[K, V]) Whole() V { return r.whole }

// Get returns the value for the key, and whether this call created it. Keys that
// may well be zero are looked up faster by asking for the Whole then.
func (r *Registry[K, V]) Get(key K) (value V, created bool) {
	var zero K
	if key == zero {
		return r.whole, false
	}
	r.mu.RLock()
	value, ok := r.others[key]
	full := len(r.others) >= r.limit
	r.mu.RUnlock()
	switch {
	case ok:
		return value, false
	case full:
		r.overflowed.Add(1)
		return r.add(r.overflowKey, r.limit+1)
	default:
		return r.add(key, r.limit)
	}
}

// add creates the value for a key unless that is there, or there are limit others
// by now.
func (r *Registry[K, V]) add(key K, limit int) (value V, created bool) {
	r.mu.RLock()
	value, ok := r.others[key]
	r.mu.RUnlock()
	if ok {
		return value, false
	}
	fresh := r.create(key)
	r.mu.Lock()
	value, ok = r.others[key]
	room := len(r.others) < limit
	if !ok && room {
		if r.others == nil {
			r.others = make(map[K]V)
		}
		r.others[key] = fresh
	}
	r.mu.Unlock()
	switch {
	case ok:
		return value, false
	case room:
		return fresh, true
	default:
		return r.Get(key) // full by now
	}
}

// Overflowed reports how often Get had to answer with the overflow's value.
func (r *Registry[K, V]) Overflowed() uint64 { return r.overflowed.Load() }

// Each calls f for every key and its value, the zero key first, the others in no
// order. It holds no lock while it does.
func (r *Registry[K, V]) Each(f func(key K, value V)) {
	r.mu.RLock()
	others := maps.Clone(r.others)
	r.mu.RUnlock()
	var zero K
	f(zero, r.whole)
	for key, value := range others {
		f(key, value)
	}
}
