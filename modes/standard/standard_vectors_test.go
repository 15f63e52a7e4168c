package standard_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// configOf returns the Config of the strategy of a case.
func configOf(c vectors.Sequence) standard.Config {
	return standard.Config{
		Behavior:      retry.Behavior(c.Behavior),
		Service:       c.Given.Service,
		MaxAttempts:   c.Given.Attempts(),
		QuotaCapacity: c.Given.Capacity(),
		QuotaInitial:  c.Given.InitialQuota,
		MaxBackoff:    vectors.Seconds(c.Given.MaxBackoff),
		Random:        func() float64 { return c.Given.Jitter },
	}
}

// outcomeOf names the outcome as the vectors do.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "retry"
	case errors.Is(err, retry.ErrAttemptsExhausted):
		return "max_attempts_exceeded"
	case errors.Is(err, retry.ErrQuotaExhausted):
		return "quota_exceeded"
	case errors.Is(err, retry.ErrNotRetryable):
		return "not_retryable"
	default:
		return err.Error()
	}
}

// TestStrategyFollowsTheVectors runs adaptive mode too, which adds a send rate to standard mode
// and changes nothing else.
func TestStrategyFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for _, c := range slices.Concat(file.Sequences, file.Concurrent, file.Pools) {
			config := configOf(c)
			t.Run(title+"/"+c.ID+"/standard", func(t *testing.T) {
				s, err := standard.New(config)
				require.NoError(t, err)
				stepThrough(t, c, s)
			})
			t.Run(title+"/"+c.ID+"/adaptive", func(t *testing.T) {
				s, err := adaptive.New(adaptive.Config{Standard: config})
				require.NoError(t, err)
				stepThrough(t, c, s)
			})
		}
	}
}

// stepThrough calls the verbs of the strategy as a loop of the user's own would, without waiting.
func stepThrough(t *testing.T, c vectors.Sequence, s strategy) {
	t.Helper()
	open := map[string]retry.Token{}
	for i, step := range c.Steps {
		token, ok := open[step.Request]
		if !ok {
			var err error
			token, err = s.AcquireInitialToken(t.Context(), retry.Operation{Scope: step.Scope, LongPolling: c.Given.LongPolling})
			require.NoError(t, err)
		}
		if step.Response.Err() == nil {
			require.Equal(t, "success", step.Want.Outcome, "step %d", i)
			require.Nil(t, step.Want.Delay, "step %d", i)
			require.NoError(t, s.RecordSuccess(token, retry.Result{}))
			delete(open, step.Request)
		} else {
			next, err := s.RefreshRetryToken(t.Context(), token, step.Response.Err())
			require.Equal(t, step.Want.Outcome, outcomeOf(err), "step %d", i)
			if step.Want.Delay == nil {
				require.Zero(t, next.Delay(), "step %d", i)
			} else {
				require.Equal(t, vectors.Seconds(*step.Want.Delay), next.Delay(), "step %d", i)
			}
			open[step.Request] = next
			if err != nil {
				require.NoError(t, s.RecordFailure(next, step.Response.Err()))
				delete(open, step.Request)
			}
		}
		require.Equal(t, step.Want.QuotaAfter, scopes(s)[step.Scope], "quota after step %d", i)
		require.Equal(t, step.Want.PoolAfter, s.Snapshot().Pool, "pool after step %d", i)
	}
	requireFinalQuota(t, c, s)
}

func TestDoFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for _, c := range file.Sequences {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { doThrough(t, c) })
			})
		}
	}
}

// doThrough runs the operations of a sequence through retry.Do, on the time of a bubble, and
// checks when attempts are made and when Do returns.
func doThrough(t *testing.T, c vectors.Sequence) {
	t.Helper()
	s, err := standard.New(configOf(c))
	require.NoError(t, err)
	for i := 0; i < len(c.Steps); {
		var returned time.Time // when the last attempt did
		first := i
		_, err := retry.Do(t.Context(), s, retry.Operation{LongPolling: c.Given.LongPolling},
			func(context.Context) (struct{}, error) {
				require.Less(t, i, len(c.Steps), "an attempt too many")
				if i > first {
					before := c.Steps[i-1].Want
					require.Equal(t, "retry", before.Outcome, "step %d", i-1)
					require.Equal(t, vectors.Seconds(*before.Delay), time.Since(returned), "step %d", i-1)
					require.Equal(t, before.QuotaAfter, s.Snapshot().Scopes[0].Quota, "step %d", i-1)
				}
				returned = time.Now()
				i++
				return struct{}{}, c.Steps[i-1].Response.Err()
			})
		last := c.Steps[i-1]
		requireEnd(t, last, err, time.Since(returned))
		require.Equal(t, last.Want.QuotaAfter, s.Snapshot().Scopes[0].Quota, "step %d", i-1)
	}
	requireFinalQuota(t, c, s)
}

func requireFinalQuota(t *testing.T, c vectors.Sequence, s strategy) {
	t.Helper()
	if c.FinalQuota != nil {
		require.Equal(t, *c.FinalQuota, s.Snapshot().Scopes[0].Quota)
	}
}

func requireEnd(t *testing.T, last vectors.Step, err error, waited time.Duration) {
	t.Helper()
	switch last.Want.Outcome {
	case "success":
		require.NoError(t, err)
	case "not_retryable":
		require.Equal(t, last.Response.Err(), err)
	default:
		require.Equal(t, last.Want.Outcome, outcomeOf(err))
	}
	want := time.Duration(0)
	if last.Want.Delay != nil {
		want = vectors.Seconds(*last.Want.Delay)
	}
	require.Equal(t, want, waited, "sleep before returning")
}

func TestDefaultsFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for behavior, d := range file.Defaults {
			t.Run(title+"/"+behavior, func(t *testing.T) {
				s, _ := newStrategy(t, func(c *standard.Config) { c.Behavior, c.QuotaInitial = retry.Behavior(behavior), new(0) })
				want := retry.Plan{
					MaxAttempts: d.MaxAttempts, QuotaCapacity: d.QuotaCapacity,
					RetryCost: d.Cost, TimeoutCost: d.TimeoutCost, ThrottlingCost: d.ThrottlingCost,
					Base: vectors.Seconds(d.Base), ThrottlingBase: vectors.Seconds(d.ThrottlingBase),
					MaxBackoff: vectors.Seconds(d.MaxBackoff),
				}
				require.Equal(t, want, s.Plan(retry.Operation{}))
				require.NoError(t, s.RecordSuccess(begin(t, s, ""), retry.Result{}))
				require.Equal(t, d.FirstTrySuccess, scopes(s)[""])
				if d.RetryAfterSlack > 0 {
					require.InDelta(t, d.RetryAfterSlack, backoff.HintSlack.Seconds(), 0)
				}
				if d.DynamoDB == nil {
					require.Equal(t, want, s.Plan(retry.Operation{Service: "dynamodb"}))
					return
				}
				want.Base, want.MaxAttempts = vectors.Seconds(d.DynamoDB.Base), d.DynamoDB.MaxAttempts
				for _, service := range d.DynamoDB.Services {
					require.Equal(t, want, s.Plan(retry.Operation{Service: service}), service)
				}
			})
		}
	}
}
