package adaptive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// TestOperationIsInFlightWhereverItsStateIs has one operation, whose quota and send
// rate may be in different scopes.
func TestOperationIsInFlightWhereverItsStateIs(t *testing.T) {
	t.Parallel()
	whole := func(retry.Operation) retry.ScopeKey { return retry.ScopeKey{} }
	byName := func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Operation: op.Name} }
	orders := retry.Operation{Name: "GetItem", Scope: "orders"}
	unscoped := retry.Operation{Name: "GetItem"}
	for name, tt := range map[string]struct {
		quota, send func(op retry.Operation) retry.ScopeKey
		op          retry.Operation
		want        map[string]int
	}{
		"both by default":           {op: orders, want: map[string]int{"": 0, "orders": 1}},
		"both in the whole":         {op: unscoped, want: map[string]int{"": 1}},
		"both put into the whole":   {quota: whole, send: whole, op: orders, want: map[string]int{"": 1}},
		"the quota in the whole":    {quota: whole, op: orders, want: map[string]int{"": 1, "orders": 1}},
		"the send rate":             {send: whole, op: orders, want: map[string]int{"": 1, "orders": 1}},
		"the quota by default":      {send: byName, op: unscoped, want: map[string]int{"": 1, "//GetItem": 1}},
		"the send rate by default":  {quota: byName, op: unscoped, want: map[string]int{"": 1, "//GetItem": 1}},
		"each in one of its own":    {send: byName, op: orders, want: map[string]int{"": 0, "orders": 1, "//GetItem": 1}},
		"both in another, the same": {quota: byName, send: byName, op: orders, want: map[string]int{"": 0, "//GetItem": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newStrategy(t, func(c *adaptive.Config) { c.Standard.QuotaScope, c.SendScope = tt.quota, tt.send })
			inFlight := func() map[string]int {
				counts := map[string]int{}
				for name, scope := range scopesOf(s) {
					counts[name] = scope.InFlight
				}
				return counts
			}
			token, err := s.AcquireInitialToken(t.Context(), tt.op)
			require.NoError(t, err)
			require.NoError(t, token.Wait(t.Context()))
			require.Equal(t, tt.want, inFlight())
			token, err = s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
			require.Equal(t, tt.want, inFlight(), "between two attempts")
			require.NoError(t, s.RecordFailure(token, errServer))
			for scope, count := range inFlight() {
				require.Zero(t, count, scope)
			}
		})
	}
}

// The state of an operation that has ended is used for another one.
func TestOperationOfTheWholeIsNotInFlightInTheScopeOfTheOneBefore(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	for range 3 {
		require.NoError(t, do(t.Context(), t, clk, s, retry.Operation{Scope: "orders"}))
		token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
		require.NoError(t, err)
		require.NoError(t, token.Wait(t.Context()))
		require.Zero(t, scopesOf(s)["orders"].InFlight)
		require.Equal(t, 1, scopesOf(s)[""].InFlight)
		require.NoError(t, s.RecordSuccess(token))
	}
}
