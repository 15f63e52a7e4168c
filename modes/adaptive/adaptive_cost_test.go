package adaptive_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

func TestMeasuredRateOfAStrategyIsInTokens(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) { c.SendCost = 2.5 })
	clk.Advance(10 * time.Second)
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
	require.InDelta(t, 0.8*2.5/10, s.Snapshot().Scopes[0].MeasuredRate, 1e-12, "one response in ten seconds")
}

// A throttle leaves a rate of half a token a second, so that the tokens for an attempt are there
// after twice as many seconds.
func TestAttemptsThatCostMoreThanTheRateGoOnAfterAThrottle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(c *adaptive.Config)
		within time.Duration // the caller's deadline
	}{
		{"without a wait", func(c *adaptive.Config) { c.NoSendWait = true }, time.Hour},
		{"with a bounded wait", func(c *adaptive.Config) { c.MaxSendWait = 100 * time.Millisecond }, time.Hour},
		{"with a deadline", nil, 500 * time.Millisecond},
	} {
		for cost, capacity := range map[float64]float64{0: 1, 0.5: 1, 1: 1, 2: 2, 7.5: 7.5} {
			t.Run(fmt.Sprint(c.name, ", cost ", cost), func(t *testing.T) {
				t.Parallel()
				s, clk := newStrategy(t, func(config *adaptive.Config) {
					config.SendCost, config.Standard.MaxAttempts = cost, 1
					if c.change != nil {
						c.change(config)
					}
				})
				call := func(errs ...error) error {
					ctx, cancel := clk.WithTimeout(t.Context(), c.within)
					defer cancel()
					_, err := retry.Do(ctx, s, retry.Operation{}, answers(errs...))
					return err
				}
				require.ErrorIs(t, call(errThrottle), errThrottle)
				require.ErrorIs(t, call(), retry.ErrSendRateLimited)
				require.InDelta(t, capacity, s.Snapshot().Scopes[0].SendCapacity, 0)
				for range 3 {
					clk.Advance(time.Minute)
					require.InDelta(t, 0.5, s.Snapshot().Scopes[0].FillRate, 0)
					require.ErrorIs(t, call(errThrottle), errThrottle, "an attempt in a minute")
				}
			})
		}
	}
}
