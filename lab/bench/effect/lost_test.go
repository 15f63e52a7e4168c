//go:build !race

package effect

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// losing is what a service that loses connections does in a minute.
func losing() map[string]func(s *sim.Scenario) {
	phases := func(s *sim.Scenario, change func(second int, now *sim.Conditions)) {
		for second := range 60 {
			now := s.Conditions
			change(second, &now)
			s.Phases = append(s.Phases, sim.Phase{From: time.Duration(second) * time.Second, Conditions: now})
		}
	}
	return map[string]func(s *sim.Scenario){
		"resets what is above its limit": func(s *sim.Scenario) { s.Rate, s.Burst = s.Offered/2, s.Offered/20 },
		"resets 10 to 90 %": func(s *sim.Scenario) {
			phases(s, func(second int, now *sim.Conditions) { now.Fail = 0.1 + 0.8*float64(second)/60 })
		},
		"resets all for half a minute": func(s *sim.Scenario) {
			phases(s, func(second int, now *sim.Conditions) {
				if second >= 15 && second < 45 {
					now.Fail = 1
				}
			})
		},
		"loses all each second": func(s *sim.Scenario) {
			for second := 1; second < 60; second++ {
				s.Lose = append(s.Lose, time.Duration(second)*time.Second)
			}
		},
		"loses all once": func(s *sim.Scenario) { s.Lose = []time.Duration{30 * time.Second} },
	}
}

// playLosses plays a minute of a scenario in which requests fail so. It returns how many attempts are made, and how many calls fail
// before the end.
func playLosses(t *testing.T, s sim.Scenario, behavior retry.Behavior, failure error) (attempts, failed int) {
	t.Helper()
	clk := sim.NewClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	world := clk.Beside()
	strategy, err := standard.New(standard.Config{Behavior: behavior, Clock: world, Random: seeded(1)})
	require.NoError(t, err)
	load := &sim.Load{Scenario: &s, Service: sim.NewService(s, 1, clk.Now()), Table: "table", Start: clk.Now(), Seed: 1, Ended: func(call *sim.Call) {
		attempts += len(call.Attempts)
		if call.Err != nil && call.Ended < s.Duration {
			failed++
		}
	}}
	load.Service.Throttled, load.Service.Failed, load.Service.Lost = failure, failure, failure
	load.Begin(t.Context(), world, looped{strategy})
	for _, p := range s.Phases {
		clk.AfterFunc(p.From, func() { load.Service.Change(clk.Now(), p.Conditions) })
	}
	clk.Run(clk.Now().Add(s.Duration))
	return attempts, failed
}

// TestLoansAddFewAttempts plays services that lose connections beside the same ones with dials that are refused, for which the quota
// lends nothing.
func TestLoansAddFewAttempts(t *testing.T) {
	t.Parallel()
	lost := &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	most, behaviors := 100, []retry.Behavior{retry.V21}
	if *all {
		most, behaviors = 1000, append(behaviors, retry.V20)
	}
	for _, behavior := range behaviors {
		for name, change := range losing() {
			for _, callers := range []int{4, 100, 1000} {
				if callers > most {
					continue
				}
				for _, open := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/callers=%d/open=%v", behavior, name, callers, open), func(t *testing.T) {
						t.Parallel()
						s := sim.Scenario{Clients: 1, Duration: time.Minute}
						s.Rate, s.Burst, s.Workers = 1e6, 1e6, callers
						s.Latency, s.Offered = [2]time.Duration{50 * time.Millisecond, 150 * time.Millisecond}, 8*float64(callers)
						if open {
							s.Workers = 0
						}
						change(&s)
						charged, without := playLosses(t, s, behavior, refused)
						attempts, failed := playLosses(t, s, behavior, lost)
						t.Logf("attempts %d, without loans %d; calls that fail %d, without loans %d", attempts, charged, failed, without)
						require.LessOrEqual(t, float64(attempts), 1.1*float64(charged))
						if len(s.Lose) == 1 {
							require.Zero(t, failed)
						}
					})
				}
			}
		}
	}
}
