package adaptive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func TestSnapshotHasTheQuotaAndTheSendRate(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	clk.Advance(time.Second)
	throttled := clk.Now()
	token, err := s.RefreshRetryToken(t.Context(), sent(t, s), errThrottle)
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
	require.NoError(t, s.RecordSuccess(token))
	got = s.Snapshot().Scopes[0]
	require.Positive(t, got.SendTokens)
	require.LessOrEqual(t, got.SendTokens, got.SendCapacity)
	require.Zero(t, got.Waiting)
}

func TestSnapshotKeepsScopesWithTheSameNameApart(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	named := retry.Operation{Scope: "s3/eu-west-1", MaxAttempts: 1}
	parts := retry.Operation{Service: "s3", Region: "eu-west-1", MaxAttempts: 1}
	require.Error(t, do(t.Context(), clk, s, named, errThrottle))
	require.NoError(t, do(t.Context(), clk, s, parts))
	limited := map[retry.ScopeKey]bool{}
	for _, scope := range s.Snapshot().Scopes[1:] {
		require.Equal(t, "s3/eu-west-1", scope.Scope)
		limited[scope.Key] = scope.Limited
	}
	require.Equal(t, map[retry.ScopeKey]bool{named.Key(): true, parts.Key(): false}, limited)
}
