package sdktest

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// grants is a retryer around another one that grants every retry.
type grants struct{ aws.RetryerV2 }

func (grants) GetRetryToken(context.Context, error) (func(error) error, error) {
	return func(error) error { return nil }, nil
}

// listTables calls a client whose retryer is around that of cfg.
func listTables(t *testing.T, cfg aws.Config, around func(r aws.Retryer) aws.Retryer) error {
	t.Helper()
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = around(o.Retryer) })
	_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	return err
}

// TestAttemptThatTheSendRateRefusesIsNotMade although a retryer around ours retries the refusal as
// well. The refusal is the error of the attempt, because the retryer hides GetAttemptToken.
func TestAttemptThatTheSendRateRefusesIsNotMade(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		s := newScript(throttle)
		cfg := installed(t, s, hermetic(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(adaptive.Config{
			Standard: standard.Config{ThrottlingBase: time.Nanosecond}, NoSendWait: true,
		})))
		for range 2 { // the retry, and the first attempt of the next call
			require.Error(t, listTables(t, cfg, func(r aws.Retryer) aws.Retryer {
				return older{deaf(v2(r))}
			}))
			require.Equal(t, 1, s.requests())
		}
	})
}

// TestStrategyHearsOfRetriesThatItHasNotGranted: a retryer around ours decides about them.
func TestStrategyHearsOfRetriesThatItHasNotGranted(t *testing.T) {
	grant := func(r aws.Retryer) aws.Retryer { return grants{v2(r)} }
	both := func(r aws.Retryer) aws.Retryer { return grants{deaf(v2(r))} }
	for _, c := range []struct {
		name     string
		around   func(r aws.Retryer) aws.Retryer
		answer   answerFunc
		capacity int // of the quota
		want     int
	}{
		{"granted by both", grant, fail(500, ""), 500, 4},
		{"no quota", grant, fail(500, ""), 0, 4},
		{"of an error that the strategy does not retry", both, odd, 500, 4},
		{"the same, an older interface", func(r aws.Retryer) aws.Retryer { return older{both(r)} }, odd, 500, 4},
		{"the same, two attempts", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(both(r), 2) }, odd, 500, 2},
	} {
		inBubble(t, func(t *testing.T) {
			t.Helper()
			option, kept := adaptiveMode(standard.Config{QuotaCapacity: &c.capacity})
			s := newScript(c.answer)
			require.Error(t, listTables(t, installed(t, s, option), c.around))
			require.Equal(t, c.want, s.requests(), c.name)
			require.EqualValues(t, c.want, kept.acquired.Load(), c.name)
			require.EqualValues(t, c.want, kept.reported.Load(), c.name)
		})
	}
}
