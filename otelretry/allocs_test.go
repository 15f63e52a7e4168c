//go:build !race

// The race detector lets pools forget at random, so allocations are counted without.

package otelretry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestASuccessAllocatesNothingMoreWithTelemetry(t *testing.T) {
	_, config := newReader()
	allocations := func(observer retry.Observer) float64 {
		strategy, err := standard.New(standard.Config{Observer: observer})
		require.NoError(t, err)
		ctx := t.Context()
		return testing.AllocsPerRun(1000, func() { _ = retry.DoErr(ctx, strategy, getItem, succeed) })
	}
	require.Equal(t, allocations(nil), allocations(newTelemetry(t, config))) //nolint:testifylint // whole numbers
}
