package proptest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

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
