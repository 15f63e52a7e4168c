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

// play plays a scenario with a limit that is never higher than at the beginning. The service takes up no more than is
// sent, and accepts no more than its limit.
func play(t *testing.T, s sim.Scenario, v sim.Variant) *sim.Result {
	t.Helper()
	r, err := sim.Play(t.Context(), s, v, 1)
	require.NoError(t, err)
	accepted := 0
	for _, b := range r.Bins {
		require.LessOrEqual(t, b.Accepted+b.Throttled, b.Sent)
		require.LessOrEqual(t, r.LowestQuota, float64(b.Quota))
		accepted += b.Accepted
	}
	require.LessOrEqual(t, float64(accepted), s.Burst+s.Rate*s.Duration.Seconds())
	require.Less(t, r.Goodput, 1.02*s.Rate)
	return r
}
