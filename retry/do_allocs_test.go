//go:build !race

// The race detector lets pools forget at random, so allocations are counted without.

package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestDoAllocatesTheContextOfEachAttemptOnly(t *testing.T) {
	for _, observer := range []retry.Observer{nil, retry.ObserverFunc(func(context.Context, retry.Event) {})} {
		s, err := standard.New(standard.Config{
			QuotaCapacity: new(1_000_000), Random: func() float64 { return 0 }, Observer: observer,
		})
		require.NoError(t, err)
		ctx, failures, failed := t.Context(), 0, error(nil)
		attempt := func(context.Context) (int, error) {
			if failures--; failures >= 0 {
				return 0, errServer
			}
			return 1, nil
		}
		for retries := range 3 {
			require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
				failures = retries
				if _, err := retry.Do(ctx, s, retry.Operation{}, attempt); err != nil {
					failed = err
				}
			}), float64(retries+1), "observer %t", observer != nil)
		}
		require.NoError(t, failed)
	}
}
