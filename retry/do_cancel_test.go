package retry_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestErrorAfterACancelHoldsTheLastServiceErrorAndTheCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("shutting down")
	for _, c := range []struct {
		name string
		// answers are what the attempts return; the caller's context ends during
		// the last of them. Nil stands for the error of that context.
		answers []error
		limit   int
		reason  error
		want    statusError // 0 for none
	}{
		{"first attempt", []error{statusError(500)}, 0, retry.ErrCanceled, 500},
		{"second attempt with another answer", []error{statusError(500), statusError(503)}, 0, retry.ErrCanceled, 503},
		{"second attempt with the end of the context", []error{statusError(500), nil}, 0, retry.ErrCanceled, 500},
		{"third attempt", []error{statusError(500), statusError(502), nil}, 5, retry.ErrCanceled, 502},
		{"end of the context only", []error{nil}, 0, retry.ErrCanceled, 0},
		{"end of the context, wrapped", []error{&url.Error{Op: "Get", Err: context.Canceled}}, 0, retry.ErrCanceled, 0},
		{
			"second attempt with the end of the context, wrapped",
			[]error{statusError(500), &url.Error{Op: "Get", Err: context.Canceled}},
			0, retry.ErrCanceled, 500,
		},
		{"the cause itself", []error{cause}, 0, retry.ErrCanceled, 0},
		{"the cause itself in the last attempt", []error{cause}, 1, retry.ErrCanceled, 0},
		{"last attempt with an answer", []error{statusError(500)}, 1, retry.ErrAttemptsExhausted, 500},
		{"last attempt with the end of the context", []error{statusError(500), nil}, 2, retry.ErrCanceled, 500},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := modes(t, clk, nil)[mode]
				ctx, cancel := context.WithCancelCause(t.Context())
				n := 0
				var err error
				clk.Run(func() {
					_, err = retry.Do(ctx, s, retry.Operation{MaxAttempts: c.limit}, func(ctx context.Context) (int, error) {
						n++
						if n == len(c.answers) {
							cancel(cause)
						}
						if answer := c.answers[n-1]; answer != nil {
							return 0, answer
						}
						return 0, ctx.Err()
					})
				})
				require.ErrorIs(t, err, c.reason)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, cause)
				if answer := c.answers[n-1]; answer != nil {
					require.ErrorIs(t, err, answer)
				}
				require.NotContains(t, err.Error(), "\n")
				last, ok := errors.AsType[statusError](err)
				require.Equal(t, c.want, last)
				require.Equal(t, c.want != 0, ok)
				refusal, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, len(c.answers), refusal.Attempts)
				require.Equal(t, len(c.answers), n)
			})
		}
	}
}

func TestCancelDuringTheLastSleepOfLongPollingIsInTheError(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := &counting{Strategy: modes(t, clk, func(c *standard.Config) {
				c.Behavior, c.QuotaInitial = retry.V21, new(0)
			})[mode]}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if clk.BlockUntil(t.Context(), 1) == nil {
					cancel()
				}
			}()
			_, err := retry.Do(ctx, s, retry.Operation{LongPolling: true}, func(context.Context) (int, error) {
				return 0, errServer
			})
			require.ErrorIs(t, err, retry.ErrQuotaExhausted)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, errServer)
			require.Equal(t, 1, s.failures)
		})
	}
}

func TestErrorOfARefusedWaitTellsTheElapsedTime(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if clk.BlockUntil(t.Context(), 1) == nil {
			cancel()
		}
	}()
	_, err := retry.Do(ctx, modes(t, clk, nil)["standard"], retry.Operation{}, func(context.Context) (int, error) {
		clk.Advance(2 * time.Second)
		return 0, errServer
	})
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 2*time.Second, refusal.Elapsed)
	require.Equal(t, 1, refusal.Attempts)
}

func TestCallersCancelCountsAfterAnAttemptTimeout(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := retry.Do(ctx, modes(t, clk, nil)["standard"], retry.Operation{}, func(ctx context.Context) (int, error) {
		n++
		clk.Advance(time.Second)
		<-ctx.Done()
		cancel()
		return 0, ctx.Err()
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, n)
	_, ok := errors.AsType[*retry.AttemptTimeoutError](err)
	require.True(t, ok, "the attempt had been ended before")
}

func TestCallersDeadlineIsNoAttemptTimeout(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	ctx, cancel := clk.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := retry.Do(ctx, modes(t, clk, nil)["standard"], retry.Operation{}, func(ctx context.Context) (int, error) {
		clk.Advance(time.Second)
		<-ctx.Done()
		return 0, ctx.Err()
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: 2 * time.Second}))
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, ok := errors.AsType[*retry.AttemptTimeoutError](err)
	require.False(t, ok)
}

func TestAnswerOfTheServiceAfterTheAttemptsLimitIsStillItsAnswer(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	n := 0
	_, err := retry.Do(t.Context(), modes(t, clk, nil)["standard"], retry.Operation{}, func(context.Context) (int, error) {
		n++
		clk.Advance(time.Second)
		return 0, errClient
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
	require.Equal(t, errClient, err)
	require.Equal(t, 1, n)
}
