package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

// wrapped is a strategy by another author.
type wrapped struct{ retry.Strategy }

func TestStrategyThatIsNilIsRefusedAndNothingIsCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strategy retry.Strategy
		want     string
	}{
		"nil":              {nil, "retry: no strategy: use what standard.New, adaptive.New or awsretry.Load returns"},
		"nil, of the user": {(*wrapped)(nil), "retry: no strategy: a nil *retry_test.wrapped: use what its constructor returns, such as standard.New"},
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

func TestStrategyAroundNilFailsTheCheck(t *testing.T) {
	t.Parallel()
	err := retry.CheckStrategy(wrapped{})
	require.ErrorIs(t, err, retry.ErrNoStrategy)
	require.EqualError(t, err, "retry: no strategy: a retry_test.wrapped around nil: use what standard.New, adaptive.New or awsretry.Load returns")
}

func TestStrategyThatCanBeUsedPassesTheCheck(t *testing.T) {
	t.Parallel()
	for _, s := range modes(t, nil, nil) {
		for _, given := range []retry.Strategy{s, denying{}, &denying{}, &counting{Strategy: s}} {
			require.NoError(t, retry.CheckStrategy(given))
		}
	}
}
