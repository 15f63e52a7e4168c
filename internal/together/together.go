// Package together finds services that throttle several scopes at the same time.
package together

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/awsretry/awsretry/retry"
)

const (
	// most scopes that are throttled within near are throttled together.
	most = 3
	near = time.Second
	// pause is the shortest time between two events about one service. The remedy is another scope
	// in the program, which no program gets within a minute, and one event a minute is enough for
	// an alert to see that the state lasts.
	pause = time.Minute
	// watched is how many services are watched at the same time, so that the memory is bounded.
	watched = 256
)

// Watch finds services whose scopes are throttled together. It depends on its calls only, because it
// reads no clock. The zero value has seen no throttle. It is safe for concurrent use.
type Watch struct {
	mu       sync.Mutex // guards the services; held for no longer than Throttle takes
	services map[retry.ScopeKey]*service
}

// service is what is known of one service.
type service struct {
	last   []throttled // the scopes that were throttled last, the latest at the end
	told   bool        // of the service
	toldAt time.Time
}

// throttled is a scope.
type throttled struct {
	key retry.ScopeKey
	at  time.Time // of its last throttle
}

// Throttle notes that an attempt in a scope of a service was throttled. If the service must be
// reported, it returns the scopes that are throttled together, the given one last; otherwise nil.
//
// Only the distance between two instants counts, in either direction. So a late instant does no
// harm, and after a clock jump three throttles are enough, as at the start.
func (w *Watch) Throttle(now time.Time, of, scope retry.ScopeKey) []retry.ScopeKey {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.services[of]
	if s == nil {
		if s = w.watchLocked(now, of); s == nil {
			return nil
		}
	}
	s.note(now, scope)
	if s.quiet(now) || !s.together() {
		return nil
	}
	s.told, s.toldAt = true, now
	scopes := make([]retry.ScopeKey, len(s.last))
	for i := range s.last {
		scopes[i] = s.last[i].key
	}
	return scopes
}

// watchLocked begins to watch a service. If there is no room, it first forgets the services that no
// longer matter. If there is still no room, it returns nil: all watched services were throttled
// within a second or reported within a minute.
func (w *Watch) watchLocked(now time.Time, of retry.ScopeKey) *service {
	if len(w.services) >= watched {
		maps.DeleteFunc(w.services, func(_ retry.ScopeKey, s *service) bool { return s.over(now) })
	}
	switch {
	case len(w.services) >= watched:
		return nil
	case w.services == nil:
		w.services = map[retry.ScopeKey]*service{}
	}
	s := &service{last: make([]throttled, 0, most)}
	w.services[of.Clone()] = s
	return s
}

// note puts a scope at the end of those that were throttled last.
func (s *service) note(now time.Time, scope retry.ScopeKey) {
	s.last = slices.DeleteFunc(s.last, func(other throttled) bool { return other.key == scope })
	if len(s.last) == most {
		s.last = slices.Delete(s.last, 0, 1)
	}
	s.last = append(s.last, throttled{key: scope, at: now})
}

// together reports whether the last throttles of the scopes are near each other.
func (s *service) together() bool {
	byTime := func(a, b throttled) int { return a.at.Compare(b.at) }
	first, last := slices.MinFunc(s.last, byTime), slices.MaxFunc(s.last, byTime)
	return len(s.last) == most && last.at.Sub(first.at) <= near
}

// quiet reports whether the service was reported less than pause ago.
func (s *service) quiet(now time.Time) bool {
	return s.told && now.Sub(s.toldAt).Abs() < pause
}

// over reports whether the service no longer matters: a new one would behave the same.
func (s *service) over(now time.Time) bool {
	return !s.quiet(now) && !slices.ContainsFunc(s.last, func(scope throttled) bool {
		return now.Sub(scope.at).Abs() <= near
	})
}
