package sdktest

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

// TestServiceOfARetryerAloneIsASetting: the retryer does not know which service it is for.
func TestServiceOfARetryerAloneIsASetting(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		for want, opts := range map[int][]awsretry.Option{3: nil, 4: {awsretry.WithService("dynamodb")}} {
			s := newScript(fail(500, ""))
			require.Error(t, describe(t, retryerOnly(t, s, hermetic(opts...))))
			require.Equal(t, want, s.requests())
		}
	})
}

func TestRetryerAloneKnowsServiceRegionAndName(t *testing.T) {
	t.Parallel()
	cfg := retryerOnly(t, newScript(say(400, "")), hermetic())
	_ = describe(t, cfg)
	_ = describeWith(awssdk.WithScope(t.Context(), "tenant 7"), cfg)
	var names []string
	for _, s := range strategyOf(t, cfg).Snapshot().Scopes {
		names = append(names, s.Scope)
	}
	require.Equal(t, []string{"", "dynamodb/eu-central-1", "tenant 7"}, names)
}

// TestObserverOfARetryerAloneIsToldWithTheFirstAttempt: without middlewares nothing else is known.
func TestObserverOfARetryerAloneIsToldWithTheFirstAttempt(t *testing.T) {
	t.Parallel()
	tr, told := &tracers{}, 0
	cfg := retryerOnly(t, newScript(fail(500, ""), say(200, "{}")), hermetic(noBackoff(), awsretry.WithObserver(
		retry.ObserverFunc(func(ctx context.Context, e retry.Event) {
			told++
			s := spanFrom(ctx)
			require.NotNil(t, s, e.Kind)
			require.Equal(t, "caller/DynamoDB.DescribeTable/RetryLoop/Attempt", s.path(), e.Kind)
			require.Equal(t, e.Attempt == 1, s.open(), e.Kind)
		}))))
	ctx := withSpan(t.Context(), &span{of: tr, name: "caller"})
	require.NoError(t, describeWith(ctx, cfg, func(o *dynamodb.Options) { o.TracerProvider = tr }))
	require.Equal(t, 5, told)
}
