package adaptive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

func TestUnpacedOperationTakesNoSendTokens(t *testing.T) {
	t.Parallel()
	l := &scripted{expected: time.Hour}
	s, clk := newStrategy(t, func(c *adaptive.Config) { l.use(c) })
	ctx, cancel := clk.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	unpaced := retry.Operation{Unpaced: true}
	require.NoError(t, do(ctx, clk, s, unpaced, errThrottle, errServer))
	require.ErrorIs(t, do(ctx, clk, s, unpaced, errClient), errClient)
	require.Empty(t, l.requests)
	require.Empty(t, l.reports)
	require.Empty(t, l.costs, "its deadline does not depend on the send rate")
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
	require.Len(t, l.requests, 1)
	require.Equal(t, []bool{false}, l.reports)
}

// TestRetryThatIsCanceledAfterItsWaitGivesBack: a loop may wait for the token before it sleeps.
func TestRetryThatIsCanceledAfterItsWaitGivesBack(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	var kinds []retry.EventKind
	s, _ := newStrategy(t, func(c *adaptive.Config) {
		l.use(c)
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { kinds = append(kinds, e.Kind) })
	})
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
	require.NoError(t, s.RecordFailure(token, retry.ErrCanceled))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	require.Equal(t, []bool{false}, l.reports, "the second attempt was not made")
	require.Equal(t, []retry.EventKind{
		retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused, retry.OperationEnded,
	}, kinds)
	require.ErrorIs(t, s.RecordFailure(token, retry.ErrCanceled), retry.ErrTokenUsed)
}
