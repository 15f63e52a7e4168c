package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// usual is a scenario in which 100 workers offer five times what the service allows.
func usual() sim.Scenario {
	return sim.Scenario{
		Rate: 50, Burst: 50, Latency: [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond},
		Clients: 1, Workers: 100, Offered: 250,
		Duration: 90 * time.Second, Measured: sim.Window{From: 30 * time.Second, To: 90 * time.Second},
	}
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
	r, err := sim.Play(t.Context(), s, v, 1, nil)
	require.NoError(t, err)
	return r
}

func TestSameSeedGivesTheSameResult(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]sim.Variant{
		"standard": inStandardMode(standard.Config{}), "adaptive": inAdaptiveMode(standard.Config{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := fmt.Sprintf("%+v", play(t, usual(), v))
			require.Equal(t, first, fmt.Sprintf("%+v", play(t, usual(), v)))
			other, err := sim.Play(t.Context(), usual(), v, 2, nil)
			require.NoError(t, err)
			require.NotEqual(t, first, fmt.Sprintf("%+v", other))
		})
	}
}
