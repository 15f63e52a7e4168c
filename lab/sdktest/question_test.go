package sdktest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

// doubtful is a retryer that asks again.
type doubtful struct{ aws.RetryerV2 }

func (r doubtful) IsErrorRetryable(err error) bool {
	if !r.RetryerV2.IsErrorRetryable(err) {
		return false
	}
	return r.RetryerV2.IsErrorRetryable(err)
}

// A question about an error is no operation, so that metrics do not count it.
func TestObserverHearsOfNoQuestion(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		events := map[retry.EventKind]int{}
		observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { events[e.Kind]++ }))
		broken := fail(http.StatusInternalServerError, "InternalServerError")
		cfg := setup(t, newScript(broken, broken, say(http.StatusOK, "{}")), hermetic(observer))
		strategy, ok := awssdk.StrategyOf(cfg)
		require.True(t, ok)

		inner := cfg.Retryer
		cfg.Retryer = func() aws.Retryer { return doubtful{inner().(aws.RetryerV2)} }
		require.NoError(t, describeWith(t.Context(), cfg))
		require.Equal(t, 1, events[retry.OperationEnded])
		require.Equal(t, 3, events[retry.AttemptEnded])

		clear(events)
		before := strategy.Snapshot()
		require.False(t, inner().IsErrorRetryable(errors.New("of no call")))
		require.True(t, inner().IsErrorRetryable(&answerError{status: http.StatusServiceUnavailable}))
		require.Empty(t, events)
		require.Equal(t, before, strategy.Snapshot())
	})
}
