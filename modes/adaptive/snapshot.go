package adaptive

import "github.com/awsretry/awsretry/retry"

// Snapshot returns the state of the quotas and of the send rates.
func (s *Strategy) Snapshot() retry.Snapshot {
	snapshot := s.standard.Snapshot()
	snapshot.Mode = "adaptive"
	limiters := make(map[retry.ScopeKey]Limiter)
	s.limiters.Each(func(key retry.ScopeKey, limiter Limiter) { limiters[key] = limiter })
	for i := range snapshot.Scopes {
		scope := &snapshot.Scopes[i]
		limiter := limiters[scope.Key]
		if limiter == nil {
			continue // created since the quotas were read
		}
		state, waiting := limiter.State()
		scope.Limited, scope.Waiting = state.Limited, waiting
		scope.FillRate, scope.MeasuredRate = float64(state.FillRate), float64(state.MeasuredRate)
		scope.SendTokens, scope.SendCapacity = state.Tokens, state.Capacity
		scope.LastThrottle = state.LastThrottle
	}
	return snapshot
}
