package adaptive

import (
	"slices"
	"strings"

	"github.com/awsretry/awsretry/retry"
)

// Snapshot returns the state of the quotas and of the send rates. Where both have
// the same key they are one scope in it.
func (s *Strategy) Snapshot() retry.Snapshot {
	if !s.made() {
		return retry.Snapshot{}
	}
	snapshot := s.standard.Snapshot()
	snapshot.Mode = "adaptive"
	snapshot.Overflowed = max(snapshot.Overflowed, s.limiters.Overflowed())
	snapshot.Evicted += s.limiters.Evicted()
	index := make(map[retry.ScopeKey]int, len(snapshot.Scopes))
	for i, scope := range snapshot.Scopes {
		index[scope.Key] = i
	}
	inFlight := s.tokens.InFlight()
	s.limiters.Each(func(e *sendScope) {
		if e.Value.err != nil {
			return
		}
		i, ok := index[e.Key]
		if !ok {
			i = len(snapshot.Scopes)
			snapshot.Scopes = append(snapshot.Scopes, retry.ScopeSnapshot{Key: e.Key, Scope: e.Key.String()})
		}
		fill(&snapshot.Scopes[i], e.Value.limiter)
		snapshot.Scopes[i].InFlight = max(snapshot.Scopes[i].InFlight, inFlight[e.Key])
	})
	slices.SortFunc(snapshot.Scopes, func(a, b retry.ScopeSnapshot) int { return strings.Compare(a.Scope, b.Scope) })
	return snapshot
}

// fill adds the send rate to what is known of a scope.
func fill(scope *retry.ScopeSnapshot, limiter Limiter) {
	state, waiting := limiter.State()
	scope.HasSendRate, scope.Limited, scope.Waiting = true, state.Limited, waiting
	scope.FillRate, scope.MeasuredRate = float64(state.FillRate), float64(state.MeasuredRate)
	scope.SendTokens, scope.SendCapacity = state.Tokens, state.Capacity
	scope.LastThrottle = state.LastThrottle
}
