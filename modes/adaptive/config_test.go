package adaptive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestLimitsThatArePossible(t *testing.T) {
	t.Parallel()
	for limit, want := range map[adaptive.SendLimit]ratelimit.Rate{
		{}:                             0,
		{Starting: 0.5}:                0.5,
		{Ceiling: 0.5}:                 0.5,
		{Starting: 2}:                  2,
		{Ceiling: 2}:                   2,
		{Starting: 2, Ceiling: 2}:      2,
		{Starting: 2, Ceiling: 3}:      2,
		{Starting: 1e300}:              1 << 53,
		{Starting: 1, Ceiling: 1e300}:  1,
		{Starting: 0.5, Ceiling: 0.75}: 0.5,
	} {
		s, clk := newStrategy(t, func(c *adaptive.Config) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return limit }
		})
		require.NoError(t, do(t.Context(), clk, s, retry.Operation{}), "%+v", limit)
		got := s.Snapshot().Scopes[0]
		require.Equal(t, want > 0, got.Limited, "%+v", limit)
		if want > 0 {
			require.InDelta(t, float64(want), got.FillRate, 0, "%+v", limit)
		}
	}
}

// A scope whose limit is out of range is evicted like any other. When it is made again, the new
// limit counts.
func TestScopeWithAnImpossibleLimitIsEvicted(t *testing.T) {
	t.Parallel()
	ceiling := ratelimit.Rate(-1)
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		forgetful(c)
		c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Scope == "orders" {
				return adaptive.SendLimit{Ceiling: ceiling}
			}
			return adaptive.SendLimit{}
		}
	})
	begin := func() (retry.Token, error) {
		return s.AcquireInitialToken(t.Context(), retry.Operation{Scope: "orders"})
	}
	for range 2 {
		_, err := begin()
		require.Error(t, err)
	}
	ceiling = 3
	_, err := begin()
	require.Error(t, err, "it is asked for once")
	idleTwice(t, clk, s)
	token, err := begin()
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	require.NoError(t, s.RecordSuccess(token))
	require.InDelta(t, 3, scopesOf(s)["orders"].FillRate, 0)
}
