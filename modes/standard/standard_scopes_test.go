package standard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// scopes returns the quota of each scope.
func scopes(s strategy) map[string]int {
	quotas := map[string]int{}
	for _, scope := range s.Snapshot().Scopes {
		quotas[scope.Scope] = scope.Quota
	}
	return quotas
}

func begin(t *testing.T, s retry.Strategy, scope string) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{Scope: scope})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	return token
}

func TestScopeInWhichARetryWaitsForQuotaStays(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.ScopeIdle, c.MaxScopes = time.Minute, 1
		c.QuotaInitial, c.MaxQuotaWait = new(0), time.Hour
		c.Jitter = standard.NoJitter
	})
	token, err := s.RefreshRetryToken(t.Context(), begin(t, s, "orders"), errServer)
	require.NoError(t, err)
	var waited error
	clk.Run(func() {
		for range 5 {
			require.NoError(t, clk.Sleep(t.Context(), time.Minute))
			require.NoError(t, s.RecordSuccess(begin(t, s, clk.Now().String())))
			require.Contains(t, scopes(s), "orders")
		}
		require.Equal(t, uint64(5), s.Snapshot().Overflowed)
		for range 14 {
			require.NoError(t, s.RecordSuccess(begin(t, s, "orders")))
		}
	}, func() {
		waited = token.WithoutDelay().Wait(t.Context())
	})
	require.NoError(t, waited)
	require.NoError(t, s.RecordSuccess(token))
}
