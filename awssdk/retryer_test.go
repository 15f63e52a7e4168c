package awssdk_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// answer is what an attempt returns; nil is success.
type answer func(ctx context.Context) error

func (f answer) HandleFinalize(ctx context.Context, _ middleware.FinalizeInput) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	return out, metadata, f(ctx)
}

// loop runs the retry loop of the SDK around attempts that end with the given errors, and
// returns how many attempts there were.
func loop(ctx context.Context, r aws.Retryer, errs ...error) (attempts int, err error) {
	ctx = awsmiddleware.SetServiceID(ctx, "DynamoDB")
	ctx = awsmiddleware.SetRegion(ctx, "eu-central-1")
	in := middleware.FinalizeInput{Request: smithyhttp.NewStackRequest()}
	_, _, err = sdkretry.NewAttemptMiddleware(r, smithyhttp.RequestCloner).HandleFinalize(ctx, in, answer(func(context.Context) error {
		attempts++
		return errs[attempts-1]
	}))
	return attempts, err
}

func strategy(t *testing.T, config standard.Config) retry.Strategy {
	t.Helper()
	if config.Random == nil {
		config.Random = func() float64 { return 1 }
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	return s
}

func retryer(t *testing.T, s retry.Strategy) aws.RetryerV2 {
	t.Helper()
	r, err := awssdk.New(s, nil)
	require.NoError(t, err)
	return r
}

// failed returns a new error of a service.
func failed(status int) error { return &serviceError{status} }

type serviceError struct{ status int }

func (*serviceError) Error() string         { return "the service failed" }
func (e *serviceError) HTTPStatusCode() int { return e.status }

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

func TestWithStrategyBesideWithSettingsIsAnError(t *testing.T) {
	t.Parallel()
	const text = "awssdk: WithStrategy and WithSettings exclude each other"
	both := []awssdk.Option{
		awssdk.WithStrategy(strategy(t, standard.Config{})), awssdk.WithSettings(awsretry.WithMaxAttempts(2)), awssdk.WithStrategy(nil),
	}
	_, err := awssdk.Load(t.Context(), both...)
	require.EqualError(t, err, text)
	cfg := aws.Config{}
	require.EqualError(t, awssdk.Install(&cfg, both...), text)
	require.Equal(t, aws.Config{}, cfg)
	_, err = awssdk.Load(t.Context(), both[0], awssdk.WithSettings())
	require.NoError(t, err, "no settings")
}

func TestAccountThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"1", "11112222333x", "arn:aws:iam::111122223333:root"} {
		want := "awssdk: an account of WithAccount must have twelve digits: " + strconv.Quote(id)
		_, err := awssdk.Load(t.Context(), awssdk.WithAccount(id), awssdk.WithStrategy(strategy(t, standard.Config{})))
		require.EqualError(t, err, want)
		cfg := aws.Config{}
		require.EqualError(t, awssdk.Install(&cfg, awssdk.WithAccount(id)), want)
		require.Equal(t, aws.Config{}, cfg)
	}
	cfg := aws.Config{}
	require.NoError(t, awssdk.Install(&cfg, awssdk.WithAccount(""), awssdk.WithStrategy(strategy(t, standard.Config{}))))
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

func TestDelayOfAnUnknownErrorIsTheUsualBackoff(t *testing.T) {
	t.Parallel()
	r := retryer(t, strategy(t, standard.Config{}))
	for attempt, c := range []struct {
		failure error
		most    time.Duration
	}{
		{failed(500), 50 * time.Millisecond}, // of no attempt
		{failed(500), 50 * time.Millisecond},
		{failed(500), 100 * time.Millisecond},
		{failed(429), 4 * time.Second},
		{failed(429), 8 * time.Second},
		{failed(429), 16 * time.Second},
		{failed(429), 20 * time.Second},
		{nil, 3200 * time.Millisecond},
	} {
		longest := time.Duration(0)
		for range 1000 {
			delay, err := r.RetryDelay(attempt, c.failure)
			require.NoError(t, err)
			require.GreaterOrEqual(t, delay, time.Duration(0))
			longest = max(longest, delay)
		}
		require.LessOrEqual(t, longest, c.most)
		require.Greater(t, longest, c.most*9/10, "full jitter")
	}
	delay, err := r.RetryDelay(1<<40, failed(500))
	require.NoError(t, err)
	require.LessOrEqual(t, delay, 20*time.Second)
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

// around is a strategy by another author.
type around struct{ retry.Strategy }

func TestStrategyThatNoConstructorMadeIsRefusedWhereItIsGiven(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]retry.Strategy{"nil *awssdk_test.around": (*around)(nil), "awssdk_test.around around nil": around{}} {
		_, err := awssdk.New(s, nil)
		require.ErrorContains(t, err, name)
		_, err = awssdk.Load(t.Context(), awssdk.WithStrategy(s))
		require.ErrorContains(t, err, name)
		cfg := aws.Config{}
		err = awssdk.Install(&cfg, awssdk.WithStrategy(s))
		require.ErrorContains(t, err, name)
		require.Nil(t, cfg.Retryer)
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

func TestObserverOfAnOptionHearsOfTheAttempts(t *testing.T) {
	t.Parallel()
	var told []retry.EventKind
	observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) { told = append(told, e.Kind) })
	load, err := awssdk.Load(t.Context(), awssdk.WithObserver(observer), awssdk.WithSettings(
		awsretry.WithEnv(func(string) (string, bool) { return "", false }), awsretry.WithFS(fstest.MapFS{})))
	require.NoError(t, err)
	r, ok := load().(aws.RetryerV2)
	require.True(t, ok)
	_, err = loop(t.Context(), r, nil)
	require.NoError(t, err)
	require.Contains(t, told, retry.AttemptEnded)

	_, err = awssdk.Load(t.Context(), awssdk.WithObserver(observer), awssdk.WithStrategy(strategy(t, standard.Config{})))
	require.ErrorContains(t, err, "exclude each other")
}
