//go:build long

package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/standard"
)

// A deadline ends waits out of their order, and each call in its time.
func TestSimulatedDeadlineEndsCalls(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]sim.Variant{"deadline": inAdaptiveMode(standard.Config{}), "max elapsed": inAdaptiveMode(standard.Config{MaxElapsed: time.Second})} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := time.Second + 20*time.Millisecond // an attempt that was sent goes on
			if name == "deadline" {
				v.Deadline, most = time.Second, time.Second
			}
			got := play(t, usual(), v)
			longest := max(got.FailedMax, got.LatencyMax)
			require.InDelta(t, most.Seconds(), longest, 0.005)
			require.LessOrEqual(t, longest, most.Seconds())
			require.Greater(t, got.FailedShare, 0.5)
			require.Greater(t, got.Goodput, 35.0)
		})
	}
}
