package standard_test

import (
	"strings"
	"testing"
	"time"
	"unsafe"

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

func TestScopeIsEvictedWhenItHasNotBeenUsedForAWhile(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s retry.Strategy, token retry.Token) error{
		"success": func(s retry.Strategy, token retry.Token) error { return s.RecordSuccess(token) },
		"failure": func(s retry.Strategy, token retry.Token) error { return s.RecordFailure(token, errServer) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clk := newStrategy(t, func(c *standard.Config) { c.ScopeIdle, c.SharedAs = time.Minute, "team" })
			another := func() map[string]int {
				clk.Advance(time.Minute)
				require.NoError(t, s.RecordSuccess(begin(t, s, clk.Now().String())))
				return scopes(s)
			}
			token := begin(t, s, "orders")
			require.Contains(t, another(), "orders", "it was used since the strategy was made")
			require.NoError(t, end(s, token))
			require.Contains(t, another(), "orders", "it was used a moment ago")
			require.NotContains(t, another(), "orders")
			require.Equal(t, "team", s.Snapshot().SharedAs)
			require.Equal(t, uint64(2), s.Snapshot().Evicted, "and the first of the others")
		})
	}
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

func TestScopesDoNotKeepTheTextThatTheirNamesWereCutFrom(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, nil)
	body := strings.Repeat("x", 1<<10) + "orders"
	name := body[1<<10:]
	require.NoError(t, s.RecordSuccess(begin(t, s, name)))
	for _, scope := range s.Snapshot().Scopes[1:] {
		require.Equal(t, "orders", scope.Key.Scope)
		require.NotSame(t, unsafe.StringData(name), unsafe.StringData(scope.Key.Scope))
		require.NotSame(t, unsafe.StringData(name), unsafe.StringData(scope.Scope))
	}
}
