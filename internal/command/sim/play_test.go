//go:build !race

package sim_test

import (
	"context"
	"fmt"
	"math"
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

// Each call that began has ended or is open at the end, and each attempt that the service took up
// was accepted, throttled or failed.
func TestSimulatedCallsAndAttemptsAreAllCounted(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]func(s *sim.Scenario){
		"closed": func(*sim.Scenario) {},
		"open":   func(s *sim.Scenario) { s.Workers, s.Offered = 0, 40 },
		"outage": func(s *sim.Scenario) {
			s.Offered = 25
			s.Changes = []sim.Change{{At: 30 * time.Second, Rate: 50, Failing: true}, {At: 40 * time.Second, Rate: 50}}
		},
		"clients": func(s *sim.Scenario) { s.Clients, s.Workers = 20, 5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario := usual()
			s(&scenario)
			for _, v := range []sim.Variant{inStandardMode(standard.Config{}), inAdaptiveMode(standard.Config{})} {
				got := play(t, scenario, v)
				offered, sent, accepted, throttled := 0, 0, 0, 0
				for _, b := range got.Bins {
					require.LessOrEqual(t, b.Accepted+b.Throttled, b.Sent)
					require.LessOrEqual(t, got.LowestQuota, b.Quota)
					offered += b.Offered
					sent += b.Sent
					accepted += b.Accepted
					throttled += b.Throttled
				}
				require.Greater(t, offered, 1000)
				require.Less(t, float64(accepted), scenario.Burst+scenario.Rate*scenario.Duration.Seconds())
				require.Less(t, got.Goodput, 1.02*scenario.Rate)
				if scenario.Workers > 0 && v.Name == "standard" {
					require.LessOrEqual(t, float64(offered), scenario.Offered*scenario.Duration.Seconds()+100)
				}
				if len(scenario.Changes) == 0 {
					cut := sent - accepted - throttled // by the end, as nothing fails
					require.GreaterOrEqual(t, cut, 0)
					require.LessOrEqual(t, cut, 10)
				}
			}
		})
	}
}

// A quota and a pool that others fill are as good as a larger quota. The calls of the others do not
// count.
func TestSimulatedHealthyTablesHelpTheThrottledOne(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Rate, s.Burst, s.Offered, s.Workers = 5, 5, 100, 8
	for name, v := range map[string]sim.Variant{"standard": inStandardMode(standard.Config{}), "adaptive": inAdaptiveMode(standard.Config{})} {
		s.Healthy = 0
		alone := play(t, s, v)
		s.Healthy = 2
		helped := play(t, s, v)
		require.InDelta(t, s.Rate, helped.Goodput, 0.5, name)
		offered, pool := 0, 0
		for _, b := range helped.Bins {
			offered += b.Offered
			pool = max(pool, b.Pool)
		}
		require.LessOrEqual(t, float64(offered), s.Offered*s.Duration.Seconds()+100)
		require.Positive(t, pool)
		if name == "standard" {
			require.Greater(t, alone.FailedShare, 0.9)
			require.Less(t, helped.FailedShare, 0.5)
		}
	}
}

func TestSimulatedQuotaRecoversAfterAnOutage(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Rate, s.Burst, s.Offered = 500, 500, 100
	s.Changes = []sim.Change{{At: 30 * time.Second, Rate: 500, Failing: true}, {At: 60 * time.Second, Rate: 500}}
	got := play(t, s, inStandardMode(standard.Config{}))
	require.Zero(t, got.Recover)
	require.InDelta(t, 30.2, got.Emptied, 0.2)
	require.InDelta(t, 0.5, got.FailedShare, 0.01)
	require.Equal(t, 500%14, got.LowestQuota)
	require.Equal(t, 500, got.Bins[len(got.Bins)-1].Quota)

	s.Changes = s.Changes[:1]
	require.True(t, math.IsNaN(play(t, s, inStandardMode(standard.Config{})).Recover), "it lasts to the end")
}

func TestSimulatedClientsBeginTheirCallsByThemselves(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Clients, s.Workers, s.Offered = 2, 0, 40
	odd := 0
	for _, b := range play(t, s, inStandardMode(standard.Config{})).Bins {
		odd += b.Offered % 2
	}
	require.Positive(t, odd, "two clients with the same instants have even numbers")
}

// A deadline ends waits out of their order, and each call in its time.
func TestSimulatedDeadlineEndsCalls(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]sim.Variant{"timeout": inAdaptiveMode(standard.Config{}), "max elapsed": inAdaptiveMode(standard.Config{MaxElapsed: time.Second})} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := time.Second + 20*time.Millisecond // an attempt that was sent goes on
			if name == "timeout" {
				v.Timeout, most = time.Second, time.Second
			}
			got := play(t, usual(), v)
			require.InDelta(t, most.Seconds(), got.LatencyMax, 0.005)
			require.LessOrEqual(t, got.LatencyMax, most.Seconds())
			require.Greater(t, got.FailedShare, 0.5)
			require.Greater(t, got.Goodput, 35.0)
		})
	}
}

func TestSimulationEndsWhenTooManyCallsAreOpen(t *testing.T) {
	t.Parallel()
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

// Left of the drain point nothing is refused: N attempts at most, each of which fails by itself.
func TestSimulatedSharesFollowTheFormulaLeftOfTheDrainPoint(t *testing.T) {
	t.Parallel()
	shares := []float64{0, 0.1, 0.2, 1}
	points, err := sim.Sweep(t.Context(), inStandardMode(standard.Config{}), 1, shares, nil)
	require.NoError(t, err)
	for i, p := range shares {
		want, failed := 1+p+p*p, p*p*p
		if p == 1 {
			want, failed = 1, 1 // the quota is empty
		}
		require.InDelta(t, p, points[i].Share, 0)
		require.InDelta(t, want, points[i].AttemptsPerCall, 0.03)
		require.InDelta(t, failed, points[i].FailedShare, 0.01)
	}
}

// Well right of it the quota is empty: what successes bring is all that retries get.
func TestSimulatedAttemptsPeakAtTheDrainPoint(t *testing.T) {
	t.Parallel()
	for _, b := range []retry.Behavior{retry.V20, retry.V21} {
		v := inStandardMode(standard.Config{Behavior: b})
		plan, err := v.Plan()
		require.NoError(t, err)
		drain := plan.DrainPoint(plan.RetryCost)
		points, err := sim.Sweep(t.Context(), v, 1, []float64{drain - 0.1, drain, drain + 0.1, drain + 0.3}, nil)
		require.NoError(t, err)
		attempts := func(i int) float64 { return points[i].AttemptsPerCall }
		require.Less(t, attempts(0), attempts(1))
		require.Greater(t, attempts(1), attempts(2))
		require.Greater(t, attempts(2), attempts(3))
	}
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
