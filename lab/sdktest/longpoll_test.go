package sdktest

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// tellsOrNot runs a test with a client of SQS that tells the loop of the SDK of long polls, and with
// one that does not. The newest client that lab can require asks a variable.
func tellsOrNot(t *testing.T, test func(t *testing.T, setup setup)) {
	t.Helper()
	for _, tells := range []string{"false", "true"} {
		t.Run("tells="+tells, func(t *testing.T) {
			t.Setenv("AWS_NEW_RETRIES_2026", tells)
			bothWays(t, test)
		})
	}
}

func TestLongPollIsSlowedDownOnceWhenTheQuotaIsEmpty(t *testing.T) {
	queue := aws.String("https://sqs.test/1/jobs")
	receive := func(ctx context.Context, c *sqs.Client) error {
		_, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue})
		return err
	}
	send := func(ctx context.Context, c *sqs.Client) error {
		_, err := c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue, MessageBody: queue})
		return err
	}
	mark := awssdk.WithOperation(func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		op.LongPolling = true
		return op
	})
	tellsOrNot(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, c := range []struct {
			name     string
			behavior retry.Behavior
			call     func(ctx context.Context, c *sqs.Client) error
			hint     string
			option   awssdk.Option
			want     time.Duration
		}{
			{"long poll", retry.V21, receive, "", nil, 50 * time.Millisecond},
			{"long poll with a hint", retry.V21, receive, "2000", nil, 2 * time.Second},
			{"long poll in v2.0", retry.V20, receive, "", nil, 0},
			{"no long poll", retry.V21, send, "", nil, 0},
			{"marked by the user", retry.V21, send, "", mark, 50 * time.Millisecond},
		} {
			s := newScript(fail(500, "", "X-Amz-Retry-After", c.hint))
			cfg := setup(t, s, c.option, hermetic(always(), awsretry.WithBehavior(c.behavior),
				awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(0)}})))
			began := time.Now()
			err := c.call(t.Context(), sqs.NewFromConfig(cfg))
			require.ErrorIs(t, err, retry.ErrQuotaExhausted, c.name)
			require.Equal(t, c.want, time.Since(began), c.name)
			require.Equal(t, 1, s.requests(), c.name)
		}
	})
}

func TestLongPollMayBeCanceledWhileItIsSlowedDown(t *testing.T) {
	tellsOrNot(t, func(t *testing.T, setup setup) {
		t.Helper()
		cfg := setup(t, newScript(fail(500, "")), hermetic(always(), awsretry.WithBehavior(retry.V21),
			awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(0)}})))
		queue := aws.String("https://sqs.test/1/jobs")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			pause(20 * time.Millisecond)
			cancel()
		}()
		began := time.Now()
		_, err := sqs.NewFromConfig(cfg).ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue})
		require.Equal(t, 20*time.Millisecond, time.Since(began))
		require.ErrorIs(t, err, retry.ErrQuotaExhausted)
		require.ErrorIs(t, err, context.Canceled)
	})
}
