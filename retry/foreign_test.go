package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// foreign is a strategy of another module around one of this module.
type foreign struct {
	retry.Strategy
	acquire func() error
	refresh func(t retry.Token, failure error) (retry.Token, error)
	failed  func()
}

func (f foreign) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	if f.acquire != nil {
		return retry.Token{}, f.acquire()
	}
	return f.Strategy.AcquireInitialToken(ctx, op)
}

func (f foreign) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	if f.refresh != nil {
		return f.refresh(t, failure)
	}
	return f.Strategy.RefreshRetryToken(ctx, t, failure)
}

func (f foreign) RecordFailure(t retry.Token, failure error) error {
	if f.failed != nil {
		f.failed()
	}
	return f.Strategy.RecordFailure(t, failure)
}

func failing(err error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return 0, err }
}

func TestErrorThatAForeignStrategySharesIsNotChanged(t *testing.T) {
	t.Parallel()
	shared := &retry.Error{Reason: retry.ErrQuotaExhausted}
	inner := modes(t, &clock.Fake{}, nil)["standard"]
	for name, s := range map[string]retry.Strategy{
		"acquire": foreign{Strategy: inner, acquire: func() error { return shared }},
		"refresh": foreign{Strategy: inner, refresh: func(token retry.Token, _ error) (retry.Token, error) {
			return token, shared
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, first := retry.Do(t.Context(), s, retry.Operation{}, failing(errServer))
			_, second := retry.Do(t.Context(), s, retry.Operation{}, failing(errClient))
			require.ErrorIs(t, first, errServer)
			require.ErrorIs(t, second, errClient)
			require.NotErrorIs(t, second, errServer)
			ctx, cancel := context.WithCancel(t.Context())
			_, canceled := retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) {
				cancel()
				return 0, errServer
			})
			require.ErrorIs(t, canceled, context.Canceled)
		})
	}
	t.Cleanup(func() { require.Equal(t, &retry.Error{Reason: retry.ErrQuotaExhausted}, shared) })
}

func TestRefusalThatWrapsAnInnerOneKeepsItsOwnReason(t *testing.T) {
	t.Parallel()
	errMine := errors.New("mine")
	inner := modes(t, &clock.Fake{}, nil)["standard"]
	s := foreign{Strategy: inner, refresh: func(token retry.Token, failure error) (retry.Token, error) {
		return token, fmt.Errorf("%w: %w", errMine, failure)
	}}
	_, err := retry.Do(t.Context(), s, retry.Operation{}, func(ctx context.Context) (int, error) {
		return retry.Do(ctx, inner, retry.Operation{MaxAttempts: 1}, failing(errServer))
	})
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.ErrorIs(t, refusal.Reason, errMine)
	require.ErrorIs(t, refusal.Last, retry.ErrAttemptsExhausted)
	require.ErrorIs(t, err, errServer)
}

func TestForeignStrategyWithoutATokenForTheRetryEndsTheOperation(t *testing.T) {
	t.Parallel()
	s := foreign{Strategy: modes(t, &clock.Fake{}, nil)["standard"], refresh: func(retry.Token, error) (retry.Token, error) {
		return retry.Token{}, nil
	}}
	_, err := retry.Do(t.Context(), s, retry.Operation{}, failing(errServer))
	require.ErrorIs(t, err, retry.ErrForeignToken)
	require.ErrorIs(t, err, errServer)
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 1, refusal.Attempts)
}

func TestFailureThatAForeignStrategyDoesNotRetryComesBackAsItIs(t *testing.T) {
	t.Parallel()
	s := foreign{Strategy: modes(t, &clock.Fake{}, nil)["standard"], refresh: func(token retry.Token, _ error) (retry.Token, error) {
		return token, &retry.Error{Reason: retry.ErrNotRetryable}
	}}
	again := retry.WithPolicy(func(_ int, err error) error { return retry.Mark(err, classify.Transient) })
	notReady := retry.WithPolicy(func(int, error) error { return retry.Mark(errNotReady, classify.Transient) })
	_, err := retry.Do(t.Context(), s, retry.Operation{}, failing(errClient), again)
	require.Equal(t, errClient, err, "without what the policy said of it")
	_, err = retry.Do(t.Context(), s, retry.Operation{}, failing(nil), notReady)
	require.Equal(t, errNotReady, err)
}

func TestForeignStrategyIsToldOfAFailureOnce(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"refused": t.Context(), "not begun": gone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := 0
			s := foreign{Strategy: modes(t, &clock.Fake{}, nil)["standard"], failed: func() { told++ }}
			_, err := retry.Do(ctx, s, retry.Operation{}, failing(errClient))
			require.Error(t, err)
			require.Equal(t, 1, told)
		})
	}
}

func TestMaxElapsedHoldsThroughAForeignStrategy(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			n := 0
			var err error
			clk.Run(func() {
				_, err = retry.Do(t.Context(), foreign{Strategy: modes(t, clk, nil)[mode]}, retry.Operation{MaxElapsed: time.Second},
					func(context.Context) (int, error) { n++; return 0, errServer })
			})
			require.ErrorIs(t, err, retry.ErrMaxElapsed)
			require.Equal(t, 2, n, "one at the last moment")
			refusal, ok := errors.AsType[*retry.Error](err)
			require.True(t, ok)
			require.Equal(t, time.Second, refusal.Elapsed, "on the strategy's clock")
		})
	}
}

func TestOperationWithoutATokenIsJudgedByItsPolicyAndItsContext(t *testing.T) {
	t.Parallel()
	s := foreign{Strategy: denying{}, acquire: func() error { return errDenied }}
	_, err := retry.Do(t.Context(), s, retry.Operation{}, failing(errServer),
		retry.WithPolicy(func(int, error) error { return nil }))
	require.NoError(t, err)

	_, err = retry.Do(t.Context(), s, retry.Operation{}, failing(errServer))
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 1, refusal.Attempts)
	require.Equal(t, errDenied, refusal.Reason)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = retry.Do(gone, s, retry.Operation{}, failing(errServer))
	require.ErrorIs(t, err, errDenied)
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, errServer, "no attempt was made")
}
