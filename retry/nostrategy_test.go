package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// wrapped is a strategy by another author.
type wrapped struct{ *standard.Strategy }

func TestStrategyThatNoConstructorMadeIsRefusedAndNothingIsCalled(t *testing.T) {
	t.Parallel()
	const notMade = "retry: no strategy: a strategy that no constructor has made: use what standard.New or adaptive.New returns"
	for name, c := range map[string]struct {
		strategy retry.Strategy
		want     string
	}{
		"nil":              {nil, "retry: no strategy: use what standard.New, adaptive.New or awsretry.Load returns"},
		"nil, standard":    {(*standard.Strategy)(nil), "retry: no strategy: a nil *standard.Strategy: use what its constructor returns, such as standard.New"},
		"nil, adaptive":    {(*adaptive.Strategy)(nil), "retry: no strategy: a nil *adaptive.Strategy: use what its constructor returns, such as standard.New"},
		"nil, of the user": {(*wrapped)(nil), "retry: no strategy: a nil *retry_test.wrapped: use what its constructor returns, such as standard.New"},
		"zero, standard":   {&standard.Strategy{}, notMade},
		"zero, adaptive":   {&adaptive.Strategy{}, notMade},
		"around nil":       {wrapped{}, notMade},
		"around zero":      {wrapped{&standard.Strategy{}}, notMade},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, err := retry.Do(t.Context(), c.strategy, retry.Operation{}, func(context.Context) (int, error) {
				require.Fail(t, "called")
				return 1, nil
			})
			require.Zero(t, value)
			require.EqualError(t, err, c.want)
			require.ErrorIs(t, err, retry.ErrNoStrategy)
			require.ErrorIs(t, retry.CheckStrategy(c.strategy), retry.ErrNoStrategy)
		})
	}
}

func TestStrategyThatCanBeUsedPassesTheCheck(t *testing.T) {
	t.Parallel()
	for _, s := range modes(t, nil, nil) {
		for _, given := range []retry.Strategy{s, denying{}, &denying{}, &counting{Strategy: s}} {
			require.NoError(t, retry.CheckStrategy(given))
		}
	}
}

func TestVerbsOfAStrategyThatNoConstructorMadeSaySo(t *testing.T) {
	t.Parallel()
	made, err := standard.New(standard.Config{})
	require.NoError(t, err)
	for name, s := range map[string]retry.Strategy{
		"nil, standard": (*standard.Strategy)(nil), "zero, standard": &standard.Strategy{},
		"nil, adaptive": (*adaptive.Strategy)(nil), "zero, adaptive": &adaptive.Strategy{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.AcquireInitialToken(t.Context(), retry.Operation{Scope: "orders"})
			require.ErrorIs(t, err, retry.ErrNoStrategy)
			for _, token := range []retry.Token{{}, acquire(t, made)} {
				for verb, use := range verbs(s) {
					require.ErrorIs(t, use(t, token), retry.ErrNoStrategy, verb)
				}
			}
			require.Zero(t, s.Plan(retry.Operation{}))
			require.Zero(t, s.Snapshot())
		})
	}
}
