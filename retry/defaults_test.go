package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func TestDefaultsAreThoseOfTheGenerationAndTheService(t *testing.T) {
	t.Parallel()
	v21 := retry.Plan{
		MaxAttempts: 3, QuotaCapacity: 500, RetryCost: 14, TimeoutCost: 14, ThrottlingCost: 5,
		Base: 50 * time.Millisecond, ThrottlingBase: time.Second, MaxBackoff: 20 * time.Second,
	}
	v20 := v21
	v20.RetryCost, v20.TimeoutCost, v20.Base = 5, 10, time.Second
	dynamoDB := v21
	dynamoDB.MaxAttempts, dynamoDB.Base = 4, 25*time.Millisecond
	for _, c := range []struct {
		behavior retry.Behavior
		service  string
		want     retry.Plan
	}{
		{retry.V21, "s3", v21},
		{retry.V21, "DynamoDB Streams", dynamoDB},
		{retry.V20, "dynamodb", v20},
		{"v3", "dynamodb", dynamoDB},
	} {
		require.Equal(t, c.want, c.behavior.Defaults(c.service), "%s %s", c.behavior, c.service)
	}
}
