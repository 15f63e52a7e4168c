package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestScopesInTroubleCountTheirCallsAndThoseThatTheQuotaFails(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	orders, users := retry.Operation{Scope: "orders"}, retry.Operation{Scope: "users"}
	for mode, s := range modes(t, clk, func(c *standard.Config) { c.QuotaCapacity, c.MaxAttempts = new(30), 5 }) {
		t.Run(mode, func(t *testing.T) {
			call := func(op retry.Operation, err error) {
				clk.Run(func() {
					_ = retry.DoErr(t.Context(), s, op, func(context.Context) error { return err })
				})
			}
			counts := func() (strained, refused [2]uint64) {
				for _, scope := range s.Snapshot().Scopes {
					for i, op := range []retry.Operation{orders, users} {
						if scope.Key == op.Key() {
							strained[i], refused[i] = scope.StrainedCalls, scope.RefusedCalls
						}
					}
				}
				return strained, refused
			}
			for range 10 {
				call(orders, nil)
				call(users, nil)
			}
			strained, refused := counts()
			require.Zero(t, strained, "both quotas are full")
			require.Zero(t, refused)

			call(orders, errServer) // two retries for 28 of the 30 tokens, and one that the pool pays
			for range 4 {
				call(orders, nil)
				call(orders, errServer)
				call(users, nil)
			}
			strained, refused = counts()
			require.Equal(t, [2]uint64{9, 0}, strained)
			require.Equal(t, [2]uint64{5, 0}, refused)
		})
	}
}
