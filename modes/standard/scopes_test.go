package standard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// inFlight returns how many operations are under way in each scope.
func inFlight(s *standard.Strategy) map[string]int {
	counts := map[string]int{}
	for _, scope := range s.Snapshot().Scopes {
		counts[scope.Scope] = scope.InFlight
	}
	return counts
}

func begin(t *testing.T, s *standard.Strategy, scope string) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{Scope: scope})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	return token
}

func TestScopeIsEvictedWhenItHasNotBeenUsedForAWhile(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *standard.Strategy, token retry.Token) error{
		"success": func(s *standard.Strategy, token retry.Token) error { return s.RecordSuccess(token) },
		"failure": func(s *standard.Strategy, token retry.Token) error { return s.RecordFailure(token, errServer) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clk := newStrategy(t, func(c *standard.Config) { c.ScopeIdle, c.SharedAs = time.Minute, "team" })
			another := func() map[string]int {
				clk.Advance(time.Minute)
				require.NoError(t, s.RecordSuccess(begin(t, s, clk.Now().String())))
				return inFlight(s)
			}
			token := begin(t, s, "orders")
			for range 5 {
				require.Equal(t, 1, another()["orders"])
			}
			require.NoError(t, end(s, token))
			require.Contains(t, another(), "orders", "it was used a moment ago")
			require.NotContains(t, another(), "orders")
			require.Equal(t, "team", s.Snapshot().SharedAs)
			require.Equal(t, uint64(6), s.Snapshot().Evicted, "and five of the others")
		})
	}
}

// The state of an operation that has ended is used for another one.
func TestOperationsAreInFlightInTheirOwnScopes(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, nil)
	for range 3 {
		for _, scope := range []string{"orders", "", "users", ""} {
			token := begin(t, s, scope)
			for name, count := range inFlight(s) {
				require.Equal(t, name == scope, count == 1, "%q beside %q", name, scope)
			}
			require.NoError(t, s.RecordSuccess(token))
		}
	}
}
