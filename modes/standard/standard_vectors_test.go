package standard_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestStrategyFollowsTheVectors runs adaptive mode too, which adds a send rate to standard mode
// and changes nothing else.
func TestStrategyFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range slices.Concat(file.Sequences, file.Concurrent, file.Pools) {
			config := play.Config(c.Behavior, c.Given)
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
		take(t, s, open, c.Given, step, i)
	}
	if c.FinalQuota != nil {
		require.Equal(t, *c.FinalQuota, s.Snapshot().Scopes[0].Quota)
	}
}

// take takes a step of one of the operations that are open.
func take(t *testing.T, s strategy, open map[string]retry.Token, given vectors.Given, step vectors.Step, i int) {
	t.Helper()
	token, ok := open[step.Request]
	if !ok {
		var err error
		token, err = s.AcquireInitialToken(t.Context(), retry.Operation{Scope: step.Scope, LongPolling: given.LongPolling})
		require.NoError(t, err)
	}
	if step.Response.Err() == nil {
		require.Equal(t, "success", step.Want.Outcome, "step %d", i)
		require.Nil(t, step.Want.Delay, "step %d", i)
		require.NoError(t, s.RecordSuccess(token, retry.Result{}))
		delete(open, step.Request)
	} else {
		next, err := s.RefreshRetryToken(t.Context(), token, step.Response.Err())
		switch {
		case err == nil:
			require.Equal(t, "retry", step.Want.Outcome, "step %d", i)
		case errors.Is(err, retry.ErrNotRetryable):
			require.Equal(t, "not_retryable", step.Want.Outcome, "step %d", i)
		default:
			require.Equal(t, step.Want.Outcome, play.Outcome(err), "step %d", i)
		}
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

func TestLimitsOnDebtFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.DebtLimits {
			clk := &clock.Fake{}
			config := play.Config(c.Behavior, c.Given)
			config.Clock, config.DebtLimit = clk, true
			plain, err := standard.New(config)
			require.NoError(t, err)
			paced, err := adaptive.New(adaptive.Config{Standard: config})
			require.NoError(t, err)
			for mode, s := range map[string]strategy{"standard": plain, "adaptive": paced} {
				t.Run(title+"/"+c.ID+"/"+mode, func(t *testing.T) {
					open := map[string]retry.Token{}
					for i, step := range c.Steps {
						clk.Advance(vectors.Seconds(step.After))
						take(t, s, open, c.Given, step.Step, i)
						for _, scope := range s.Snapshot().Scopes {
							if scope.Scope == step.Scope {
								require.Equal(t, step.WantLimit, scope.DebtLimit, "limit after step %d", i)
							}
						}
					}
				})
			}
		}
	}
}

func TestLossesFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.Losses {
			config := play.Config(c.Behavior, c.Given)
			plain, err := standard.New(config)
			require.NoError(t, err)
			paced, err := adaptive.New(adaptive.Config{Standard: config})
			require.NoError(t, err)
			for mode, s := range map[string]strategy{"standard": plain, "adaptive": paced} {
				t.Run(title+"/"+c.ID+"/"+mode, func(t *testing.T) {
					t.Parallel()
					for i, step := range c.Steps {
						for range step.Successes {
							require.NoError(t, s.RecordSuccess(play.Sent(t, s), retry.Result{}))
						}
						require.Equal(t, step.WantRetried, loseAll(t, s, step.InFlight, step.Response.Err()), "step %d", i)
					}
				})
			}
		}
	}
}

// loseAll sends so many attempts, lets all fail, and returns how many of them have another one, which fails for good.
func loseAll(t *testing.T, s strategy, attempts int, failure error) (again int) {
	t.Helper()
	sent := make([]retry.Token, attempts)
	for i := range sent {
		sent[i] = play.Sent(t, s)
	}
	for _, token := range sent {
		next, err := s.RefreshRetryToken(t.Context(), token, failure)
		if err == nil {
			again++
			next, err = s.RefreshRetryToken(t.Context(), next, errors.New("final"))
			require.ErrorIs(t, err, retry.ErrNotRetryable)
		}
		require.NoError(t, s.RecordFailure(next, failure))
	}
	return again
}

func TestDoFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.Sequences {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { doThrough(t, c) })
			})
		}
	}
}

// doThrough runs the operations of a sequence through retry.Do.
func doThrough(t *testing.T, c vectors.Sequence) {
	t.Helper()
	s, err := standard.New(play.Config(c.Behavior, c.Given))
	require.NoError(t, err)
	op := retry.Operation{LongPolling: c.Given.LongPolling}
	play.Sequence(t, c, func() int { return scopes(s)[""] }, func(attempt func(func(vectors.Response))) string {
		var answered error
		_, err := retry.Do(t.Context(), s, op, func(context.Context) (struct{}, error) {
			attempt(func(r vectors.Response) { answered = r.Err() })
			return struct{}{}, answered
		})
		outcome := play.Outcome(err)
		if outcome == "not_retryable" {
			require.Equal(t, answered, err)
		}
		return outcome
	})
}

func TestDefaultsFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
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
