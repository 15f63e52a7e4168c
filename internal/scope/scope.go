// Package scope keeps what a strategy holds for each scope: created on first
// use, the same for everybody who asks, and bounded in number.
package scope

import (
	"sync"
	"sync/atomic"
)

// DefaultLimit is how many scopes a strategy keeps unless told otherwise.
const DefaultLimit = 10_000

// Registry holds a value for each key. The zero key's is there from the start.
// When there are as many others as the limit allows, further keys share one value,
// the overflow's. It is safe for concurrent use; finding a value that is there
// takes no lock and writes nothing.
type Registry[K comparable, V any] struct {
	limit       int
	create      func(K) V
	whole       V
	overflowKey K
	overflowed  atomic.Uint64
	others      sync.Map // of V by K

	mu    sync.Mutex
	count int // of others; guarded by mu, which is held to add one
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
	if value, ok := r.find(key); ok {
		return value, false
	}
	if !r.full() {
		if value, created, ok := r.add(key, r.limit); ok {
			return value, created
		}
	}
	r.overflowed.Add(1)
	if value, ok := r.find(r.overflowKey); ok {
		return value, false
	}
	value, created, _ = r.add(r.overflowKey, r.limit+1)
	return value, created
}

func (r *Registry[K, V]) find(key K) (value V, ok bool) {
	found, ok := r.others.Load(key)
	if !ok {
		return value, false
	}
	value, ok = found.(V)
	return value, ok
}

func (r *Registry[K, V]) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count >= r.limit
}

// add creates the value for a key unless there are limit others by now. It
// reports whether there is a value for the key afterwards.
func (r *Registry[K, V]) add(key K, limit int) (value V, created, ok bool) {
	fresh := r.create(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if value, ok := r.find(key); ok {
		return value, false, true
	}
	if r.count >= limit {
		return value, false, false
	}
	r.others.Store(key, fresh)
	r.count++
	return fresh, true, true
}

// Overflowed reports how often Get had to answer with the overflow's value.
func (r *Registry[K, V]) Overflowed() uint64 { return r.overflowed.Load() }

// Each calls f for every key and its value, the zero key first, the others in no
// order.
func (r *Registry[K, V]) Each(f func(key K, value V)) {
	var zero K
	f(zero, r.whole)
	r.others.Range(func(key, value any) bool {
		k, _ := key.(K)
		v, _ := value.(V)
		f(k, v)
		return true
	})
}
