//go:build !race

package effect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slice is what an ordinary test plays: fast, and the same in every run.
func slice() ([]scenario, []contender) {
	var by []contender
	for _, c := range contenders() {
		switch c.name {
		case "awsretry-adaptive", "awsretry-standard", "oracle":
			by = append(by, c)
		}
	}
	return []scenario{steady(50, short, 1, 100)}, by
}

func named(t *testing.T, name string) contender {
	t.Helper()
	for _, c := range contenders() {
		if c.name == name {
			return c
		}
	}
	require.Fail(t, "no such contender", name)
	return contender{}
}

func TestRunsAreTheSameTwice(t *testing.T) {
	s, c := steady(50, time.Second, 1, 100), named(t, "awsretry-adaptive")
	first, second := play(t, s, c, 1).metrics(), play(t, s, c, 1).metrics()
	first.cpu, second.cpu = 0, 0
	require.Equal(t, first, second)
	other := play(t, s, c, 2).metrics()
	require.NotEqual(t, first.p50, other.p50)
}

func TestAdaptiveModeComesCloseToTheOracle(t *testing.T) {
	for _, burst := range []time.Duration{short, time.Second} {
		s := steady(50, burst, 1, 100)
		got := play(t, s, named(t, "awsretry-adaptive"), 1).metrics()
		want := play(t, s, named(t, "oracle"), 1).metrics()
		require.InDelta(t, 1, want.goodput, 0.005)
		require.Zero(t, want.throttled)
		require.GreaterOrEqual(t, got.goodput, 0.95)
		require.LessOrEqual(t, got.throttled, 0.02)
		require.LessOrEqual(t, got.p99, want.p99*12/10)
		require.LessOrEqual(t, got.initial, want.initial*12/10)
		require.GreaterOrEqual(t, got.fairness, 0.995)
		require.LessOrEqual(t, got.wakeUpsPerDelay, 1.1)
	}
}

func TestOutageLeavesNoMarkOnTheQuota(t *testing.T) {
	for _, name := range []string{"awsretry-standard", "awsretry-adaptive"} {
		got := play(t, outage(500), named(t, name), 1).metrics()
		require.Zero(t, got.noQuota, name)
		require.LessOrEqual(t, got.inOutage, 1.02, name)
	}
}

func TestThrottledTableLeavesAnotherAlone(t *testing.T) {
	require.GreaterOrEqual(t, twoTables(t, named(t, "awsretry-adaptive"), 1), 0.99)
}

// TestWaitsOfTheSDKAreCounted notices if its sleep can no longer be replaced, which
// would also take away the floor that lets its runs end.
func TestWaitsOfTheSDKAreCounted(t *testing.T) {
	got := play(t, steady(5, time.Second, 1, 10), named(t, "aws-sdk-go-v2-adaptive"), 1)
	require.Positive(t, got.delayed)
	require.Greater(t, got.wakeUps, got.delayed)
}
