package sdktest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestCancelDuringTheBackoffSaysWhy: the loop of the SDK drops the cause.
func TestCancelDuringTheBackoffSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the user has left")
		var refused []retry.Event
		cfg := installed(t, newScript(throttle), hermetic(always(), awsretry.WithObserver(retry.ObserverFunc(
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
		synctest.Wait()
		require.Equal(t, 500, quotaOf(t, cfg), "the retry was not made")
		require.Len(t, refused, 1)
		require.ErrorIs(t, refused[0].Reason, retry.ErrCanceled)
		require.ErrorIs(t, err, cause)
		refusal, found := errors.AsType[*retry.Error](err)
		require.True(t, found)
		require.Equal(t, 300*time.Millisecond, refusal.Elapsed)
	})
}

// TestRetryThatIsCanceledBeforeItsAttemptCostsNothing: the context ends while the retry waits for the send rate, after its
// backoff, or before the loop of the SDK begins to sleep.
func TestRetryThatIsCanceledBeforeItsAttemptCostsNothing(t *testing.T) {
	for _, at := range []retry.EventKind{retry.RetryScheduled, retry.SendWaitBegan} {
		synctest.Test(t, func(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
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
