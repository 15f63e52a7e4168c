//go:build !race

package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

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

func TestSimulatedRunsAreTheSameWithTheSameSeed(t *testing.T) {
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

func TestSimulatedClientsBeginTheirCallsByThemselves(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Clients, s.Workers, s.Offered = 2, 0, 40
	odd := 0
	for _, b := range play(t, s, inStandardMode(standard.Config{})).Bins {
		odd += b.Begun % 2
	}
	require.Positive(t, odd, "two clients with the same instants have even numbers")
}

// It counts goroutines, so it is not parallel.
func TestSimulationEndsWhenTooManyCallsAreOpen(t *testing.T) {
	s := usual()
	s.Workers, s.Offered, s.Rate = 0, 1e6, 1
	before := runtime.NumGoroutine()
	_, err := sim.Play(t.Context(), s, inAdaptiveMode(standard.Config{}), 1, nil)
	require.Equal(t, sim.ErrOpen, err)
	require.Less(t, runtime.NumGoroutine(), before+1000, "it leaves no task behind")
}

func TestSimulationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var shown []float64
	_, err := sim.Play(ctx, usual(), inStandardMode(standard.Config{}), 1, func(share float64) {
		if shown = append(shown, share); share > 0.1 {
			cancel()
		}
	})
	require.Equal(t, context.Canceled, err)
	require.Len(t, shown, 10)
	require.True(t, slices.IsSorted(shown))
	_, err = sim.Sweep(ctx, inStandardMode(standard.Config{}), 1, []float64{0.5}, nil)
	require.Equal(t, context.Canceled, err)
}

func TestSimulationReturnsTheErrorOfItsVariant(t *testing.T) {
	t.Parallel()
	bad := inStandardMode(standard.Config{MaxAttempts: -1})
	_, err := sim.Play(t.Context(), usual(), bad, 1, nil)
	require.ErrorContains(t, err, "MaxAttempts")
	_, err = sim.Sweep(t.Context(), bad, 1, []float64{0}, nil)
	require.ErrorContains(t, err, "MaxAttempts")
}

// BenchmarkPlay is the default of the command.
func BenchmarkPlay(b *testing.B) {
	for _, v := range []sim.Variant{inStandardMode(standard.Config{}), inAdaptiveMode(standard.Config{})} {
		b.Run(v.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sim.Play(b.Context(), usual(), v, 1, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
