package adaptive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// The adaptive mode of one AWS SDK or another has had each of these mistakes. Each test is
// named after the mistake and says where it was made. Mistakes that have tests elsewhere: TestLimiterHearsOfEveryAttemptExactlyOnce (aws-sdk-go-v2,
// aws-sdk-java-v2), TestSuccessesRefillTheQuotaInAdaptiveModeToo
// (aws-sdk-go-v2#3550), TestServiceErrorSurvivesARefusedSendWait and
// TestCancelDuringASendWait (aws-sdk-go-v2), TestThrottledScopeIsNotEvictedForTenMinutes
// (aws-sdk-java-v2), TestThrottledTableDoesNotSlowAnother (trino#25908),
// TestSettlesAtTheRateOfTheService (aws-sdk-java-v2#7197); those of the limiter
// alone are in its own package.

// generations are both behaviors.
func generations(t *testing.T, test func(t *testing.T, behavior retry.Behavior)) {
	t.Helper()
	for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
		t.Run(string(behavior), func(t *testing.T) {
			t.Parallel()
			test(t, behavior)
		})
	}
}

// aws-sdk-net#4384: throttles did not slow a client down that does not retry.
func TestTrapThrottlesDoNotCountWithoutRetries(t *testing.T) {
	t.Parallel()
	generations(t, func(t *testing.T, behavior retry.Behavior) {
		t.Helper()
		s, clk := newStrategy(t, func(c *adaptive.Config) {
			c.Standard.Behavior, c.Standard.MaxAttempts = behavior, 1
		})
		require.Error(t, do(t.Context(), clk, s, retry.Operation{}, errThrottle))
		before := clk.Now()
		require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
		require.Equal(t, 2*time.Second, clk.Now().Sub(before))
	})
}

// smithy-typescript#1974 and smithy-rs#4749: retries took no send token.
func TestTrapRetryTakesNoSendToken(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 0.5} }
		c.Standard.Random = func() float64 { return 0 } // no backoff
	})
	before := clk.Now()
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}, errServer, errServer))
	require.Equal(t, 4*time.Second, clk.Now().Sub(before), "two seconds for each token but the first")
}

// smithy-typescript#1974: a retry that the quota refuses must not have taken a send token from
// attempts that are made.
func TestTrapSendTokenIsTakenBeforeTheQuotaDecides(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 1} }
		c.Standard.QuotaInitial = new(0)
	})
	before := clk.Now()
	require.ErrorIs(t, do(t.Context(), clk, s, retry.Operation{}, errServer), retry.ErrQuotaExhausted)
	require.Equal(t, before, clk.Now(), "it returns at once")
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
	require.Equal(t, time.Second, clk.Now().Sub(before), "the next token is the second one")
}

// aws-sdk-java-v2#5123: the state was made anew for each request.
func TestTrapStateDoesNotOutliveTheOperation(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}, errServer))
	got := s.Snapshot().Scopes[0]
	require.True(t, got.Limited)
	require.Positive(t, got.MeasuredRate)
	require.Equal(t, 500, got.Quota, "all retries have succeeded")
}

// smithy-kotlin slept with its lock held, so that no other caller could even ask.
func TestTrapLockIsHeldWhileACallerWaits(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) { c.Standard.MaxAttempts = 1 })
	under := sent(t, s)
	require.Error(t, do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	var waited error
	clk.Run(func() {
		require.NoError(t, clk.Sleep(t.Context(), time.Second))
		require.Equal(t, 1, s.Snapshot().Scopes[0].Waiting)
		require.NoError(t, s.RecordSuccess(under))
		other, err := s.AcquireInitialToken(t.Context(), retry.Operation{Scope: "other"})
		require.NoError(t, err)
		require.NoError(t, other.Wait(t.Context()))
	}, func() {
		waited = token.Wait(t.Context())
	})
	require.NoError(t, waited)
}

// aws-sdk-go-v2, aws-sdk-js-v3 and botocore count in wall-clock time: when the wall clock is
// set back, nothing is sent until it has caught up. The readings of clock.System have a
// monotonic part, which must not get lost on the way.
func TestTrapRatesAreCountedInWallClockTime(t *testing.T) {
	t.Parallel()
	s, err := adaptive.New(adaptive.Config{Standard: standard.Config{MaxAttempts: 1}})
	require.NoError(t, err)
	_, err = s.RefreshRetryToken(t.Context(), sent(t, s), errThrottle)
	require.Error(t, err)
	require.Contains(t, s.Snapshot().Scopes[0].LastThrottle.String(), " m=")
}

// settable is a clock that can be set back.
type settable struct {
	*clock.Fake
	off time.Duration
}

func (c *settable) Now() time.Time { return c.Fake.Now().Add(c.off) }

func TestTrapTokensGoMissingWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	clk := &settable{Fake: &clock.Fake{}}
	s, err := adaptive.New(adaptive.Config{
		NoSendWait: true,
		Standard:   standard.Config{Clock: clk, MaxAttempts: 1},
		SendLimit:  func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 10} },
	})
	require.NoError(t, err)
	send := func() error { return do(t.Context(), clk.Fake, s, retry.Operation{}) }
	require.NoError(t, send())
	clk.Advance(300 * time.Millisecond)
	require.NoError(t, send())
	before := s.Snapshot().Scopes[0]
	require.InDelta(t, 2, before.SendTokens, 1e-9)

	clk.off = -time.Hour
	require.NoError(t, send())
	require.NoError(t, send())
	require.ErrorIs(t, send(), retry.ErrSendRateLimited)
	after := s.Snapshot().Scopes[0]
	require.InDelta(t, 0, after.SendTokens, 1e-9)
	require.InDelta(t, before.FillRate, after.FillRate, 0)

	clk.off = 0
	clk.Advance(100 * time.Millisecond)
	require.NoError(t, send())
	require.ErrorIs(t, send(), retry.ErrSendRateLimited)
}
