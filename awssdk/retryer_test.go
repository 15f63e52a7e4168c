package awssdk_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestLoopOfTheSDKFollowsTheStrategy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := strategy(t, standard.Config{})
		began := time.Now()
		attempts, err := loop(t.Context(), retryer(t, s), failed(500), failed(503), nil)
		require.NoError(t, err)
		require.Equal(t, 3, attempts)
		require.Equal(t, 75*time.Millisecond, time.Since(began), "25 ms and 50 ms, as for DynamoDB")
		require.Equal(t, 486, s.Snapshot().Scopes[1].Quota)
		require.Equal(t, "dynamodb/eu-central-1", s.Snapshot().Scopes[1].Scope)

		last := failed(404)
		attempts, err = loop(t.Context(), retryer(t, s), failed(500), last)
		require.Equal(t, 2, attempts)
		require.Equal(t, last, err)
	})
}

func TestNumberOfAttemptsIsTheStrategys(t *testing.T) {
	t.Parallel()
	require.Equal(t, 3, retryer(t, strategy(t, standard.Config{})).MaxAttempts())
	require.Equal(t, 7, retryer(t, strategy(t, standard.Config{MaxAttempts: 7})).MaxAttempts())
}

// TestFunctionLowersTheNumberOfAttempts: it cannot raise the number. The operation ends where
// the loop asks no more.
func TestFunctionLowersTheNumberOfAttempts(t *testing.T) {
	t.Parallel()
	for allowed, want := range []int{4, 1, 2, 3, 4, 4, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := strategy(t, standard.Config{MaxAttempts: 4})
			r, err := awssdk.New(s, func(_ context.Context, op retry.Operation, _ any) retry.Operation {
				op.MaxAttempts = allowed
				return op
			})
			require.NoError(t, err)
			attempts, err := loop(t.Context(), r, failed(500), failed(500), failed(500), failed(500), failed(500))
			require.Error(t, err)
			require.Equal(t, want, attempts)
			scope := s.Snapshot().Scopes[1]
			require.Equal(t, 500-14*(want-1), scope.Quota, "%d allowed", allowed)
		})
	}
}

// several is an error that cannot be compared.
type several []error

func (several) Error() string { return "several" }

// seemingly is an error of a comparable type that cannot be compared.
type seemingly struct{ error }

func (seemingly) Temporary() bool { return true }

func TestErrorsThatCannotBeComparedDoNotPanic(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{several{errors.New("one")}, seemingly{several{errors.New("one")}}} {
		for limit := 1; limit <= 3; limit++ {
			for _, capacity := range []int{0, 500} {
				synctest.Test(t, func(t *testing.T) {
					r := retryer(t, strategy(t, standard.Config{MaxAttempts: limit, QuotaCapacity: &capacity}))
					require.NotPanics(t, func() {
						_, err := loop(t.Context(), r, failure, failure, failure)
						require.Error(t, err)
					})
				})
			}
		}
	}
}

// TestErrorOutsideALoopIsJudged: programs call IsErrorRetryable, and that takes nothing from
// the quota.
func TestErrorOutsideALoopIsJudged(t *testing.T) {
	t.Parallel()
	s := strategy(t, standard.Config{})
	r := retryer(t, s)
	require.True(t, r.IsErrorRetryable(failed(500)))
	require.False(t, r.IsErrorRetryable(failed(404)))
	require.False(t, r.IsErrorRetryable(context.Canceled))
	require.False(t, r.IsErrorRetryable(nil))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	require.NoError(t, r.GetInitialToken()(nil)) //nolint:staticcheck // older loops call it
}

// TestRetryOutsideALoop calls the methods without the loop of the SDK.
func TestRetryOutsideALoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := strategy(t, standard.Config{})
		r := retryer(t, s)
		began, failure := time.Now(), failed(500)
		release, err := r.GetRetryToken(t.Context(), failure)
		require.NoError(t, err)
		require.Zero(t, time.Since(began), "the loop sleeps")
		require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
		delay, err := r.RetryDelay(1, failure)
		require.NoError(t, err)
		require.Equal(t, 50*time.Millisecond, delay)
		require.NoError(t, release(nil))
		require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	})
}

// TestOnlyGetRetryTokenKnowsWhetherTheCallerHasGone: IsErrorRetryable gets no context.
func TestOnlyGetRetryTokenKnowsWhetherTheCallerHasGone(t *testing.T) {
	t.Parallel()
	s := strategy(t, standard.Config{TimeoutCost: 20})
	r, below := retryer(t, s), &smithyhttp.RequestSendError{Err: context.DeadlineExceeded}
	require.True(t, r.IsErrorRetryable(below))
	require.False(t, r.IsErrorRetryable(&smithyhttp.RequestSendError{Err: context.Canceled}))

	_, err := r.GetRetryToken(t.Context(), below)
	require.NoError(t, err)
	require.Equal(t, 480, s.Snapshot().Scopes[0].Quota, "at the price of a timeout")

	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = r.GetRetryToken(ended, below)
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, ok := errors.AsType[*aws.RequestCanceledError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, 480, s.Snapshot().Scopes[0].Quota)
}

// denying is a strategy that has no tokens.
type denying struct{ retry.Strategy }

var errDenied = errors.New("denied")

func (denying) AcquireInitialToken(context.Context, retry.Operation) (retry.Token, error) {
	return retry.Token{}, errDenied
}

func TestWithoutATokenThereIsOneAttempt(t *testing.T) {
	t.Parallel()
	first := failed(500)
	attempts, err := loop(t.Context(), retryer(t, denying{strategy(t, standard.Config{})}), first)
	require.Equal(t, 1, attempts)
	require.Equal(t, first, err)
	_, err = loop(t.Context(), retryer(t, denying{strategy(t, standard.Config{})}), nil)
	require.NoError(t, err)
}

// TestErrorsThatAreNotLookedUpAreForgotten: a retryer around this one may decide alone. The
// number of errors that are kept is limited. The strategy hears of each in the end.
func TestErrorsThatAreNotLookedUpAreForgotten(t *testing.T) {
	t.Parallel()
	ended := 0
	s := strategy(t, standard.Config{Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.AttemptEnded {
			ended++
		}
	})})
	r := retryer(t, s)
	for range 35_000 {
		release, err := r.GetAttemptToken(t.Context())
		require.NoError(t, err)
		require.NoError(t, release(failed(500)))
	}
	require.Equal(t, 20_000, ended, "the other 15,000 are kept")
}

func TestNewWantsAStrategy(t *testing.T) {
	t.Parallel()
	_, err := awssdk.New(nil, nil)
	require.EqualError(t, err, "awssdk: retry: no strategy: use what standard.New, adaptive.New or awsretry.Load returns")
}

func TestCallDoesNotBeginAfterTheEndOfItsOperation(t *testing.T) {
	t.Parallel()
	for _, s := range []retry.Strategy{strategy(t, standard.Config{}), denying{strategy(t, standard.Config{})}} {
		r, err := awssdk.New(s, func(_ context.Context, op retry.Operation, _ any) retry.Operation {
			op.NotAfter = time.Unix(1, 0)
			return op
		})
		require.NoError(t, err)
		attempts, err := loop(t.Context(), r, nil)
		require.Zero(t, attempts)
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
	}
}

func TestStrategyOfAConfig(t *testing.T) {
	t.Parallel()
	s := strategy(t, standard.Config{})
	installed := aws.Config{}
	require.NoError(t, awssdk.Install(&installed, awssdk.WithStrategy(s)))
	load, err := awssdk.Load(t.Context(), awssdk.WithStrategy(s))
	require.NoError(t, err)
	made := retryer(t, s)
	for name, c := range map[string]struct {
		retryer func() aws.Retryer
		want    retry.Strategy
	}{
		"Install":         {installed.Retryer, s},
		"Load":            {load, s},
		"New":             {func() aws.Retryer { return made }, s},
		"none":            {nil, nil},
		"a nil interface": {func() aws.Retryer { return nil }, nil},
		"another one":     {func() aws.Retryer { return aws.NopRetryer{} }, nil},
		"one around ours": {func() aws.Retryer { return sdkretry.AddWithMaxAttempts(made, 5) }, nil},
	} {
		got, ok := awssdk.StrategyOf(aws.Config{Retryer: c.retryer})
		require.Equal(t, c.want != nil, ok, name)
		require.Equal(t, c.want, got, name)
	}
}

// Without middlewares the SDK sleeps the backoff after the wait for the send token. It is no part of
// the time that an attempt takes.
func TestBackoffIsNotTheTimeOfAnAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := adaptive.New(adaptive.Config{Standard: standard.Config{Random: func() float64 { return 1 }}})
		require.NoError(t, err)
		r := retryer(t, s)
		throttle := &smithy.GenericAPIError{Code: "ThrottlingException"}
		for range 40 { // so that the throttles do not cut the rate to one whose waits hide the backoff
			_, err := loop(t.Context(), r, nil)
			require.NoError(t, err)
			require.NoError(t, clock.System{}.Sleep(t.Context(), 100*time.Millisecond))
		}
		for range 3 {
			_, err := loop(t.Context(), r, throttle, throttle, nil)
			require.NoError(t, err)
		}
		for range 30 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := loop(ctx, r, nil)
			cancel()
			require.NoError(t, err)
			require.NoError(t, clock.System{}.Sleep(t.Context(), 20*time.Millisecond))
		}
	})
}

// fielded is an error whose methods read a field, so that those of a nil pointer panic.
type fielded struct{ inner error }

func (e *fielded) Error() string { return e.inner.Error() }

func (e *fielded) Unwrap() error { return e.inner }

// holding is an error that can be compared only if what it holds can.
type holding struct{ what any }

func (holding) Error() string { return "holding" }

// The loop of the SDK v1.48.0 panics by itself with the nil pointers (aws/retry/middleware.go, wrapAsClockSkew).
// Any other loop may call the retryer.
func TestErrorsThatPanicAreNotRetried(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]error{
		"nil pointer":                     (*fielded)(nil),
		"nil pointer of the net package":  (*net.OpError)(nil),
		"nil pointer among joined errors": errors.Join((*fielded)(nil), (*net.OpError)(nil)),
		"not to be compared":              holding{[]int{1}},
		"wrapped, not to be compared":     fmt.Errorf("wrap: %w", holding{[]int{1}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := retryer(t, strategy(t, standard.Config{}))
			other, err := r.GetAttemptToken(t.Context()) // so that there is an error to look for
			require.NoError(t, err)
			require.NoError(t, other(failed(500)))
			release, err := r.GetAttemptToken(t.Context())
			require.NoError(t, err)
			require.NoError(t, release(odd))
			require.False(t, r.IsErrorRetryable(odd))
			_, err = r.GetRetryToken(t.Context(), odd) // which takes the error for retryable
			require.NoError(t, err)
			_, err = r.RetryDelay(1, odd)
			require.NoError(t, err)
		})
	}
}
