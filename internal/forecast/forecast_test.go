package forecast_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestDrainPointOfEachPlan(t *testing.T) {
	t.Parallel()
	const digits = 0.0005 // half of the last digit that want has
	endless := 1 / (1 + math.Sqrt(14))
	oneRetry := func(cost float64) float64 { return (math.Sqrt(1+4*cost) - 1) / (2 * cost) } // 1-p = cost*p^2
	for _, c := range []struct {
		name                     string
		attempts, capacity, cost int
		want, delta              float64
	}{
		{"v2.0", 3, 500, 5, 0.321, digits},
		{"v2.0, timeouts", 3, 500, 10, 0.246, digits},
		// The AWS SDKs and Tools Reference Guide, "Retry behavior", has about 22 % and 32 % for these two.
		{"v2.1", 3, 500, 14, 0.215, digits},
		{"v2.1, throttles", 3, 500, 5, 0.321, digits},
		{"one retry for 14 tokens", 2, 500, 14, oneRetry(14), 1e-15},
		{"as many attempts as settings allow", math.MaxInt32, 500, 14, endless, 1e-15},
		{"as many attempts as there can be", math.MaxInt, 500, 14, endless, 1e-15},
		{"the highest cost", 2, math.MaxInt, math.MaxInt, oneRetry(math.MaxInt), 1e-15},
		{"a quota of one retry", 3, 14, 14, 0.215, digits},
		{"a quota of less than one retry", 3, 13, 14, 0, 0},
		{"no quota", 3, 0, 14, 0, 0},
		{"no cost", 3, 500, 0, 1, 0},
		{"a negative cost", 3, 500, -1, 1, 0},
		{"one attempt", 1, 500, 14, 1, 0},
		{"fewer than no attempts", math.MinInt, 500, 14, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan := retry.Plan{MaxAttempts: c.attempts, QuotaCapacity: c.capacity}
			require.InDelta(t, c.want, forecast.DrainPoint(plan, c.cost), c.delta)
		})
	}
}

func TestRetriesThatAFullQuotaPaysFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                           string
		attempts, capacity, cost, want int
	}{
		{"more than the quota has", 1000, 500, 14, 35},
		{"as many as the attempts allow", 36, 500, 14, 35},
		{"no cost", 1000, 500, 0, 999},
		{"a quota below the cost", 3, 13, 14, 0},
		{"a negative quota", 3, -20, 14, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, forecast.RetriesInARow(retry.Plan{MaxAttempts: c.attempts, QuotaCapacity: c.capacity}, c.cost))
		})
	}
}

// An operation that only fails ends after as many retries as are forecast, in the time that is forecast.
func TestOneOperationEmptiesAFullQuota(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, standard.Config{MaxAttempts: 1000, Jitter: standard.NoJitter})
	plan := s.Plan(retry.Operation{})
	for kind, cost := range map[classify.Kind]int{classify.Transient: plan.RetryCost, classify.Throttling: plan.ThrottlingCost} {
		attempts := 0
		_ = retry.DoErr(t.Context(), s, retry.Operation{Name: kind.String(), Scope: kind.String()}, func(context.Context) error {
			attempts++
			return retry.Mark(errors.New("failed"), kind)
		})
		require.Equal(t, forecast.RetriesInARow(plan, cost), attempts-1, kind)
	}
	require.InDelta(t, 1+2+4+8+16+20*95, forecast.WorstCaseDelay(plan), 0)
}

// A strategy makes operations whose attempts fail independently of each other.
func TestQuotaEmptiesAboveTheDrainPointOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config standard.Config
		kind   classify.Kind
	}{
		{"v2.0", standard.Config{Behavior: retry.V20}, classify.Transient},
		{"v2.1", standard.Config{}, classify.Transient},
		{"v2.1, DynamoDB", standard.Config{Service: "dynamodb"}, classify.Transient},
		{"one retry for one token", standard.Config{MaxAttempts: 2, RetryCost: 1}, classify.Transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Greater(t, averageQuota(t, c.config, c.kind, 0.9), 400.0)
			require.Less(t, averageQuota(t, c.config, c.kind, 1.1), 100.0)
		})
	}
}

// averageQuota returns how many of its 500 tokens the quota has on average where the share of
// failing attempts is so many times the drain point. The quota has half of its tokens at first.
func averageQuota(t *testing.T, config standard.Config, kind classify.Kind, ofDrainPoint float64) (tokens float64) {
	t.Helper()
	config.QuotaInitial = new(250)
	s := newStrategy(t, config)
	plan := s.Plan(retry.Operation{})
	cost := map[classify.Kind]int{
		classify.Transient: plan.RetryCost, classify.Timeout: plan.TimeoutCost, classify.Throttling: plan.ThrottlingCost,
	}[kind]
	share := ofDrainPoint * forecast.DrainPoint(plan, cost)
	failure := retry.Mark(errors.New("failed"), kind)
	random := rand.New(rand.NewPCG(1, 2))
	const warmUp, count = 3000, 8000
	for i := range warmUp + count {
		_ = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error {
			if random.Float64() < share {
				return failure
			}
			return nil
		})
		if i >= warmUp && i%10 == 0 {
			tokens += float64(s.Snapshot().Scopes[0].Quota) / (count / 10)
		}
	}
	return tokens
}

// rushing is a clock on which a sleep takes no time.
type rushing struct{ clock.Fake }

func (c *rushing) Sleep(_ context.Context, d time.Duration) error {
	c.Advance(d)
	return nil
}

// newStrategy returns a strategy that waits in no time, with every jitter at one half.
func newStrategy(t *testing.T, c standard.Config) retry.Strategy {
	t.Helper()
	c.Clock, c.Random = new(rushing), func() float64 { return 0.5 }
	s, err := standard.New(c)
	require.NoError(t, err)
	return s
}
