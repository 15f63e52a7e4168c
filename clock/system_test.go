package clock_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestSystemNowIsMonotonic(t *testing.T) {
	t.Parallel()
	var clk clock.System

	now := clk.Now()

	require.NotEqual(t, now.Round(0), now, "the monotonic reading is kept")
	require.False(t, clk.Now().Before(now))
}

func TestSystemDoesNotAllocateUnlessItWaits(t *testing.T) {
	var clk clock.Clock = clock.System{}
	ctx := t.Context()

	require.Zero(t, testing.AllocsPerRun(100, func() { clk.Now() }))
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = clk.Sleep(ctx, 0) }))
}
