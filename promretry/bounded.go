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

	current atomic.Pointer[map[K]V] // the map is never changed, only replaced
	mu      sync.Mutex              // held to replace it
}

func (b *bounded[K, V]) get(key K) V {
	if known := b.current.Load(); known != nil {
		if value, ok := (*known)[key]; ok {
			return value
		}
		if len(*known) >= b.limit {
			return b.others
		}
	}
	return b.add(key)
}

func (b *bounded[K, V]) add(key K) V {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[K]V{}
	if current := b.current.Load(); current != nil {
		known = maps.Clone(*current)
	}
	if value, ok := known[key]; ok {
		return value
	}
	if len(known) >= b.limit {
		return b.others
	}
	key, value := b.fresh(key)
	known[key] = value
	b.current.Store(&known)
	return value
}
