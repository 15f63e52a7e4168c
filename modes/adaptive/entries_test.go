package adaptive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

func TestSuccessWithThrottledEntriesIsAThrottleForTheSendRateAndASuccessForTheQuota(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		throttled, of     int
		limited           bool
		told, toldEntries int
	}{
		{"some", 3, 25, true, 3, 25},
		{"all", 25, 25, true, 25, 25},
		{"none", 0, 25, false, 0, 0},
		{"less than none", -1, 25, false, 0, 0},
		{"more than there are", 3, 0, true, 3, 3},
		{"very many", 1 << 30, 1<<31 - 1, true, 1 << 30, 1<<31 - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			empty := 0
			s, _ := newStrategy(t, func(config *adaptive.Config) {
				config.Standard.QuotaInitial, config.Standard.Observer = &empty, r
			})
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			require.NoError(t, token.Wait(t.Context()))
			token = token.WithEntries(c.throttled, c.of)
			require.Equal(t, 1, token.Attempt())
			require.Zero(t, token.Delay())
			require.NoError(t, s.RecordSuccess(token))
			state := s.Snapshot().Scopes[0]
			require.Equal(t, c.limited, state.Limited)
			require.Equal(t, 1, state.Quota, "that of a success at the first attempt")
			ended := r.of(retry.AttemptEnded)
			require.Len(t, ended, 1)
			require.NoError(t, ended[0].Err)
			require.Equal(t, c.told, ended[0].EntriesThrottled)
			require.Equal(t, c.toldEntries, ended[0].Entries)
			require.Equal(t, "success", r.of(retry.OperationEnded)[0].Outcome())
		})
	}
}

func TestRetryThatSucceedsWithThrottledEntriesGetsItsCostBack(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	clk.Run(func() { require.NoError(t, token.Wait(t.Context())) })
	require.NoError(t, s.RecordSuccess(token.WithEntries(1, 2)))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	require.True(t, s.Snapshot().Scopes[0].Limited)
}
