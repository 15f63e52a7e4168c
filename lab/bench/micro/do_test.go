package micro

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/hashicorp/go-retryablehttp"
	goretry "github.com/sethvargo/go-retry"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// loop runs an operation that fails so often before it succeeds. There is no delay
// between attempts, and three attempts are allowed.
type loop func(tb testing.TB, failures int) round

func (l loop) with(failures int) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		return l(tb, failures)
	}
}

// doGroups is the whole loop around an operation that takes no time. That of
// aws-sdk-go-v2 is its middleware; go-retryablehttp's runs requests through
// net/http, over a transport that answers at once.
func doGroups() []group {
	loops := []struct {
		of   string
		loop loop
	}{
		{ours, ourLoop(1)},
		{sdk, sdkLoop},
		{"failsafe-go", failsafeLoop},
		{"cenkalti-backoff", cenkaltiLoop},
		{"sethvargo-go-retry", sethvargoLoop},
		{"go-retryablehttp", hashicorpLoop},
	}
	instant, once := group{name: "failures=0/scopes=1"}, group{name: "failures=1/scopes=1"}
	for _, l := range loops {
		instant.subjects = append(instant.subjects, subject{l.of, l.loop.with(0)})
		once.subjects = append(once.subjects, subject{l.of, l.loop.with(1)})
	}
	instant.subjects = append(instant.subjects, subject{limit, ready(emptyCall)})
	once.subjects = append(once.subjects, subject{limit, twoAtomicsAndRandom})
	groups := []group{instant, once}
	for _, scopes := range []int{1000, 0} {
		groups = append(groups, group{fmt.Sprintf("failures=0/scopes=%d", scopes), []subject{
			{ours, ourLoop(scopes).with(0)},
			{sdk, loop(sdkLoop).with(0)},
			{limit, ready(emptyCall)},
		}})
	}
	return groups
}

func BenchmarkDo(b *testing.B) { measure(b, doGroups()) }

// failing returns an operation that fails so often.
func failing(failures int) func() error {
	return func() error {
		if failures--; failures >= 0 {
			return errServer
		}
		return nil
	}
}

func ourLoop(scopes int) loop {
	return func(tb testing.TB, failures int) round {
		tb.Helper()
		s, err := standard.New(standard.Config{Random: func() float64 { return 0 }})
		require.NoError(tb, err)
		all := strategy{s, operations(scopes)}
		return func(ctx context.Context) error { return all.do(ctx, failures) }
	}
}

func (s strategy) do(ctx context.Context, failures int) error {
	attempt := failing(failures)
	_, err := retry.Do(ctx, s.Strategy, *s.operation(), func(context.Context) (struct{}, error) { return struct{}{}, attempt() })
	return err
}

func sdkLoop(tb testing.TB, failures int) round {
	tb.Helper()
	noDelay := awsretryer.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	retryer := awsretryer.NewStandard(func(o *awsretryer.StandardOptions) { o.Backoff = noDelay })
	return throughMiddleware(retryer, failures)
}

func throughMiddleware(retryer aws.Retryer, failures int) round {
	loop := awsretryer.NewAttemptMiddleware(retryer, func(request any) any { return request })
	return func(ctx context.Context) error {
		attempt := failing(failures)
		_, _, err := loop.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(
			func(context.Context, middleware.FinalizeInput) (out middleware.FinalizeOutput, m middleware.Metadata, err error) {
				return out, m, attempt()
			}))
		return err
	}
}

func failsafeLoop(_ testing.TB, failures int) round {
	executor := failsafe.With(retrypolicy.NewBuilder[struct{}]().WithMaxAttempts(3).Build())
	return func(ctx context.Context) error { return executor.WithContext(ctx).Run(failing(failures)) }
}

func cenkaltiLoop(_ testing.TB, failures int) round {
	return func(ctx context.Context) error {
		attempt := failing(failures)
		_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, attempt() },
			backoff.WithMaxTries(3), backoff.WithBackOff(&backoff.ZeroBackOff{}))
		return err
	}
}

func sethvargoLoop(_ testing.TB, failures int) round {
	noDelay := goretry.BackoffFunc(func() (time.Duration, bool) { return 0, false })
	return func(ctx context.Context) error {
		attempt := failing(failures)
		return goretry.Do(ctx, goretry.WithMaxRetries(2, noDelay), func(context.Context) error {
			return goretry.RetryableError(attempt())
		})
	}
}

// instantly answers a request with the status that the context of the request asks
// for; it is the transport of go-retryablehttp here.
type instantly struct{}

type attemptKey struct{}

func (instantly) RoundTrip(r *http.Request) (*http.Response, error) {
	attempt, ok := r.Context().Value(attemptKey{}).(func() error)
	if !ok {
		return nil, errors.New("a request without an attempt")
	}
	answer := &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}
	if attempt() != nil {
		answer.StatusCode = http.StatusServiceUnavailable
	}
	return answer, nil
}

func hashicorpLoop(tb testing.TB, failures int) round {
	tb.Helper()
	client := retryablehttp.NewClient()
	client.HTTPClient = &http.Client{Transport: instantly{}}
	client.Logger, client.RetryMax = nil, 2
	client.Backoff = func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 }
	request, err := retryablehttp.NewRequestWithContext(tb.Context(), http.MethodGet, "http://127.0.0.1/", nil)
	require.NoError(tb, err)
	return func(ctx context.Context) error {
		ctx = context.WithValue(ctx, attemptKey{}, failing(failures))
		answer, err := client.Do(request.WithContext(ctx))
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}
}
