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

type callerKey struct{}

// TestObserverIsToldWithTheSpanOfTheCall: all events of an operation have a context that descends from
// that of the caller. Its span is the caller's; with a TracerProvider it is that of the call, which
// is open until the last event.
func TestObserverIsToldWithTheSpanOfTheCall(t *testing.T) {
	for _, with := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			t.Helper()
			tr := &tracers{}
			kinds := map[retry.EventKind]int{}
			want := "caller"
			options := []awssdk.Option{hermetic(
				awsretry.WithMode(awsretry.ModeAdaptive),
				awsretry.WithObserver(retry.ObserverFunc(func(ctx context.Context, e retry.Event) {
					kinds[e.Kind]++
					require.Equal(t, "the caller's", ctx.Value(callerKey{}), e.Kind)
					s := spanFrom(ctx)
					require.NotNil(t, s, e.Kind)
					require.Equal(t, want, s.path(), e.Kind)
					require.True(t, s.open(), e.Kind)
				})))}
			if with {
				options = append(options, awssdk.WithTracerProvider(tr))
				want = "caller/DynamoDB.DescribeTable"
			}
			cfg := installed(t, newScript(fail(400, "ThrottlingException"), fail(500, ""), say(200, "{}")), options...)
			ctx := withSpan(context.WithValue(t.Context(), callerKey{}, "the caller's"), &span{of: tr, name: "caller"})
			require.NoError(t, describeWith(ctx, cfg))
			require.Equal(t, 3, kinds[retry.AttemptEnded])
			require.Equal(t, 2, kinds[retry.RetryScheduled])
			require.Equal(t, 1, kinds[retry.OperationEnded])
			require.Equal(t, 1, kinds[retry.ScopeCreated])
		})
	}
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
