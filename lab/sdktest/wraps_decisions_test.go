package sdktest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// overrule is a retryer around another one that wants every failure retried.
type overrule struct {
	aws.RetryerV2
	ask bool // whether it asks the other one first
}

func (r overrule) IsErrorRetryable(err error) bool {
	if r.ask {
		_ = r.RetryerV2.IsErrorRetryable(err)
	}
	return true
}

func overruling(r aws.RetryerV2) aws.RetryerV2 { return overrule{r, true} }

func deaf(r aws.RetryerV2) aws.RetryerV2 { return overrule{r, false} }

// veto is a retryer around another one that retries no error.
type veto struct {
	aws.RetryerV2
	after bool // ask the other one first
}

func (r veto) IsErrorRetryable(err error) bool {
	if r.after {
		_ = r.RetryerV2.IsErrorRetryable(err)
	}
	return false
}

// grants is a retryer around another one that grants every retry.
type grants struct{ aws.RetryerV2 }

func (grants) GetRetryToken(context.Context, error) (func(error) error, error) {
	return func(error) error { return nil }, nil
}

// listTables calls a client whose retryer is around that of cfg.
func listTables(t *testing.T, around around, cfg aws.Config, wrap func(r aws.Retryer) aws.Retryer) error {
	t.Helper()
	_, err := around(cfg, wrap).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	return err
}

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
	bothWays(t, func(t *testing.T, around around) {
		t.Helper()
		events := map[retry.EventKind]int{}
		observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { events[e.Kind]++ }))
		broken := fail(http.StatusInternalServerError, "InternalServerError")
		cfg := installed(t, newScript(broken, broken, succeeds), hermetic(observer))
		require.NoError(t, listTables(t, around, cfg, func(r aws.Retryer) aws.Retryer { return doubtful{v2(r)} }))
		require.Equal(t, 1, events[retry.OperationEnded])
		require.Equal(t, 3, events[retry.AttemptEnded])

		clear(events)
		before := strategyOf(t, cfg).Snapshot()
		require.False(t, cfg.Retryer().IsErrorRetryable(errors.New("of no call")))
		require.True(t, cfg.Retryer().IsErrorRetryable(&answerError{status: http.StatusServiceUnavailable}))
		require.Empty(t, events)
		require.Equal(t, before, strategyOf(t, cfg).Snapshot())
	})
}
