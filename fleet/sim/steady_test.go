package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// steady is a fleet that nothing happens to, in the seconds 30 to 90. The store is 1 ms away.
func steady(t *testing.T, r run) []outcome {
	t.Helper()
	r.roundTrip = time.Millisecond
	return []outcome{{"30 to 90 s", r.until(t, 90).part(30, 90, r.rate), -1}}
}

func TestTenMembersShareFiveASecond(t *testing.T) {
	t.Parallel()
	holds(t, run{rate: 5, members: 10, burst: time.Second}, 8, steady, func(t require.TestingT, got []outcome) {
		require.GreaterOrEqual(t, got[0].goodput, 0.9)
		require.LessOrEqual(t, got[0].throttled, 0.03)
		require.LessOrEqual(t, got[0].calls, 1.3*11)
	})
	holds(t, run{rate: 5, members: 10, burst: time.Second / 10}, 16, steady, func(t require.TestingT, got []outcome) {
		require.GreaterOrEqual(t, got[0].goodput, 0.82)
		require.LessOrEqual(t, got[0].throttled, 0.03)
	})
}
