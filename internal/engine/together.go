package engine

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/awsretry/awsretry/retry"
)

const (
	// togetherScopes scopes that are throttled within togetherTime are throttled together.
	togetherScopes = 3
	togetherTime   = time.Second
	// togetherQuiet is how long a service that was told of is not told of again. The finding
	// asks for another scope in the program, which no program gets within a minute. And one
	// event in each minute is enough for an alert to see that the state lasts.
	togetherQuiet = time.Minute
	// togetherServices is how many services are watched at the same time, so that the memory is bounded.
	togetherServices = 256
)

// together finds services of which several scopes are throttled at the same time. The result
// depends on the calls only, because it reads no clock. The zero value has seen no throttle.
type together struct {
	mu       sync.Mutex // guards the services; held for no longer than throttle takes
	services map[retry.ScopeKey]*throttledService
}

// throttledService is what is known of one service.
type throttledService struct {
	last   []throttledScope // the scopes that were throttled last, the latest at the end
	told   bool             // of the service
	toldAt time.Time
}

type throttledScope struct {
	key retry.ScopeKey
	at  time.Time // of its last throttle
}

// throttle notes that an attempt in a scope of a service was throttled. If the service has to be
// told of, it returns the scopes that are throttled together, the given one at the end; otherwise
// nil.
//
// Only the distance of two instants counts, in either direction. So an instant that comes late is
// no harm, and after a jump of the clock three throttles are enough, as at the start.
func (t *together) throttle(now time.Time, service, scope retry.ScopeKey) []retry.ScopeKey {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.services[service]
	if s == nil {
		if s = t.watchLocked(now, service); s == nil {
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

// watchLocked begins to watch a service. If there is no room, it first forgets the services of
// which nothing matters any more. If there is still no room, it returns nil: as many others were
// throttled within a second or told of within a minute.
func (t *together) watchLocked(now time.Time, service retry.ScopeKey) *throttledService {
	if len(t.services) >= togetherServices {
		maps.DeleteFunc(t.services, func(_ retry.ScopeKey, s *throttledService) bool { return s.over(now) })
	}
	switch {
	case len(t.services) >= togetherServices:
		return nil
	case t.services == nil:
		t.services = map[retry.ScopeKey]*throttledService{}
	}
	for _, part := range [...]*string{&service.Account, &service.Service, &service.Region} {
		*part = strings.Clone(*part) // it may be a part of a larger text
	}
	s := &throttledService{last: make([]throttledScope, 0, togetherScopes)}
	t.services[service] = s
	return s
}

// note puts a scope at the end of those that were throttled last.
func (s *throttledService) note(now time.Time, scope retry.ScopeKey) {
	s.last = slices.DeleteFunc(s.last, func(other throttledScope) bool { return other.key == scope })
	if len(s.last) == togetherScopes {
		s.last = slices.Delete(s.last, 0, 1)
	}
	s.last = append(s.last, throttledScope{key: scope, at: now})
}

// together reports whether the last throttles of the scopes are near each other.
func (s *throttledService) together() bool {
	byTime := func(a, b throttledScope) int { return a.at.Compare(b.at) }
	first, last := slices.MinFunc(s.last, byTime), slices.MaxFunc(s.last, byTime)
	return len(s.last) == togetherScopes && last.at.Sub(first.at) <= togetherTime
}

// quiet reports whether the service was told of a short while ago.
func (s *throttledService) quiet(now time.Time) bool {
	return s.told && now.Sub(s.toldAt).Abs() < togetherQuiet
}

// over reports whether nothing of the service matters at this time: a new one would do the same.
func (s *throttledService) over(now time.Time) bool {
	return !s.quiet(now) && !slices.ContainsFunc(s.last, func(scope throttledScope) bool {
		return now.Sub(scope.at).Abs() <= togetherTime
	})
}
