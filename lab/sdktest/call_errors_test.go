package sdktest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestBackoffThatPassesTheDeadlineIsNotBegun: the SDK begins it. Both errors hold what a
// program looks for in that of the SDK, and ours holds the error of the service too.
func TestBackoffThatPassesTheDeadlineIsNotBegun(t *testing.T) {
	const left = 150 * time.Millisecond
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		call := func(cfg aws.Config) (took time.Duration, err error) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			began := time.Now()
			err = describeWith(ctx, cfg)
			return time.Since(began), err
		}
		sdks := configFor(newScript(throttle))
		sdks.Retryer = func() aws.Retryer {
			return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
				o.Backoff = sdkretry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 10 * time.Second, nil })
			})
		}
		took, theirs := call(sdks)
		require.Equal(t, left, took)
		took, ours := call(setup(t, newScript(throttle), hermetic(always(), awsretry.WithConfig(adaptive.Config{
			Standard: standard.Config{ThrottlingBase: 10 * time.Second},
		}))))
		require.Zero(t, took)

		for name, err := range map[string]error{"the SDK's": theirs, "ours": ours} {
			var canceled *aws.RequestCanceledError
			require.ErrorAs(t, err, &canceled, name)
			require.ErrorIs(t, canceled, context.DeadlineExceeded, name)
			var operation *smithy.OperationError
			require.ErrorAs(t, err, &operation, name)
		}
		requireThrottle(t, ours)
		require.ErrorIs(t, ours, retry.ErrDeadline)
		var refusal *retry.Error
		require.ErrorAs(t, ours, &refusal)
		require.Equal(t, 10*time.Second, refusal.Wait)
		require.Equal(t, 1, refusal.Attempts)
		require.NoError(t, refusal.Last, "it is beside it")
		require.Contains(t, ours.Error(), "client-side: ")
	})
}

// TestSendWaitThatPassesTheDeadlineIsNotBegun before a retry, and before a first attempt, where
// there is no error of the service.
func TestSendWaitThatPassesTheDeadlineIsNotBegun(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		s := newScript(throttle)
		cfg := setup(t, s, hermetic(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(adaptive.Config{
			Standard: standard.Config{ThrottlingBase: time.Nanosecond},
		})))
		for _, first := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			began := time.Now()
			err := describeWith(ctx, cfg)
			require.Zero(t, time.Since(began))
			require.Equal(t, 1, s.requests())
			var canceled *aws.RequestCanceledError
			require.ErrorAs(t, err, &canceled)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, retry.ErrDeadline)
			if !first {
				requireThrottle(t, err)
			}
		}
	})
}

// TestCancelDuringTheBackoffKeepsTheServiceError: the loop of the SDK drops that error.
func TestCancelDuringTheBackoffKeepsTheServiceError(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		cause := errors.New("the user has left")
		var refused []retry.Event
		cfg := setup(t, newScript(throttle), hermetic(always(), awsretry.WithObserver(retry.ObserverFunc(
			func(_ context.Context, e retry.Event) {
				if e.Kind == retry.RetryRefused {
					refused = append(refused, e)
				}
			}))))
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			pause(300 * time.Millisecond)
			cancel(cause)
		}()
		began := time.Now()
		err := describeWith(ctx, cfg)
		require.Equal(t, 300*time.Millisecond, time.Since(began))
		require.ErrorIs(t, err, context.Canceled)
		var canceled *aws.RequestCanceledError
		require.ErrorAs(t, err, &canceled, "as the SDK says it")

		synctest.Wait()
		require.Equal(t, 500, quotaOf(t, cfg), "the retry was not made")
		require.Len(t, refused, 1)
		require.ErrorIs(t, refused[0].Reason, retry.ErrCanceled)
		requireThrottle(t, err)
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, retry.ErrCanceled)
		var refusal *retry.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, 300*time.Millisecond, refusal.Elapsed)
	})
}

// TestCancelBetweenAttemptsKeepsTheServiceError: the context ends while the retry waits for the
// send rate, after its backoff, or before the loop of the SDK begins to sleep.
func TestCancelBetweenAttemptsKeepsTheServiceError(t *testing.T) {
	for _, at := range []retry.EventKind{retry.RetryScheduled, retry.SendWaitBegan} {
		inBubble(t, func(t *testing.T) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			option, kept := adaptiveMode(standard.Config{
				ThrottlingBase: time.Nanosecond,
				Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == at {
						cancel()
					}
				}),
			})
			cfg := installed(t, newScript(throttle), option)
			err := describeWith(ctx, cfg)
			requireThrottle(t, err)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, retry.ErrCanceled)
			require.EqualValues(t, 1, kept.acquired.Load())
			require.EqualValues(t, 1, kept.reported.Load())
			require.Equal(t, 500, quotaOf(t, cfg), "the retry was not made")
		})
	}
}

func TestBadResultsOfFunctionsOfTheProgramAreInTheError(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		s := newScript(fail(503, ""))
		err := describe(t, installed(t, s, hermetic(), awssdk.WithOperation(func(_ context.Context, op retry.Operation, _ any) retry.Operation {
			op.MaxAttempts = -1
			return op
		})))
		require.ErrorContains(t, err, `awssdk: WithOperation: MaxAttempts -1 of "DescribeTable" in scope "dynamodb/eu-central-1": must not be negative`)
		require.Zero(t, s.requests())

		var ignored []retry.Event
		observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.SettingIgnored {
				ignored = append(ignored, e)
			}
		}))
		limit := func(scope retry.ScopeKey) (limit adaptive.SendLimit) {
			if !scope.IsZero() {
				limit.Ceiling = 0.002
			}
			return limit
		}
		const want = `adaptive: SendLimit of scope "dynamodb/eu-central-1": ceiling 0.002: must be 0 or a finite number of 0.01 or more`
		err = describe(t, installed(t, s, hermetic(awsretry.WithMode(awsretry.ModeAdaptive), observer, awsretry.WithMaxAttempts(3),
			awsretry.WithConfig(adaptive.Config{SendLimit: limit}))))
		require.Equal(t, 3, s.requests(), "it is retried")
		refusal, ok := errors.AsType[*retry.Error](err)
		require.True(t, ok)
		require.EqualError(t, refusal.Detail, want)
		require.Len(t, ignored, 1)
		require.EqualError(t, ignored[0].Err, want)
	})
}
