package standard_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// refreshed returns what RefreshRetryToken returns after the first attempt of an operation.
func refreshed(ctx context.Context, t *testing.T, s retry.Strategy, op retry.Operation) (retry.Token, error) {
	t.Helper()
	token, err := s.AcquireInitialToken(ctx, op)
	require.NoError(t, err)
	require.NoError(t, token.Wait(ctx))
	return s.RefreshRetryToken(ctx, token, errServer)
}

func TestQuotaIsTheReasonOnlyWhereItDoesNotCoverTheRetry(t *testing.T) {
	t.Parallel()
	for quota, want := range map[int]error{13: retry.ErrQuotaExhausted, 14: retry.ErrDeadline, 15: retry.ErrDeadline} {
		s, clk := newStrategy(t, func(c *standard.Config) { c.QuotaInitial = &quota })
		ctx, cancel := clk.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := refreshed(ctx, t, s, retry.Operation{})
		require.ErrorIs(t, err, want, "%d tokens", quota)
		require.Equal(t, quota, s.Snapshot().Scopes[0].Quota)
	}
}

func TestDelaysAreRandomUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, func(c *standard.Config) { c.Random = nil })
	delays := map[time.Duration]bool{}
	for range 30 {
		token, err := refreshed(t.Context(), t, s, retry.Operation{})
		require.NoError(t, err)
		require.LessOrEqual(t, token.Delay(), 50*time.Millisecond)
		delays[token.Delay()] = true
	}
	require.Greater(t, len(delays), 24)
}

func TestAttemptLimitComesBeforeTheEndOfTheCaller(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, nil)
	for _, c := range []struct {
		failure error
		want    error
	}{
		{errServer, retry.ErrAttemptsExhausted},
		{context.Canceled, retry.ErrCanceled},
		{errClient, retry.ErrNotRetryable},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		token, err := s.AcquireInitialToken(ctx, retry.Operation{MaxAttempts: 1})
		require.NoError(t, err)
		cancel()
		_, err = s.RefreshRetryToken(ctx, token, c.failure)
		require.ErrorIs(t, err, c.want)
	}
}

func TestEveryKindOfRefusalIsToldWithItsReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		quota   int
		op      retry.Operation
		failure error
		want    error
	}{
		{"not retryable", 500, retry.Operation{}, errClient, retry.ErrNotRetryable},
		{"attempts", 500, retry.Operation{MaxAttempts: 1}, errServer, retry.ErrAttemptsExhausted},
		{"quota", 0, retry.Operation{}, errServer, retry.ErrQuotaExhausted},
		{"time", 500, retry.Operation{MaxElapsed: 1}, errServer, retry.ErrMaxElapsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []retry.Event
			s, _ := newStrategy(t, func(config *standard.Config) {
				config.QuotaInitial = &c.quota
				config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.RetryRefused {
						got = append(got, e)
					}
				})
			})
			_, err := retry.Do(t.Context(), s, c.op, answers(c.failure))
			require.ErrorIs(t, err, c.failure)
			require.Len(t, got, 1)
			require.Equal(t, c.want, got[0].Reason)
			require.Equal(t, c.failure, got[0].Err)
			require.Equal(t, c.quota, got[0].Quota)
			require.Equal(t, 1, got[0].Attempt)
		})
	}
}

// asked is a classifier that notes the outcomes that it gets.
type asked struct{ outcomes []classify.Outcome }

func (*asked) Name() string { return "asked" }

func (a *asked) Classify(o classify.Outcome) classify.Verdict {
	a.outcomes = append(a.outcomes, o)
	return classify.RetryAs(classify.Transient)
}

func TestClassifierIsToldTheOperationAndTheAttempt(t *testing.T) {
	t.Parallel()
	classifier := &asked{}
	s, clk := newStrategy(t, func(c *standard.Config) { c.Classifier, c.Service = classifier, "dynamodb" })
	for _, op := range []retry.Operation{{Name: "GetItem"}, {Service: "s3", Name: "GetObject"}} {
		_, err := do(t.Context(), clk, s, op, errClient, errServer)
		require.NoError(t, err)
	}
	require.Equal(t, []classify.Outcome{
		{Err: errClient, Service: "dynamodb", Operation: "GetItem", Attempt: 1},
		{Err: errServer, Service: "dynamodb", Operation: "GetItem", Attempt: 2},
		{Err: errClient, Service: "s3", Operation: "GetObject", Attempt: 1},
		{Err: errServer, Service: "s3", Operation: "GetObject", Attempt: 2},
	}, classifier.outcomes)
}

func TestDynamoDBIsKnownHoweverItIsSpelt(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, nil)
	for _, service := range []string{
		"dynamodb", "DynamoDB", "DynamoDB Streams", "dynamodb-streams", "dynamodb_streams", "DynamoDBStreams",
	} {
		for _, spelling := range []string{service, strings.ToUpper(service)} {
			op := retry.Operation{Service: spelling}
			require.Equal(t, 4, s.Plan(op).MaxAttempts, spelling)
			require.Equal(t, 25*time.Millisecond, s.Plan(op).Base, spelling)
		}
	}
	for _, service := range []string{"", "dynamo", "dynamodb ", "dax", "s3"} {
		require.Equal(t, 3, s.Plan(retry.Operation{Service: service}).MaxAttempts, service)
	}
}

func TestQuotaWaitEndsWithTheOperation(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 1)[mode]
				start, n := time.Now(), 0
				_, err := retry.Do(t.Context(), s, retry.Operation{MaxElapsed: 2 * time.Second}, func(context.Context) (int, error) {
					n++
					return 0, errServer
				})
				require.ErrorIs(t, err, retry.ErrMaxElapsed)
				require.ErrorIs(t, err, errServer)
				require.Equal(t, 1, n)
				require.Equal(t, 2*time.Second, time.Since(start))
				require.Equal(t, 2, s.Snapshot().Scopes[0].Quota, "it takes nothing")
			})
		})
	}
}
