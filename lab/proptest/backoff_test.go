package proptest_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestBackoffEqualsItsFormula(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := backoff.Exponential{
			Max:    drawAnyDuration(t, "max"),
			Jitter: backoff.Jitter(drawInt(t, int(backoff.Full), int(backoff.FullThenCap), "jitter")),
		}
		index := rapid.OneOf(rapid.IntRange(-2, 70), rapid.Int()).Draw(t, "index")
		base, previous := drawAnyDuration(t, "base"), drawAnyDuration(t, "previous")
		if drawBool(t, "base at the edge") { // of what may be doubled so often
			base = shape.Max>>min(max(index, 0), 63) + time.Duration(drawInt(t, -1, 1, "beyond"))
		}
		random := rapid.OneOf(
			rapid.Float64Range(0, 1), rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}),
		).Draw(t, "random")

		delay := shape.Delay(index, base, previous, random)
		longest := shape.Max
		if longest <= 0 {
			longest = backoff.DefaultMax
		}
		require.GreaterOrEqual(t, delay, time.Duration(0))
		require.LessOrEqual(t, delay, longest)
		want := backoffFormula(shape.Jitter, longest, index, base, previous, random)
		// A float64 holds nanoseconds up to 104 days exactly, of longer delays 52 bits.
		tolerance := 1 + want>>51
		require.LessOrEqual(t, (delay - want).Abs(), tolerance, "want %d, got %d", want, delay)
	})
}

func TestBackoffGrowsWithTheRandomNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := backoff.Exponential{
			Max:    drawAnyDuration(t, "max"),
			Jitter: backoff.Jitter(drawInt(t, 0, 255, "jitter")),
		}
		index := drawInt(t, 0, 70, "index")
		base, previous := drawAnyDuration(t, "base"), drawAnyDuration(t, "previous")
		low, high := drawFloat(t, 1, "low"), drawFloat(t, 1, "high")
		low, high = min(low, high), max(low, high)
		require.LessOrEqual(t, shape.Delay(index, base, previous, low), shape.Delay(index, base, previous, high))
	})
}

func TestServerHintMovesTheDelayWithinItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		delay := max(drawAnyDuration(t, "delay"), 0)
		hint, longest := drawAnyDuration(t, "hint"), drawAnyDuration(t, "max")

		floor := backoff.HintAsFloor(delay, hint, longest)
		if longest <= 0 {
			longest = backoff.DefaultMax
		}
		require.Equal(t, max(delay, min(hint, longest)), floor)

		want := max(hint, delay)
		if latest := delay + 5*time.Second; latest > delay { // else it is beyond what a Duration holds
			want = min(want, latest)
		}
		require.Equal(t, want, backoff.HintInWindow(delay, hint))
	})
}

// backoffFormula is the formula of a kind of jitter in exact numbers, rounded down.
func backoffFormula(
	jitter backoff.Jitter, longest time.Duration, index int, base, previous time.Duration, random float64,
) time.Duration {
	if base <= 0 {
		return 0
	}
	if math.IsNaN(random) {
		random = 1
	}
	u := new(big.Rat).SetFloat64(min(max(random, 0), 1))
	b, limit := ratOf(base), ratOf(longest)
	const farEnough = 2000 // lifts the smallest random number above zero over every Duration
	doubled := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(int64(base)), uint(min(max(index, 0), farEnough))))
	capped := smaller(doubled, limit)
	var delay *big.Rat
	switch jitter {
	case backoff.None:
		delay = capped
	case backoff.Equal: // c/2 + u * c/2
		half := product(capped, big.NewRat(1, 2))
		delay = sum(half, product(u, half))
	case backoff.Decorrelated: // base + u * (3*previous - base)
		spread := difference(product(big.NewRat(3, 1), ratOf(max(previous, base))), b)
		delay = smaller(sum(b, product(u, spread)), limit)
	case backoff.FullThenCap:
		delay = smaller(product(u, doubled), limit)
	default:
		delay = product(u, capped)
	}
	return time.Duration(floor(delay).Int64())
}

func TestEveryDelayIsBetweenTheShortestAndTheLongestOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		config, _ := drawConfig(t)
		config.Jitter = drawFrom(t, "any kind of jitter",
			standard.Full, standard.NoJitter, standard.Equal, standard.Decorrelated, standard.FullThenCap)
		config.Random = func() float64 { return drawFloat(t, 1, "random") }
		config.MaxAttempts, config.QuotaCapacity, config.QuotaInitial = 40, nil, nil
		strategy, err := standard.New(config)
		require.NoError(t, err)

		token, err := strategy.AcquireInitialToken(t.Context(), retry.Operation{})
		require.NoError(t, err)
		plan, slept := strategy.Plan(retry.Operation{}), time.Duration(0)
		for {
			verdict := classify.RetryAs(drawFrom(t, "kind", classify.Transient, classify.Throttling))
			longest, hinted := plan.MaxBackoff, drawBool(t, "hinted")
			if hinted {
				hint := drawAnyDuration(t, "hint")
				verdict, longest = verdict.WithHint(hint), longestWith(config, plan, hint)
			}
			token, err = strategy.RefreshRetryToken(t.Context(), token, &classify.JudgedError{Verdict: verdict})
			if err != nil {
				break
			}
			require.GreaterOrEqual(t, token.Delay(), config.MinDelay)
			require.LessOrEqual(t, token.Delay(), longest)
			if !hinted { // hints come on top of the worst case
				slept += token.Delay()
			}
		}
		require.Contains(t, []string{noQuota, tooManyAttempts}, outcomeOf(err))
		if config.Jitter != standard.Decorrelated {
			plan.MaxAttempts = token.Attempt()
			require.LessOrEqual(t, slept.Seconds(), forecast.WorstCaseDelay(plan)+1e-6)
		}
	})
}

// longestWith is the longest delay after a failure with a hint.
func longestWith(config standard.Config, plan retry.Plan, hint time.Duration) time.Duration {
	switch {
	case config.MaxHint > 0:
		return max(plan.MaxBackoff, min(hint, config.MaxHint))
	case config.Behavior == retry.V20:
		return plan.MaxBackoff
	default:
		return plan.MaxBackoff + 5*time.Second
	}
}
