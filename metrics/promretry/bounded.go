package promretry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// bounded is a map that makes the value of each new key, until it has limit keys. From then on
// others is the value of each new key. Reading takes no lock, and a new key copies the map.
type bounded[K comparable, V any] struct {
	limit  int
	others V
	fresh  func(key K) (K, V) // the key to keep, and its value

	current atomic.Pointer[map[K]V] // nil is empty; the map is never changed, only replaced
	mu      sync.Mutex              // held to replace it
}

func (b *bounded[K, V]) get(key K) V {
	if value, ok := b.find(key); ok {
		return value
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if value, ok := b.find(key); ok {
		return value
	}
	kept, value := b.fresh(key)
	known := map[K]V{}
	if current := b.current.Load(); current != nil {
		known = maps.Clone(*current)
	}
	known[kept] = value
	b.current.Store(&known)
	return value
}

// find reports false for a key that is to be added.
func (b *bounded[K, V]) find(key K) (value V, ok bool) {
	known := b.current.Load()
	if known == nil {
		return value, false
	}
	if value, ok = (*known)[key]; ok {
		return value, true
	}
	return b.others, len(*known) >= b.limit
}
