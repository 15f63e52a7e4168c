package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

const second = time.Second

// usual is a scenario in which 100 workers offer five times what the service allows.
func usual() sim.Scenario {
	return sim.Scenario{
		Conditions: sim.Conditions{
			Rate: 50, Burst: 50, Latency: [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond},
			Workers: 100, Offered: 250,
		},
		Clients: 1, Within: 5 * time.Second,
		Duration: 90 * time.Second, Measured: sim.Window{From: 30 * time.Second, To: 90 * time.Second},
	}
}

// open is a load above the limit of which no call waits for another.
func open() sim.Scenario {
	s := usual()
	s.Workers, s.Rate, s.Burst, s.Offered = 0, 200, 200, 240
	return s
}

func inStandardMode(config standard.Config) sim.Variant {
	return sim.Variant{Name: "standard", New: func(p sim.Parts) (retry.Strategy, error) {
		config := config
		config.Clock, config.Random, config.Observer = p.Clock, p.Random, p.Observer
		return standard.New(config)
	}}
}

func inAdaptiveMode(config standard.Config) sim.Variant {
	return sim.Variant{Name: "adaptive", New: func(p sim.Parts) (retry.Strategy, error) {
		config := config
		config.Clock, config.Random, config.Observer = p.Clock, p.Random, p.Observer
		return adaptive.New(adaptive.Config{Standard: config})
	}}
}

func play(t *testing.T, s sim.Scenario, v sim.Variant) *sim.Result {
	t.Helper()
	r, err := sim.Play(t.Context(), s, v, 1)
	require.NoError(t, err)
	return r
}

// failing are the phases of an outage.
func failing(s *sim.Scenario, from, to time.Duration) []sim.Phase {
	outage := s.Conditions
	outage.Fail = 1
	return []sim.Phase{{From: from, Conditions: outage}, {From: to, Conditions: s.Conditions}}
}
