package sdktest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

func listQueues(ctx context.Context, cfg aws.Config) error {
	_, err := sqs.NewFromConfig(cfg).ListQueues(ctx, &sqs.ListQueuesInput{})
	return err
}

// TestNumbersOfTheMovingPage checks the delays and attempts of docs/moving.md, with Install and
// without. The jitter is random, so the longest of many delays is close to the longest possible
// one.
func TestNumbersOfTheMovingPage(t *testing.T) {
	const calls = 200
	plain := func(_ *testing.T, client aws.HTTPClient) aws.Config { return configFor(client) }
	with := func(opts ...awsretry.Option) func(t *testing.T, client aws.HTTPClient) aws.Config {
		return func(t *testing.T, client aws.HTTPClient) aws.Config {
			t.Helper()
			return installed(t, client, hermetic(opts...))
		}
	}
	old := with(awsretry.WithBehavior(retry.V20))
	serverError, throttled := fail(500, ""), fail(400, "ThrottlingException")
	const ms = time.Millisecond
	for _, c := range []struct {
		name, flag string
		setup      func(t *testing.T, client aws.HTTPClient) aws.Config
		answer     answerFunc
		sqs        bool
		attempts   int
		longest    time.Duration // before the first retry
	}{
		{"SDK before v1.48, DynamoDB, 500", "false", plain, serverError, false, 3, 2000 * ms},
		{"SDK before v1.48, DynamoDB, throttle", "false", plain, throttled, false, 3, 2000 * ms},
		{"SDK before v1.48, SQS, 500", "false", plain, serverError, true, 3, 2000 * ms},
		{"SDK of the new behavior, DynamoDB, 500", "true", plain, serverError, false, 4, 25 * ms},
		{"SDK of the new behavior, DynamoDB, throttle", "true", plain, throttled, false, 4, 1000 * ms},
		{"SDK of the new behavior, SQS, 500", "true", plain, serverError, true, 3, 50 * ms},
		{"SDK of the new behavior, SQS, throttle", "true", plain, throttled, true, 3, 1000 * ms},
		{"v2.1, DynamoDB, 500", "false", with(), serverError, false, 4, 25 * ms},
		{"v2.1, DynamoDB, throttle", "false", with(), throttled, false, 4, 1000 * ms},
		{"v2.1, SQS, 500", "false", with(), serverError, true, 3, 50 * ms},
		{"v2.1, SQS, 500, new loop", "true", with(), serverError, true, 3, 50 * ms},
		{"v2.1, SQS, throttle", "true", with(), throttled, true, 3, 1000 * ms},
		{"v2.0, DynamoDB, 500", "false", old, serverError, false, 3, 1000 * ms},
		{"v2.0, DynamoDB, throttle, new loop", "true", old, throttled, false, 3, 1000 * ms},
		{"v2.0, SQS, 500", "true", old, serverError, true, 3, 1000 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("AWS_NEW_RETRIES_2026", c.flag)
			synctest.Test(t, func(t *testing.T) {
				longest := time.Duration(0)
				for range calls {
					s := newScript(c.answer)
					cfg := c.setup(t, s)
					if c.sqs {
						require.Error(t, listQueues(t.Context(), cfg))
					} else {
						require.Error(t, describe(t, cfg))
					}
					require.Equal(t, c.attempts, s.requests())
					longest = max(longest, s.gaps()[0])
				}
				require.LessOrEqual(t, longest, c.longest)
				require.Greater(t, longest, c.longest*9/10)
			})
		})
	}
}
