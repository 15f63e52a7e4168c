//go:build long

package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/standard"
)

// Each call that began has ended or is open at the end, and each attempt that the service took up
// was accepted, throttled or failed.
func TestSimulatedCallsAndAttemptsAreAllCounted(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]func(s *sim.Scenario){
		"closed": func(*sim.Scenario) {},
		"open":   func(s *sim.Scenario) { s.Workers, s.Offered = 0, 40 },
		"outage": func(s *sim.Scenario) {
			s.Offered = 25
			s.Phases = failing(s, 30*time.Second, 40*time.Second)
		},
		"clients": func(s *sim.Scenario) { s.Clients, s.Workers = 20, 5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario := usual()
			s(&scenario)
			for _, v := range []sim.Variant{inStandardMode(standard.Config{}), inAdaptiveMode(standard.Config{})} {
				got := play(t, scenario, v)
				begun, sent, accepted, throttled := 0, 0, 0, 0
				for _, b := range got.Bins {
					require.LessOrEqual(t, b.Accepted+b.Throttled, b.Sent)
					require.LessOrEqual(t, got.LowestQuota, float64(b.Quota))
					begun += b.Begun
					sent += b.Sent
					accepted += b.Accepted
					throttled += b.Throttled
				}
				require.Greater(t, begun, 1000)
				require.Less(t, float64(accepted), scenario.Burst+scenario.Rate*scenario.Duration.Seconds())
				require.Less(t, got.Goodput, 1.02*scenario.Rate)
				if scenario.Workers > 0 && v.Name == "standard" {
					require.LessOrEqual(t, float64(begun), scenario.Offered*scenario.Duration.Seconds()+100)
				}
				if len(scenario.Phases) == 0 {
					cut := sent - accepted - throttled // by the end, as nothing fails
					require.GreaterOrEqual(t, cut, 0)
					require.LessOrEqual(t, cut, 10)
				}
			}
		})
	}
}

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
			require.InDelta(t, most.Seconds(), got.LatencyMax, 0.005)
			require.LessOrEqual(t, got.LatencyMax, most.Seconds())
			require.Greater(t, got.FailedShare, 0.5)
			require.Greater(t, got.Goodput, 35.0)
		})
	}
}
