package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// nested makes an operation in an operation of the same strategy. Each attempt of both
// fails. It returns how many attempts the inner operations made.
func nested(t *testing.T, clk *clock.Fake, s retry.Strategy, outer, inner retry.Operation, change func(context.Context) context.Context) int {
	t.Helper()
	calls := 0
	clk.Run(func() {
		_ = retry.DoErr(t.Context(), s, outer, func(ctx context.Context) error {
			_ = retry.DoErr(change(ctx), s, inner, func(context.Context) error {
				calls++
				return errServer
			})
			return errServer
		})
	})
	return calls
}

func same(ctx context.Context) context.Context { return ctx }

func TestOnceKeepsInnerOperationsToOneAttempt(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := modes(t, clk, nil)[mode]
			require.Equal(t, 9, nested(t, clk, s, retry.Operation{}, retry.Operation{}, same))
			require.Equal(t, 3, nested(t, clk, s, retry.Operation{}, retry.Operation{MaxAttempts: 7}, retry.Once))
		})
	}
}

func TestOnceHoldsInLoopsOfOnesOwnAndBelowOtherContexts(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	ctx, cancel := context.WithCancel(retry.Once(t.Context()))
	defer cancel()
	token, err := s.AcquireInitialToken(ctx, retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, token.Wait(ctx))
	_, err = s.RefreshRetryToken(ctx, token, errServer)
	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)

	attempt, ok := retry.AttemptFrom(token.Context(ctx))
	require.True(t, ok)
	require.Equal(t, retry.Attempt{Number: 1, Loops: 1, MaxAttempts: 1, Once: true}, attempt)
	attempt, ok = retry.AttemptFrom(ctx)
	require.True(t, ok)
	require.Equal(t, retry.Attempt{Once: true}, attempt)
}

func TestLoopInALoopTellsTheObserverTheProductOfTheAttempts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		outer, inner int
		change       func(context.Context) context.Context
		want         []int
	}{
		{"both retry", 2, 4, same, []int{8, 8}},
		{"the outer one does not retry", 1, 4, same, nil},
		{"the inner one does not retry", 2, 1, same, nil},
		{"the inner one is limited", 2, 4, retry.Once, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			var told []int
			s := modes(t, clk, func(config *standard.Config) {
				config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.LoopNested {
						told = append(told, e.MaxAttempts)
					}
				})
			})["standard"]
			nested(t, clk, s, retry.Operation{MaxAttempts: c.outer}, retry.Operation{MaxAttempts: c.inner}, c.change)
			require.Equal(t, c.want, told)
		})
	}
}

func TestProductOfAttemptsStopsAtTheLargestSetting(t *testing.T) {
	t.Parallel()
	const most = 1<<31 - 1
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	var seen retry.Attempt
	_ = retry.DoErr(t.Context(), s, retry.Operation{MaxAttempts: most}, func(ctx context.Context) error {
		return retry.DoErr(ctx, s, retry.Operation{MaxAttempts: most}, func(ctx context.Context) error {
			seen, _ = retry.AttemptFrom(ctx)
			return nil
		})
	})
	require.Equal(t, retry.Attempt{Number: 1, Loops: 2, MaxAttempts: most}, seen)
}

func TestOnceAndTheLoopsAroundReachAnOperationWithoutAToken(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	var seen retry.Attempt
	err := retry.DoErr(t.Context(), s, retry.Operation{}, func(ctx context.Context) error {
		return retry.DoErr(retry.Once(ctx), denying{s}, retry.Operation{}, func(ctx context.Context) error {
			seen, _ = retry.AttemptFrom(ctx)
			return nil
		})
	})
	require.NoError(t, err)
	require.Equal(t, retry.Attempt{Number: 1, Loops: 2, MaxAttempts: 3, Once: true}, seen)
}
