package adaptive_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	errServer   = vectors.Response{Status: 500, Kind: "transient"}.Err()
	errThrottle = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: "throttling"}.Err()
)

// The readings of clock.System have a monotonic part, which must not get lost on the way: otherwise nothing would be sent while
// a wall clock that was set back catches up.
func TestRatesAreNotCountedInWallClockTime(t *testing.T) {
	t.Parallel()
	s, err := adaptive.New(adaptive.Config{Standard: standard.Config{MaxAttempts: 1}})
	require.NoError(t, err)
	_, err = s.RefreshRetryToken(t.Context(), play.Sent(t, s), errThrottle)
	require.Error(t, err)
	require.Contains(t, s.Snapshot().Scopes[0].LastThrottle.String(), " m=")
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
