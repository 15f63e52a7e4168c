package adaptive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// The adaptive mode of one AWS SDK or another has had each of these mistakes. Each test is named after
// the mistake and says where it was made. Mistakes that have tests elsewhere:
// TestLimiterHearsOfEveryAttemptExactlyOnce (aws-sdk-go-v2, aws-sdk-java-v2),
// TestSuccessesRefillTheQuotaInAdaptiveModeToo (aws-sdk-go-v2#3550), TestRefusedSendWaitIsARefusedRetry
// and TestCancelDuringASendWait (aws-sdk-go-v2), TestScopesThatHaveToStayDo (aws-sdk-java-v2),
// TestThrottledScopeDoesNotSlowAnother (trino#25908; aws-sdk-net#4384: throttles did not slow a client
// down that does not retry), TestThrottleTurnsTheSendRateOnAndDelaysAFirstAttempt
// (aws-sdk-java-v2#5123: the state was made anew for each request),
// TestEventsOfSendWaitsTellTheQueueAndTheError (smithy-kotlin slept with its lock held),
// TestSettlesAtTheRateOfTheService (aws-sdk-java-v2#7197); those of the limiter alone are in its own
// package.

// smithy-typescript#1974 and smithy-rs#4749: retries took no send token.
func TestTrapRetryTakesNoSendToken(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 0.5} }
		c.Standard.Random = func() float64 { return 0 } // no backoff
	})
	before := clk.Now()
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, errServer, errServer))
	require.Equal(t, 4*time.Second, clk.Now().Sub(before), "two seconds for each token but the first")
}

// smithy-typescript#1974: a retry that the quota refuses must not have taken a send token from
// attempts that are made.
func TestTrapSendTokenIsTakenBeforeTheQuotaDecides(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 1} }
		c.Standard.QuotaInitial = new(0)
	})
	before := clk.Now()
	require.ErrorIs(t, play.Do(t.Context(), clk, s, retry.Operation{}, errServer), retry.ErrQuotaExhausted)
	require.Equal(t, before, clk.Now(), "it returns at once")
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	require.Equal(t, time.Second, clk.Now().Sub(before), "the next token is the second one")
}

// aws-sdk-go-v2, aws-sdk-js-v3 and botocore count in wall-clock time: when the wall clock is
// set back, nothing is sent until it has caught up. The readings of clock.System have a
// monotonic part, which must not get lost on the way.
func TestTrapRatesAreCountedInWallClockTime(t *testing.T) {
	t.Parallel()
	s, err := adaptive.New(adaptive.Config{Standard: standard.Config{MaxAttempts: 1}})
	require.NoError(t, err)
	_, err = s.RefreshRetryToken(t.Context(), play.Sent(t, s), errThrottle)
	require.Error(t, err)
	require.Contains(t, s.Snapshot().Scopes[0].LastThrottle.String(), " m=")
}
