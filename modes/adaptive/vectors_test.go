package adaptive_test

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/conformance"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestVerbsFollowTheVectorsOfStandardMode: adaptive mode adds a send rate to what
// standard mode does and changes nothing of it.
func TestVerbsFollowTheVectorsOfStandardMode(t *testing.T) {
	t.Parallel()
	for title, file := range conformance.Load[conformance.Standard](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for _, c := range append(file.Sequences, file.Concurrent...) {
			t.Run(title+"/"+c.ID, func(t *testing.T) { stepThrough(t, c) })
		}
	}
}

// stepThrough calls the verbs as a loop of the user's own would, without waiting.
func stepThrough(t *testing.T, c conformance.Sequence) {
	t.Helper()
	s := newFromCase(t, c.Behavior, c.Given)
	open := map[string]retry.Token{}
	for i, step := range c.Steps {
		token, ok := open[step.Request]
		if !ok {
			var err error
			token, err = s.AcquireInitialToken(t.Context(), retry.Operation{LongPolling: c.Given.LongPolling})
			require.NoError(t, err)
		}
		delete(open, step.Request)
		if step.Response.Err() == nil {
			require.Equal(t, "success", step.Want.Outcome, "step %d", i)
			require.NoError(t, s.RecordSuccess(token))
		} else {
			next, err := s.RefreshRetryToken(t.Context(), token, step.Response.Err())
			require.Equal(t, step.Want.Outcome, verbOutcomeOf(err, step.Response), "step %d", i)
			want := 0.0
			if step.Want.Delay != nil {
				want = *step.Want.Delay
			}
			require.Equal(t, conformance.Seconds(want), next.Delay(), "step %d", i)
			if err == nil {
				open[step.Request] = next
			} else {
				require.NoError(t, s.RecordFailure(next, step.Response.Err()))
			}
		}
		require.Equal(t, step.Want.QuotaAfter, s.Snapshot().Scopes[0].Quota, "quota after step %d", i)
	}
	if c.FinalQuota != nil {
		require.Equal(t, *c.FinalQuota, s.Snapshot().Scopes[0].Quota)
	}
}

// newFromCase builds the strategy that a case of standard mode is given.
func newFromCase(t *testing.T, behavior string, g conformance.Given) *adaptive.Strategy {
	t.Helper()
	config := standard.Config{
		Behavior:      standard.Behavior(behavior),
		Service:       g.Service,
		QuotaCapacity: g.QuotaCapacity,
		QuotaInitial:  g.InitialQuota,
		MaxBackoff:    conformance.Seconds(g.MaxBackoff),
		Random:        func() float64 { return g.Jitter },
		Clock:         &clock.Fake{},
	}
	if g.MaxAttempts != nil {
		config.MaxAttempts = *g.MaxAttempts
	}
	if g.QuotaCapacity == nil {
		config.QuotaCapacity = g.InitialQuota
	}
	s, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	return s
}

// verbOutcomeOf names what RefreshRetryToken said as the vectors do.
func verbOutcomeOf(err error, response conformance.Response) string {
	switch {
	case err == nil:
		return "retry"
	case errors.Is(err, retry.ErrNotRetryable):
		return "not_retryable"
	default:
		return outcomeOf(err, response)
	}
}
