package awssdk_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
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

// retryer returns the retryer of a config without its middlewares.
func retryer(t *testing.T, s retry.Strategy) aws.RetryerV2 {
	t.Helper()
	cfg := aws.Config{}
	require.NoError(t, awssdk.Install(&cfg, awssdk.WithStrategy(s)))
	r, ok := cfg.Retryer().(aws.RetryerV2)
	require.True(t, ok)
	return r
}

// failed returns a new error of a service.
func failed(status int) error { return &serviceError{status} }

type serviceError struct{ status int }

func (*serviceError) Error() string { return "the service failed" }

func (e *serviceError) HTTPStatusCode() int { return e.status }

// hinted returns an error whose response has a hint in milliseconds.
func hinted(hint string) error {
	response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}}
	response.Header.Set("X-Amz-Retry-After", hint)
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: response}, Err: failed(response.StatusCode)}
}

// slept returns how long the loop of the SDK has slept.
func slept(t *testing.T, r aws.Retryer, errs ...error) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		attempts, err := loop(t.Context(), r, errs...)
		took = time.Since(began)
		require.NoError(t, err)
		require.Equal(t, len(errs), attempts)
	})
	return took
}
