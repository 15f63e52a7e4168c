package sdktest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

func TestX(t *testing.T) {
	generations(t, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var events []string
			obs := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				events = append(events, e.Kind.String()+" "+e.Operation.Key().String()+" "+e.Delay.String())
			})
			s := newScript(fail(500, ""), fail(400, "ThrottlingException", "X-Amz-Retry-After", "1500"), say(200, "{}"))
			cfg := installed(t, s, hermetic(awsretry.WithObserver(obs), awsretry.WithMode("adaptive"), awsretry.WithRandom(func() float64 { return 0.5 })))
			c := dynamodb.NewFromConfig(cfg)
			_, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
			t.Log(err, s.gaps())
			for _, e := range events {
				t.Log(e)
			}
			for _, h := range s.headers {
				t.Log(h["Amz-Sdk-Request"])
			}
			_ = errors.New
			_ = time.Now
			require.NoError(t, err)
		})
	})
}
