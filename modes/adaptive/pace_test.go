package adaptive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// A new scope has a send token. If scopes without a token were evicted, operations that come just
// after each eviction would never be held back.
func TestEvictionLetsNoAttemptExceedAKnownLimit(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.NoSendWait = true
		c.Standard.ScopeIdle = time.Millisecond
		c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Scope == "orders" {
				return adaptive.SendLimit{Ceiling: 0.5}
			}
			return adaptive.SendLimit{}
		}
	})
	orders := retry.Operation{Scope: "orders"}
	served := 0
	for began := clk.Now(); clk.Now().Sub(began) < 20*time.Second; {
		if do(t.Context(), clk, s, orders) == nil {
			served++
		}
		for range 3 {
			clk.Advance(50 * time.Millisecond)
			require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: clk.Now().String()}))
		}
	}
	require.Equal(t, 10, served, "in 20 s")
	clk.Advance(2 * time.Second)
	for range 2 {
		clk.Advance(time.Millisecond)
		require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: clk.Now().String()}))
	}
	require.NotContains(t, scopesOf(s), "orders", "its token is there again")
}
