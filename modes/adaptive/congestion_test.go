package adaptive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestThrottlesOfOneCongestionEventCutTheRateOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		controller ratelimit.Controller
		end        func(s retry.Strategy, token retry.Token) error
	}{
		{"refused retries", ratelimit.CutPerEvent, refresh},
		{"failures", ratelimit.CutPerEvent, fail},
		{"refused retries, one cut per throttle", ratelimit.CutPerThrottle, refresh},
		{"failures, one cut per throttle", ratelimit.CutPerThrottle, fail},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, clk := newStrategy(t, func(config *adaptive.Config) {
				config.Standard.MaxAttempts, config.Controller = 1, c.controller
			})
			var inFlight [2]retry.Token
			for i := range inFlight {
				inFlight[i] = sent(t, s)
			}
			for range 20 {
				clk.Advance(100 * time.Millisecond)
				require.NoError(t, s.RecordSuccess(sent(t, s)))
			}
			require.NoError(t, c.end(s, inFlight[0]))
			first, firstCut := s.Snapshot().Scopes[0], clk.Now()
			require.Equal(t, firstCut, first.LastThrottle)
			clk.Advance(100 * time.Millisecond)
			require.NoError(t, c.end(s, inFlight[1]))
			second := s.Snapshot().Scopes[0]
			if c.controller == ratelimit.CutPerEvent {
				require.Equal(t, firstCut, second.LastThrottle)
				require.InDelta(t, first.FillRate, second.FillRate, 0)
				return
			}
			require.Equal(t, clk.Now(), second.LastThrottle)
			require.InDelta(t, 0.7*first.FillRate, second.FillRate, 1e-12)
		})
	}
}

// sent begins an operation and waits until its attempt is sent.
func sent(t *testing.T, s retry.Strategy) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	return token
}

func fail(s retry.Strategy, token retry.Token) error { return s.RecordFailure(token, errThrottle) }

func refresh(s retry.Strategy, token retry.Token) error {
	token, _ = s.RefreshRetryToken(context.Background(), token, errThrottle)
	return s.RecordFailure(token, errThrottle)
}

func TestTokenThatWasNotWaitedForIsNotReported(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(s retry.Strategy, token retry.Token) error{
		"refresh": refresh,
		"failure": fail,
		"success": func(s retry.Strategy, token retry.Token) error { return s.RecordSuccess(token) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &scripted{}
			s, _ := newStrategy(t, l.use)
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			require.NoError(t, use(s, token))
			require.Empty(t, l.reports)
		})
	}
}

func TestClassifierIsNotAskedAboutAnAttemptThatWasNotMade(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, func(c *adaptive.Config) { c.Standard.Classifier = panicking{} })
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, fail(s, token))
}

func TestPanicOfAClassifierIsReportedAsAnAttemptOnce(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, _ := newStrategy(t, func(c *adaptive.Config) {
		c.Standard.Classifier = panicking{}
		l.use(c)
	})
	policy := func(_ int, err error) error { return retry.Permanent(err) }
	require.PanicsWithValue(t, "classifier", func() {
		_, _ = retry.Do(t.Context(), s, retry.Operation{}, answers(errServer), retry.WithPolicy(policy))
	})
	require.Equal(t, []bool{false}, l.reports)
}
