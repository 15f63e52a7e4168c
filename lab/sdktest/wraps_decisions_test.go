package sdktest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
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

// TestFailureThatOnlyARetryerAroundRetriesIsPartOfTheCall, also if it asks ours first: delays grow as around the SDK's, and
// MaxElapsed counts all attempts.
func TestFailureThatOnlyARetryerAroundRetriesIsPartOfTheCall(t *testing.T) {
	for name, wrap := range map[string]func(r aws.RetryerV2) aws.RetryerV2{"asks": overruling, "does not ask": deaf} {
		bothWays(t, func(t *testing.T, around around) {
			t.Helper()
			five := func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(wrap(v2(r)), 5) }
			theirs := newScript(odd)
			plain := configFor(theirs)
			plain.Retryer = sdksRetryer
			require.Error(t, listTables(t, around, plain, five))

			for limit, want := range map[time.Duration]int{0: 5, 200 * time.Millisecond: 3} {
				var ended []int
				operations := 0
				strategy, err := standard.New(standard.Config{
					Base: 50 * time.Millisecond, Jitter: standard.NoJitter, MaxElapsed: limit,
					Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
						if e.Kind == retry.AttemptEnded {
							ended = append(ended, e.Attempt)
						}
						if e.Kind == retry.OperationEnded {
							operations++
						}
					}),
				})
				require.NoError(t, err)
				s := newScript(odd)
				err = listTables(t, around, installed(t, s, awssdk.WithStrategy(strategy)), five)
				require.Equal(t, theirs.gaps()[:want-1], s.gaps(), name)
				require.Equal(t, []int{1, 2, 3, 4, 5}[:want], ended, name)
				require.Equal(t, 1, operations, name)
				require.Equal(t, limit > 0, errors.Is(err, retry.ErrMaxElapsed), name)
				if limit == 0 {
					requireUsedUp(t, err, want)
				}
			}
		})
	}
}

func TestRetryerAroundMayRefuse(t *testing.T) {
	for _, after := range []bool{false, true} {
		bothWays(t, func(t *testing.T, around around) {
			t.Helper()
			option, kept := adaptiveMode(standard.Config{})
			s := newScript(throttle)
			cfg := installed(t, s, option)
			client := around(cfg, func(r aws.Retryer) aws.Retryer { return veto{v2(r), after} })
			_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
			requireThrottle(t, err)
			require.Equal(t, 1, s.requests())
			require.EqualValues(t, 1, kept.throttled.Load())
			require.Equal(t, 500, quotaOf(t, cfg), "the retry was not made")

			_, last := client.ListTables(t.Context(), nil, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
			require.EqualError(t, last, err.Error(), "it has not asked for a retry")
		})
	}
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

// TestAttemptThatTheSendRateRefusesIsNotMade although a retryer around ours retries the refusal as
// well. The refusal is the error of the attempt, because the retryer hides GetAttemptToken.
func TestAttemptThatTheSendRateRefusesIsNotMade(t *testing.T) {
	bothWays(t, func(t *testing.T, around around) {
		t.Helper()
		s := newScript(throttle)
		cfg := installed(t, s, hermetic(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(adaptive.Config{
			Standard: standard.Config{ThrottlingBase: time.Nanosecond}, NoSendWait: true,
		})))
		for range 2 { // the retry, and the first attempt of the next call
			require.Error(t, listTables(t, around, cfg, func(r aws.Retryer) aws.Retryer { return older{deaf(v2(r))} }))
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
		wrap     func(r aws.Retryer) aws.Retryer
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
		bothWays(t, func(t *testing.T, around around) {
			t.Helper()
			option, kept := adaptiveMode(standard.Config{QuotaCapacity: &c.capacity})
			s := newScript(c.answer)
			require.Error(t, listTables(t, around, installed(t, s, option), c.wrap))
			require.Equal(t, c.want, s.requests(), c.name)
			require.EqualValues(t, c.want, kept.acquired.Load(), c.name)
			require.EqualValues(t, c.want, kept.reported.Load(), c.name)
		})
	}
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
