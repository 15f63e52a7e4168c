package sdktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// withAttempts is an option that gives each call a number of attempts.
func withAttempts(n int) awssdk.Option {
	return awssdk.WithOperation(func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		op.MaxAttempts = n
		return op
	})
}

// TestOperationMayHaveMoreAttempts: the service is told of the number too. The limit of a client or of a call counts all the
// same.
func TestOperationMayHaveMoreAttempts(t *testing.T) {
	for name, c := range map[string]struct {
		opts []awssdk.Option
		call []func(o *dynamodb.Options)
		want int
	}{
		"more":                      {[]awssdk.Option{withAttempts(10)}, nil, 10},
		"fewer":                     {[]awssdk.Option{withAttempts(2)}, nil, 2},
		"one":                       {[]awssdk.Option{withAttempts(1)}, nil, 1},
		"the default of dynamodb":   {[]awssdk.Option{withAttempts(0)}, nil, 4},
		"more than the call allows": {[]awssdk.Option{withAttempts(10)}, []func(o *dynamodb.Options){func(o *dynamodb.Options) { o.RetryMaxAttempts = 5 }}, 5},
		"fewer than the settings":   {[]awssdk.Option{withAttempts(3), awssdk.WithSettings(awsretry.WithMaxAttempts(7))}, nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			withInstall(t, func(t *testing.T, setup setup) {
				t.Helper()
				s := newScript(fail(500, ""))
				cfg := setup(t, s, append(c.opts, hermetic())...)
				err := describe(t, cfg, c.call...)
				require.Equal(t, c.want, s.requests())
				requireUsedUp(t, err, c.want)
				for i, header := range s.headers {
					require.Equal(t, fmt.Sprintf("attempt=%d; max=%d", i+1, c.want), header.Get("Amz-Sdk-Request"))
				}
				require.Equal(t, 500-14*(c.want-1), quotaOf(t, cfg))
			})
		})
	}
}

// TestAttemptsOfAnOperationEndBehindARetryerThatGrantsAll: the loop has no limit of its own then.
func TestAttemptsOfAnOperationEndBehindARetryerThatGrantsAll(t *testing.T) {
	for name, wrap := range map[string]func(r aws.Retryer) aws.Retryer{
		"grants":                    func(r aws.Retryer) aws.Retryer { return grants{v2(r)} },
		"wants and grants":          func(r aws.Retryer) aws.Retryer { return grants{deaf(v2(r))} },
		"asks, wants and grants":    func(r aws.Retryer) aws.Retryer { return grants{overruling(v2(r))} },
		"grants with its own delay": func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxBackoffDelay(grants{v2(r)}, time.Second) },
	} {
		bothWays(t, func(t *testing.T, around around) {
			t.Helper()
			s := newScript(append(slices.Repeat([]answerFunc{fail(500, "InternalServerError")}, 20), succeeds)...)
			err := listTables(t, around, installed(t, s, withAttempts(4), hermetic()), wrap)
			require.Equal(t, 4, s.requests(), name)
			require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
			require.ErrorContains(t, err, "InternalServerError")
		})
	}
}

// requireUsedUp checks that an error is the SDK's for attempts that are used up, and that of the strategy.
func requireUsedUp(t *testing.T, err error, attempts int) {
	t.Helper()
	most, found := errors.AsType[*sdkretry.MaxAttemptsError](err)
	require.True(t, found, "%v", err)
	require.Equal(t, attempts, most.Attempt)
	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	require.ErrorContains(t, err, fmt.Sprintf("exceeded maximum number of attempts, %d", attempts))
	refusal, found := errors.AsType[*retry.Error](err)
	require.True(t, found)
	require.Equal(t, attempts, refusal.Attempts)
}

// atMostTwice lets failures of one sort have two attempts.
type atMostTwice struct{}

func (atMostTwice) Name() string { return "twice" }

func (atMostTwice) Classify(o classify.Outcome) classify.Verdict { return o.Previous.AtMost(2) }

// TestAttemptsUsedUpIsTheErrorOfBoth, of the SDK and of the strategy, also if the strategy has fewer than the loop.
func TestAttemptsUsedUpIsTheErrorOfBoth(t *testing.T) {
	twice := hermetic(awsretry.WithClassifier(classify.Also(atMostTwice{})))
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for want, ctx := range map[int]context.Context{1: retry.Once(t.Context()), 2: t.Context()} {
			s := newScript(fail(500, ""))
			err := describeWith(ctx, setup(t, s, twice))
			require.Equal(t, want, s.requests())
			requireUsedUp(t, err, want)
			require.NotContains(t, err.Error(), "client-side", "the text is the SDK's")
		}
	})
}

// canceledError says that it was canceled, whatever it wraps.
type canceledError struct{ error }

func (canceledError) CanceledError() bool { return true }

func (e canceledError) Unwrap() error { return e.error }

// TestErrorThatSaysThatItWasCanceledIsFinal, as in the default list of the SDK.
func TestErrorThatSaysThatItWasCanceledIsFinal(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, install := range []bool{false, true} {
			s, attempts := newScript(say(200, "{}")), 0
			cfg := configFor(s)
			if install {
				cfg = setup(t, s, hermetic())
			}
			cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
				return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Canceled", func(
					context.Context, middleware.FinalizeInput, middleware.FinalizeHandler,
				) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
					attempts++
					return out, metadata, canceledError{&smithy.GenericAPIError{Code: "ThrottlingException"}}
				}), "Signing", middleware.Before)
			})
			require.Error(t, describe(t, cfg))
			require.Equal(t, 1, attempts)
		}
	})
}
