package clock_test

import (
	"testing"
	"time"

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

func BenchmarkSystem(b *testing.B) {
	var clk clock.Clock = clock.System{}
	b.Run("op=now", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			clk.Now()
		}
	})
	b.Run("op=arm-and-stop", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			clk.AfterFunc(time.Hour, func() {}).Stop()
		}
	})
}
