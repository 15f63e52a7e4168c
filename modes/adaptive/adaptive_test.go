package adaptive_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var (
	errServer   = vectors.Response{Status: 500, Kind: "transient"}.Err()
	errThrottle = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: "throttling"}.Err()
)

func TestThrottleTurnsTheSendRateOnAndDelaysAFirstAttempt(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, nil)
	whole := retry.Operation{}
	start := clk.Now()
	require.NoError(t, play.Do(t.Context(), clk, s, whole))
	require.Equal(t, start, clk.Now(), "nothing is held back before the first throttle")
	require.False(t, s.Snapshot().Scopes[0].Limited)

	require.NoError(t, play.Do(t.Context(), clk, s, whole, errThrottle))
	require.True(t, s.Snapshot().Scopes[0].Limited)
	// Three responses in the two seconds until the success, of which the smoothing takes 0.8.
	// The rate is at most twice the measured rate.
	require.InDelta(t, 2*0.8*3/2, s.Snapshot().Scopes[0].FillRate, 1e-12)

	before := clk.Now()
	require.NoError(t, play.Do(t.Context(), clk, s, whole))
	require.Greater(t, clk.Now().Sub(before), 100*time.Millisecond, "the first attempt of an operation waits too")
	require.Len(t, clk.Waits(), 1, "that is no backoff")
}

func TestSendWaitPastTheDeadlineIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) { c.Standard.MaxAttempts = 1 })
	require.ErrorIs(t, play.Do(t.Context(), clk, s, retry.Operation{}, errThrottle), retry.ErrAttemptsExhausted)
	ctx, cancel := clk.WithTimeout(t.Context(), time.Second) // a token takes two
	defer cancel()
	attempted := false
	_, err := retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) {
		attempted = true
		return 0, nil
	})
	require.False(t, attempted)
	require.ErrorIs(t, err, retry.ErrDeadline)
	require.ErrorIs(t, err, retry.ErrSendRateLimited)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "retry: client-side: wait would end after the caller's deadline: "+
		"held back by the send rate: ratelimit: the wait would leave too little time before the caller's deadline: "+
		"2s to wait, 0 ahead, 0.5 tokens/s (0 attempts, 2s to wait)")
}

func TestCancelDuringASendWait(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) { c.Standard.MaxAttempts = 1 })
	require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	clk.AfterFunc(time.Second, func() { cancel(cause) }) // a token takes two
	err := play.Do(ctx, clk, s, retry.Operation{})
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, cause)
	require.Zero(t, s.Snapshot().Scopes[0].Waiting)
	require.Zero(t, clk.Waiters())
}

func TestSuccessesRefillTheQuotaInAdaptiveModeToo(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) { c.Standard.QuotaInitial = new(0) })
	require.ErrorIs(t, play.Do(t.Context(), clk, s, retry.Operation{}, errServer), retry.ErrQuotaExhausted)
	for range 14 {
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	}
	require.Equal(t, 14, s.Snapshot().Scopes[0].Quota)
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, errServer), "there are retries again")
}

func TestThrottledScopeDoesNotSlowAnother(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) { c.Standard.MaxAttempts = 1 })
	orders, users := retry.Operation{Resource: "orders"}, retry.Operation{Resource: "users"}
	require.Error(t, play.Do(t.Context(), clk, s, orders, errThrottle))
	before := clk.Now()
	for range 100 {
		require.NoError(t, play.Do(t.Context(), clk, s, users))
	}
	require.Equal(t, before, clk.Now())
	require.NoError(t, play.Do(t.Context(), clk, s, orders))
	require.Equal(t, 2*time.Second, clk.Now().Sub(before))
}

func TestScopesCountTimeFromWhenTheStrategyWasBuilt(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, nil)
	clk.Advance(10 * time.Second)
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "late"}))
	require.InDelta(t, 0.8/10, s.Snapshot().Scopes[1].MeasuredRate, 1e-12, "one response in ten seconds")
}

func TestThrottlesOfOneCongestionEventCutTheRateOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		controller ratelimit.Controller
		end        func(s retry.Strategy, token retry.Token) error
	}{
		{"refused retries", ratelimit.CutPerEvent, play.Refresh},
		{"failures", ratelimit.CutPerEvent, play.Fail},
		{"refused retries, one cut per throttle", ratelimit.CutPerThrottle, play.Refresh},
		{"failures, one cut per throttle", ratelimit.CutPerThrottle, play.Fail},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, clk := play.Adaptive(t, func(config *adaptive.Config) {
				config.Standard.MaxAttempts, config.Controller = 1, c.controller
			})
			var inFlight [2]retry.Token
			for i := range inFlight {
				inFlight[i] = play.Sent(t, s)
			}
			for range 20 {
				clk.Advance(100 * time.Millisecond)
				require.NoError(t, s.RecordSuccess(play.Sent(t, s), retry.Result{}))
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

func TestSnapshotHasTheQuotaAndTheSendRate(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, nil)
	clk.Advance(time.Second)
	throttled := clk.Now()
	token, err := s.RefreshRetryToken(t.Context(), play.Sent(t, s), errThrottle)
	require.NoError(t, err)
	var snapshot retry.Snapshot
	clk.Run(func() {
		require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	}, func() {
		_ = clk.Sleep(t.Context(), time.Second/2)
		snapshot = s.Snapshot()
	})

	// One response in a second, of which the smoothing takes 0.8 per second. The first cut
	// leaves 0.7 of that. A snapshot has the tokens as of the last call, which was the Wait.
	require.Equal(t, "adaptive", snapshot.Mode)
	require.Len(t, snapshot.Scopes, 1)
	got := snapshot.Scopes[0]
	require.InDelta(t, 0.8, got.MeasuredRate, 1e-12)
	require.InDelta(t, 0.7*0.8, got.FillRate, 1e-12)
	got.MeasuredRate, got.FillRate = 0, 0
	require.Equal(t, retry.ScopeSnapshot{
		Quota: 495, QuotaCapacity: 500, SendRateSource: "local", Limited: true, SendCapacity: 1, Waiting: 1, LastThrottle: throttled,
	}, got)

	clk.Advance(10 * time.Second)
	require.NoError(t, s.RecordSuccess(token, retry.Result{}))
	got = s.Snapshot().Scopes[0]
	require.Positive(t, got.SendTokens)
	require.LessOrEqual(t, got.SendTokens, got.SendCapacity)
	require.Zero(t, got.Waiting)
}

func TestSnapshotKeepsScopesWithTheSameNameApart(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, nil)
	named := retry.Operation{Scope: "s3/eu-west-1", MaxAttempts: 1}
	parts := retry.Operation{Service: "s3", Region: "eu-west-1", MaxAttempts: 1}
	require.Error(t, play.Do(t.Context(), clk, s, named, errThrottle))
	require.NoError(t, play.Do(t.Context(), clk, s, parts))
	limited := map[retry.ScopeKey]bool{}
	for _, scope := range s.Snapshot().Scopes[1:] {
		require.Equal(t, "s3/eu-west-1", scope.Scope)
		limited[scope.Key] = scope.Limited
	}
	require.Equal(t, map[retry.ScopeKey]bool{named.Key(): true, parts.Key(): false}, limited)
}

func TestMeasuredRateOfAStrategyIsInTokens(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) { c.SendCost = 2.5 })
	clk.Advance(10 * time.Second)
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	require.InDelta(t, 0.8*2.5/10, s.Snapshot().Scopes[0].MeasuredRate, 1e-12, "one response in ten seconds")
}

// A throttle leaves a rate of half a token a second, so that the tokens for an attempt are there
// after twice as many seconds.
func TestAttemptsThatCostMoreThanTheRateGoOnAfterAThrottle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(c *adaptive.Config)
		within time.Duration // the caller's deadline
	}{
		{"without a wait", func(c *adaptive.Config) { c.NoSendWait = true }, time.Hour},
		{"with a bounded wait", func(c *adaptive.Config) { c.MaxSendWait = 100 * time.Millisecond }, time.Hour},
		{"with a deadline", nil, 500 * time.Millisecond},
	} {
		for cost, capacity := range map[float64]float64{0: 1, 0.5: 1, 1: 1, 2: 2, 7.5: 7.5} {
			t.Run(fmt.Sprint(c.name, ", cost ", cost), func(t *testing.T) {
				t.Parallel()
				s, clk := play.Adaptive(t, func(config *adaptive.Config) {
					config.SendCost, config.Standard.MaxAttempts = cost, 1
					if c.change != nil {
						c.change(config)
					}
				})
				call := func(errs ...error) error {
					ctx, cancel := clk.WithTimeout(t.Context(), c.within)
					defer cancel()
					_, err := retry.Do(ctx, s, retry.Operation{}, play.Answers(errs...))
					return err
				}
				require.ErrorIs(t, call(errThrottle), errThrottle)
				require.ErrorIs(t, call(), retry.ErrSendRateLimited)
				require.InDelta(t, capacity, s.Snapshot().Scopes[0].SendCapacity, 0)
				for range 3 {
					clk.Advance(time.Minute)
					require.InDelta(t, 0.5, s.Snapshot().Scopes[0].FillRate, 0)
					require.ErrorIs(t, call(errThrottle), errThrottle, "an attempt in a minute")
				}
			})
		}
	}
}
