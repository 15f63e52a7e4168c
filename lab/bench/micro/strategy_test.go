package micro

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/stretchr/testify/require"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// retryer is a strategy, driven through its own interface: what a loop around it
// calls, without the loop.
type retryer interface {
	// succeed is an operation that succeeds at once.
	succeed(ctx context.Context) error
	// retryOnce is an operation that is retried once. The failure is one that
	// retryOnce does not have to classify, unless classified.
	retryOnce(ctx context.Context, classified bool) error
	// throttle is an attempt that the service throttles.
	throttle(ctx context.Context) error
}

// Neither of the two may wait: a benchmark that had to wait for send tokens, or
// measured a delay, would end with an error. An attempt of ours takes next to nothing of a
// token, because a thousand buckets that share the rate of the loop would run empty.

func ourStandard(scopes int) func(testing.TB) retryer {
	return func(tb testing.TB) retryer {
		tb.Helper()
		s, err := standard.New(standard.Config{})
		require.NoError(tb, err)
		return strategy{s, operations(scopes)}
	}
}

func ourAdaptive(scopes int) func(testing.TB) retryer {
	return func(tb testing.TB) retryer {
		tb.Helper()
		s, err := adaptive.New(adaptive.Config{NoSendWait: true, SendCost: 1e-6})
		require.NoError(tb, err)
		return strategy{s, operations(scopes)}
	}
}

// operations are those of so many tables of one service. The zero operation has none.
func operations(scopes int) []retry.Operation {
	if scopes == 0 {
		return []retry.Operation{{}}
	}
	all := make([]retry.Operation, scopes)
	for i := range all {
		all[i] = retry.Operation{
			Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: fmt.Sprintf("orders-%04d", i),
		}
	}
	return all
}

func sdkStandard(testing.TB) retryer { return sdkRetryer{awsretryer.NewStandard()} }

func sdkAdaptive(testing.TB) retryer {
	return sdkRetryer{awsretryer.NewAdaptiveMode(func(o *awsretryer.AdaptiveModeOptions) {
		o.FailOnNoAttemptTokens = true
	})}
}

type strategy struct {
	retry.Strategy

	operations []retry.Operation
}

// operation is any of them: what tells goroutines apart would be shared by them.
func (s strategy) operation() *retry.Operation {
	if len(s.operations) == 1 {
		return &s.operations[0]
	}
	return &s.operations[rand.IntN(len(s.operations))]
}

func (s strategy) succeed(ctx context.Context) error {
	token, err := s.AcquireInitialToken(ctx, *s.operation())
	if err != nil {
		return err
	}
	if err := token.Wait(ctx); err != nil {
		return err
	}
	return s.RecordSuccess(token, retry.Result{})
}

func (s strategy) retryOnce(ctx context.Context, classified bool) error {
	token, err := s.AcquireInitialToken(ctx, *s.operation())
	if err != nil {
		return err
	}
	if err := token.Wait(ctx); err != nil {
		return err
	}
	failure := errJudgedServer
	if classified {
		failure = errServer
	}
	if token, err = s.RefreshRetryToken(ctx, token, failure); err != nil {
		return err
	}
	if err := token.WithoutDelay().Wait(ctx); err != nil {
		return err
	}
	return s.RecordSuccess(token, retry.Result{})
}

func (s strategy) throttle(ctx context.Context) error {
	token, err := s.AcquireInitialToken(ctx, *s.operation())
	if err != nil {
		return err
	}
	if err := token.Wait(ctx); err != nil {
		return err
	}
	return s.RecordFailure(token, errThrottle)
}

// sdkRetryer calls a retryer as the SDK's middleware does, without the sleep and without
// the number of the attempt in the context.
type sdkRetryer struct{ aws.RetryerV2 }

func (r sdkRetryer) succeed(ctx context.Context) error {
	release, err := r.GetAttemptToken(ctx)
	if err != nil {
		return err
	}
	return release(nil)
}

func (r sdkRetryer) retryOnce(ctx context.Context, classified bool) error {
	if err := r.attempt(ctx, errServer); err != nil {
		return err
	}
	if classified && !r.IsErrorRetryable(errServer) {
		return errServer
	}
	releaseRetry, err := r.GetRetryToken(ctx, errServer)
	if err != nil {
		return err
	}
	if _, err := r.RetryDelay(1, errServer); err != nil {
		return err
	}
	release, err := r.GetAttemptToken(ctx)
	if err != nil {
		return err
	}
	if err := releaseRetry(nil); err != nil {
		return err
	}
	return release(nil)
}

func (r sdkRetryer) throttle(ctx context.Context) error { return r.attempt(ctx, errThrottle) }

// attempt is one that ends with the error.
func (r sdkRetryer) attempt(ctx context.Context, failure error) error {
	release, err := r.GetAttemptToken(ctx)
	if err != nil {
		return err
	}
	if err := release(failure); err != nil && !errors.Is(err, failure) {
		return err
	}
	return nil
}

var errJudgedServer error = &classify.JudgedError{Verdict: classify.RetryAs(classify.Server), Err: errServer}

// throttled prepares an adaptive retryer for successes after a throttle: it has
// measured the rate of this very loop for more than a second when the throttles come,
// one in each scope, and its buckets hold far more tokens than a benchmark takes.
func throttled(make func(testing.TB) retryer) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		r := make(tb)
		for begin := time.Now(); time.Since(begin) < 1100*time.Millisecond; {
			for range 1000 {
				require.NoError(tb, r.succeed(tb.Context()))
			}
		}
		ours, _ := r.(strategy)
		for _, op := range ours.operations {
			require.NoError(tb, strategy{ours.Strategy, []retry.Operation{op}}.throttle(tb.Context()))
		}
		if ours.Strategy == nil {
			require.NoError(tb, r.throttle(tb.Context()))
		}
		require.NoError(tb, clock.System{}.Sleep(tb.Context(), 600*time.Millisecond))
		return r.succeed
	}
}

// plenty is a rate that no benchmark comes near.
const plenty = 1_000_000_000

// successGroups is what a request without a failure pays: an operation with service,
// region and resource, a thousand of them, and the zero operation. aws-sdk-go-v2 knows
// no scopes. The rate limiters of others stand beside adaptive mode after a throttle:
// they only let an attempt pass and learn nothing from its answer.
func successGroups() []group {
	var groups []group
	for _, scopes := range []int{1, 1000, 0} {
		name := fmt.Sprintf("/scopes=%d", scopes)
		groups = append(groups,
			group{"mode=standard" + name, []subject{
				{ours, succeedOf(ourStandard(scopes))},
				{sdk, succeedOf(sdkStandard)},
				{limit, ready(emptyCall)},
			}},
			group{"mode=adaptive/throttled=never" + name, []subject{
				{ours, succeedOf(ourAdaptive(scopes))},
				{sdk, succeedOf(sdkAdaptive)},
				{limit, twoEvents},
			}},
			group{"mode=adaptive/throttled=once" + name, []subject{
				{ours, throttled(ourAdaptive(scopes))},
				{sdk, throttled(sdkAdaptive)},
				{limit, twoEvents},
			}})
	}
	groups[0].subjects = append(groups[0].subjects, subject{"token-used-once", usedOnce})
	groups[2].subjects = append(groups[2].subjects,
		subject{"x-time-rate", timeRate}, subject{"uber-ratelimit", uberLimit}, subject{"failsafe-go", failsafeLimit})
	return groups
}

func BenchmarkSuccess(b *testing.B) { measure(b, successGroups()) }

func succeedOf(make func(testing.TB) retryer) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		return make(tb).succeed
	}
}

func timeRate(testing.TB) round {
	return rate.NewLimiter(plenty, plenty).Wait
}

func uberLimit(testing.TB) round {
	limiter := uber.New(plenty)
	return func(context.Context) error {
		limiter.Take()
		return nil
	}
}

func failsafeLimit(testing.TB) round {
	limiter := ratelimiter.NewBursty[any](plenty, time.Second)
	return func(context.Context) error {
		if !limiter.TryAcquirePermit() {
			return ratelimiter.ErrExceeded
		}
		return nil
	}
}

// retryGroups is what one retry costs, the attempts before and after it included.
// With failure=known the verdict is there already, which leaves what is not
// classification; aws-sdk-go-v2 looks for a throttle even then.
func retryGroups() []group {
	var groups []group
	for _, scopes := range []int{1, 1000, 0} {
		name := fmt.Sprintf("/scopes=%d", scopes)
		groups = append(groups,
			group{"mode=standard/failure=known" + name, []subject{
				{ours, retryOf(ourStandard(scopes), false)},
				{sdk, retryOf(sdkStandard, false)},
				{limit, twoAtomicsAndRandom},
			}},
			group{"mode=standard/failure=classified" + name, []subject{
				{ours, retryOf(ourStandard(scopes), true)},
				{sdk, retryOf(sdkStandard, true)},
				{limit, twoAtomicsAndRandom},
			}},
			group{"mode=adaptive/failure=classified" + name, []subject{
				{ours, retryOf(ourAdaptive(scopes), true)},
				{sdk, retryOf(sdkAdaptive, true)},
				{limit, twoAtomicsAndRandom},
			}})
	}
	return groups
}

func BenchmarkOneRetry(b *testing.B) { measure(b, retryGroups()) }

func retryOf(make func(testing.TB) retryer, classified bool) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		r := make(tb)
		return func(ctx context.Context) error { return r.retryOnce(ctx, classified) }
	}
}
