package awssdk_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

func TestDelayOfAnUnknownErrorIsTheUsualBackoff(t *testing.T) {
	t.Parallel()
	r := retryer(t, strategy(t, standard.Config{}))
	for attempt, c := range []struct {
		failure error
		most    time.Duration
	}{
		{failed(500), 50 * time.Millisecond}, // of no attempt
		{failed(500), 50 * time.Millisecond},
		{failed(500), 100 * time.Millisecond},
		{failed(429), 4 * time.Second},
		{failed(429), 8 * time.Second},
		{failed(429), 16 * time.Second},
		{failed(429), 20 * time.Second},
		{nil, 3200 * time.Millisecond},
	} {
		longest := time.Duration(0)
		for range 1000 {
			delay, err := r.RetryDelay(attempt, c.failure)
			require.NoError(t, err)
			require.GreaterOrEqual(t, delay, time.Duration(0))
			longest = max(longest, delay)
		}
		require.LessOrEqual(t, longest, c.most)
		require.Greater(t, longest, c.most*9/10, "full jitter")
	}
	delay, err := r.RetryDelay(1<<40, failed(500))
	require.NoError(t, err)
	require.LessOrEqual(t, delay, 20*time.Second)

	delay, err = retryer(t, strategy(t, standard.Config{MinDelay: 15 * time.Second})).RetryDelay(1, failed(500))
	require.NoError(t, err)
	require.Equal(t, 15*time.Second, delay, "the shortest")
}
