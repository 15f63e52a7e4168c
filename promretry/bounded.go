package promretry

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// bounded is a map that is read without a lock and copied for each new key. It makes the value of a key that it does not
// have, until it has limit keys; then other is the value of every new key.
type bounded[K comparable, V any] struct {
	limit int
	other V
	fresh func(key K) (K, V) // the key to keep and its value

	current atomic.Pointer[map[K]V] // the map is never changed, only replaced
	mu      sync.Mutex              // held to replace it
}

func (b *bounded[K, V]) get(key K) V {
	if known := b.current.Load(); known != nil {
		if value, ok := (*known)[key]; ok {
			return value
		}
		if len(*known) >= b.limit {
			return b.other
		}
	}
	return b.add(key)
}

func (b *bounded[K, V]) add(key K) V {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[K]V{}
	if current := b.current.Load(); current != nil {
		known = *current
	}
	if value, ok := known[key]; ok {
		return value
	}
	if len(known) >= b.limit {
		return b.other
	}
	key, value := b.fresh(key)
	known = maps.Clone(known)
	known[key] = value
	b.current.Store(&known)
	return value
}

// cut returns what of a text fits into a label. It keeps keys short too, so it comes before the look into a map.
func cut(text string) string { return text[:min(len(text), maxLabel)] }

// clean returns a text that can be the value of a label. A client that meets one that is not UTF-8 refuses it.
func clean(text string) string { return strings.ToValidUTF8(cut(text), "\uFFFD") }
