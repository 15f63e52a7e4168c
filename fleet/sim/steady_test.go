package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// steady plays a fleet that nothing happens to, with several seeds, and returns the mean of the
// seconds 30 to 90. The store is 1 ms away.
func steady(t *testing.T, r run, seeds uint64) result {
	t.Helper()
	r.roundTrip, r.length = time.Millisecond, 90*time.Second
	var windows []result
	for r.seed = range seeds {
		windows = append(windows, r.play(t).part(30, 90, r.rate))
	}
	got := mean(windows)
	t.Logf("goodput %.3f, throttled %.2f %%, Jain %.3f, %.0f calls/s", got.goodput, 100*got.throttled, got.jain, got.calls)
	return got
}

func TestTenMembersShareFiveASecond(t *testing.T) {
	t.Parallel()
	got := steady(t, run{rate: 5, members: 10, burst: time.Second}, 8)
	require.GreaterOrEqual(t, got.goodput, 0.9)
	require.LessOrEqual(t, got.throttled, 0.03)
	require.LessOrEqual(t, got.calls, 1.3*11)
	got = steady(t, run{rate: 5, members: 10, burst: time.Second / 10}, 16)
	require.GreaterOrEqual(t, got.goodput, 0.82)
	require.LessOrEqual(t, got.throttled, 0.03)
}
