package sdktest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/oam"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// What an answer takes.
const answerTime = 50 * time.Millisecond

// TestHardQuotaWithStatus429IsFinal prints figures of docs/classification.md with -v.
func TestHardQuotaWithStatus429IsFinal(t *testing.T) {
	for _, rival := range rivals {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			cfg := rival.config(t, answerFunc(func(*http.Request) (*http.Response, error) {
				attempts++
				pause(answerTime)
				return jsonError(429, "ServiceQuotaExceededException"), nil
			}))
			began := time.Now()
			_, err := oam.NewFromConfig(cfg).CreateSink(t.Context(), &oam.CreateSinkInput{Name: aws.String("sink")})
			require.ErrorContains(t, err, "ServiceQuotaExceededException")
			t.Logf("%s: %d attempts, %v", rival.name, attempts, time.Since(began))
			require.Equal(t, 1, attempts)
		})
	}
}

// TestHardQuotaCutsNoSendRate prints figures of docs/classification.md with -v.
func TestHardQuotaCutsNoSendRate(t *testing.T) {
	for _, rival := range rivals {
		synctest.Test(t, func(t *testing.T) {
			full := true
			cfg := rival.config(t, answerFunc(func(*http.Request) (*http.Response, error) {
				pause(answerTime)
				if full {
					return jsonError(400, "LimitExceededException"), nil
				}
				return response(200, `{}`), nil
			}))
			client := cloudwatchlogs.NewFromConfig(cfg)
			create := func() error {
				_, err := client.CreateLogGroup(t.Context(), &cloudwatchlogs.CreateLogGroupInput{LogGroupName: aws.String("group")})
				return err
			}
			require.ErrorContains(t, create(), "LimitExceededException")
			full = false
			began := time.Now()
			for range 20 {
				require.NoError(t, create())
			}
			t.Logf("%s: twenty calls after a hard quota take %v", rival.name, time.Since(began))
			if rival.adapts() {
				require.Equal(t, 20*answerTime, time.Since(began))
			}
		})
	}
}

// TestFunctionThatAsksForTwoSecondsGetsThem prints figures of docs/modes.md with -v.
func TestFunctionThatAsksForTwoSecondsGetsThem(t *testing.T) {
	for _, rival := range rivals {
		synctest.Test(t, func(t *testing.T) {
			var sent []time.Time
			cfg := rival.config(t, answerFunc(func(*http.Request) (*http.Response, error) {
				sent = append(sent, time.Now())
				if len(sent) < 3 {
					return jsonError(429, "TooManyRequestsException", "Retry-After", "2"), nil
				}
				return response(200, `{}`), nil
			}))
			_, err := lambda.NewFromConfig(cfg).Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
			require.NoError(t, err)
			first, second := sent[1].Sub(sent[0]), sent[2].Sub(sent[1])
			t.Logf("%s: called again after %.2f and %.2f s", rival.name, first.Seconds(), second.Seconds())
			if rival.ours {
				require.GreaterOrEqual(t, first, 2*time.Second)
				require.GreaterOrEqual(t, second, 2*time.Second)
			}
		})
	}
}

func TestReasonsOfThrottlesAreInTheEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []retry.Event
		observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) })
		cfg := installed(t, answerFunc(func(*http.Request) (*http.Response, error) {
			answer := response(429, `{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded","message":"no"}`,
				"X-Amzn-ErrorType", "TooManyRequestsException", "Content-Type", "application/json")
			return answer, nil
		}), hermetic(awsretry.WithObserver(observer)))
		_, err := lambda.NewFromConfig(cfg).Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
		require.Error(t, err)
		last := events[len(events)-1]
		require.Equal(t, retry.OperationEnded, last.Kind)
		require.Equal(t, classify.ReachScope, last.Verdict.Reach())
		require.Equal(t, []classify.Reason{
			{Reach: classify.ReachScope, Word: "ReservedFunctionConcurrentInvocationLimitExceeded"},
		}, last.ThrottledBy())
	})
}

func TestReasonsAreThoseOfTheModeledError(t *testing.T) {
	reason := func(word string) types.ThrottlingReason { return types.ThrottlingReason{Reason: aws.String(word)} }
	const key, table = "TableReadKeyRangeThroughputExceeded", "TableReadProvisionedThroughputExceeded"
	const most = 100
	hot := classify.Reason{Reach: classify.ReachPart, Word: key}
	for _, c := range []struct {
		name string
		err  error
		want []classify.Reason
	}{
		{"throughput", &types.ProvisionedThroughputExceededException{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, []classify.Reason{hot}},
		{"throttling", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, []classify.Reason{hot}},
		{"account", &types.RequestLimitExceeded{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, []classify.Reason{hot}},
		{
			"two", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{reason(key), reason(table)}},
			[]classify.Reason{hot, {Reach: classify.ReachScope, Word: table}},
		},
		{"empty", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{{}}}, []classify.Reason{{}}},
		{"none", &types.ThrottlingException{}, nil},
		{"too many", &types.ThrottlingException{ThrottlingReasons: make([]types.ThrottlingReason, most+1)}, make([]classify.Reason, most)},
		{"no throttle", &types.ResourceNotFoundException{}, nil},
		{"no type", &smithy.GenericAPIError{Code: "ThrottlingException"}, nil},
	} {
		for _, err := range []error{c.err, fmt.Errorf("operation: %w", c.err)} {
			var reasons []classify.Reason
			observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					reasons = e.ThrottledBy()
				}
			})
			cfg := installed(t, nil, hermetic(awsretry.WithMaxAttempts(1), awsretry.WithObserver(observer)))
			cfg.APIOptions = append(cfg.APIOptions, failInside(func() error { return err }))
			require.ErrorIs(t, describe(t, cfg), c.err, c.name)
			require.Equal(t, c.want, reasons, c.name)
		}
	}
}
