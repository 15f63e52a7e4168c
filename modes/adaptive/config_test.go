package adaptive_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestNewNamesWhatIsOutOfRange(t *testing.T) {
	t.Parallel()
	s, err := adaptive.New(adaptive.Config{
		Standard: standard.Config{RetryCost: -1}, MaxSendWait: -1, MaxSendQueue: -2, SendCost: math.NaN(), Controller: ratelimit.CutPerThrottle + 1,
	})
	require.Nil(t, s)
	for _, want := range []string{
		"standard: RetryCost -1", "adaptive: MaxSendWait -1ns", "adaptive: MaxSendQueue -2", "adaptive: SendCost NaN", "adaptive: Controller 2",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestLimitsThatArePossible(t *testing.T) {
	t.Parallel()
	for limit, want := range map[adaptive.SendLimit]ratelimit.Rate{
		{}:                             0,
		{Starting: 0.5}:                0.5,
		{Ceiling: 0.5}:                 0.5,
		{Starting: 2}:                  2,
		{Ceiling: 2}:                   2,
		{Starting: 2, Ceiling: 2}:      2,
		{Starting: 2, Ceiling: 3}:      2,
		{Starting: 1e300}:              1 << 53,
		{Starting: 1, Ceiling: 1e300}:  1,
		{Starting: 0.5, Ceiling: 0.75}: 0.5,
		{Ceiling: 0.2, Burst: 1}:       0.2,
		{Starting: 0.01}:               0.01,
	} {
		s, clk := play.Adaptive(t, func(c *adaptive.Config) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return limit }
		})
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}), "%+v", limit)
		got := s.Snapshot().Scopes[0]
		require.Equal(t, want > 0, got.Limited, "%+v", limit)
		if want > 0 {
			require.InDelta(t, float64(want), got.FillRate, 0, "%+v", limit)
		}
	}
}

func TestImpossibleLimitsAreErrorsThatNameTheScope(t *testing.T) {
	t.Parallel()
	for want, limit := range map[string]adaptive.SendLimit{
		"starting rate -1: must be 0 or a finite number of 0.01 or more":    {Starting: -1},
		"starting rate 0.009: must be 0 or a finite number of 0.01 or more": {Starting: 0.009},
		"ceiling NaN: must be 0 or a finite number of 0.01 or more":         {Ceiling: ratelimit.Rate(math.NaN())},
		"ceiling +Inf: must be 0 or a finite number of 0.01 or more":        {Ceiling: ratelimit.Rate(math.Inf(1))},
		"starting rate 0.9: must not be above the ceiling of 0.5":           {Starting: 0.9, Ceiling: 0.5},
		"burst 0.5: must be 0 or a finite number of 1 or more":              {Ceiling: 2, Burst: 0.5},
		"burst NaN: must be 0 or a finite number of 1 or more":              {Ceiling: 2, Burst: math.NaN()},
		"burst 1: needs a starting rate or a ceiling":                       {Burst: 1},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			var ignored []retry.Event
			s, clk := play.Adaptive(t, func(c *adaptive.Config) {
				c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
					if scope.Resource == "orders" {
						return limit
					}
					return adaptive.SendLimit{}
				}
				c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.SettingIgnored {
						ignored = append(ignored, e)
					}
				})
			})
			text := `adaptive: SendLimit of scope "//orders": ` + want
			for range 2 {
				op := retry.Operation{Resource: "orders"}
				require.NoError(t, play.Do(t.Context(), clk, s, op, errServer, errServer), "it is retried")
				failed := play.Do(t.Context(), clk, s, op, errServer, errServer, errServer)
				require.ErrorIs(t, failed, errServer)
				require.ErrorIs(t, failed, retry.ErrAttemptsExhausted)
				require.ErrorContains(t, failed, text)
				final := errors.New("not retryable")
				require.Equal(t, final, play.Do(t.Context(), clk, s, op, final), "as it is")
			}
			require.Len(t, ignored, 1)
			require.EqualError(t, ignored[0].Err, text)
			require.Equal(t, "orders", ignored[0].Scope.Resource)
			require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Resource: "users"}))
			require.Len(t, ignored, 1)
			scopes := s.Snapshot().Scopes
			require.Len(t, scopes, 3)
			require.False(t, scopes[1].Limited, "there is no known limit")
			require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{Resource: "orders"}, errThrottle, errThrottle, errThrottle))
			require.True(t, s.Snapshot().Scopes[1].Limited, "but throttles count")

			_, err := adaptive.New(adaptive.Config{
				SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return limit },
			})
			require.EqualError(t, err, `adaptive: SendLimit of scope "": `+want)
		})
	}
}

// A limiter of the user, such as that of a fleet, may take the limit from SendLimit.
func TestImpossibleLimitIsReportedBesideALimiterOfTheUser(t *testing.T) {
	t.Parallel()
	var ignored []error
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Resource == "orders" {
				return adaptive.SendLimit{Ceiling: 0.001}
			}
			return adaptive.SendLimit{}
		}
		own := *c
		c.NewLimiter = func(scope retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return own.Limiter(clk, own.SendLimit(scope))
		}
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.SettingIgnored {
				ignored = append(ignored, e.Err)
			}
		})
	})
	const text = `adaptive: SendLimit of scope "//orders": ceiling 0.001: must be 0 or a finite number of 0.01 or more`
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Resource: "users"}))
	require.ErrorContains(t, play.Do(t.Context(), clk, s, retry.Operation{Resource: "orders", MaxAttempts: 1}, errServer), text)
	require.Len(t, ignored, 1)
	require.EqualError(t, ignored[0], text)
}
