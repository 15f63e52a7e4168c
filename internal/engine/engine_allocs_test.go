//go:build !race

package engine_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// The race detector lets pools forget at random, so allocations are counted without.

func TestOperationWithoutAPlaceAllocatesNothing(t *testing.T) {
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.MaxScopes = 3
		c.SendLimit = slowBurst("0", "1", "2")
	})
	for i := range 3 { // which have to stay
		require.NoError(t, s.RecordSuccess(sentIn(t, s, strconv.Itoa(i)), retry.Result{}))
	}
	ctx, op := t.Context(), retry.Operation{Scope: "3"}
	require.NoError(t, s.RecordSuccess(sentIn(t, s, op.Scope), retry.Result{})) // makes the overflow
	var failed error
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		token, err := s.AcquireInitialToken(ctx, op)
		if err == nil {
			err = token.Wait(ctx)
		}
		if err == nil {
			err = s.RecordSuccess(token, retry.Result{})
		}
		if err != nil {
			failed = err
		}
	}))
	require.NoError(t, failed)
	require.EqualValues(t, 1002, s.Snapshot().Overflowed)
}
