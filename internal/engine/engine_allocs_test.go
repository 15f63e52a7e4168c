//go:build !race

// The race detector lets pools forget at random, so allocations are counted without.

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestOperationWithoutAPlaceAllocatesNothing(t *testing.T) {
	s, ctx := throttled(t, &clock.Fake{}), t.Context()
	succeed(t, s, named(100)) // makes the overflow
	var failed error
	op := named(100)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		token, err := s.AcquireInitialToken(ctx, op)
		if err == nil {
			err = token.Wait(ctx)
		}
		if err == nil {
			err = s.RecordSuccess(token)
		}
		if err != nil {
			failed = err
		}
	}))
	require.NoError(t, failed)
	require.EqualValues(t, 1002, s.Snapshot().Overflowed)
}
