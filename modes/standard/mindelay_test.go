package standard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestNoDelayIsBelowTheShortestOne(t *testing.T) {
	t.Parallel()
	hinted := vectors.Response{
		Status: 500, Kind: "transient", Headers: map[string]string{"x-amz-retry-after": "7000"},
	}.Err()
	for _, c := range []struct {
		name    string
		config  standard.Config
		failure error
		want    [3]time.Duration // before the first three retries
	}{
		{"no jitter", standard.Config{MinDelay: 150 * time.Millisecond, Jitter: standard.NoJitter}, errServer, [3]time.Duration{150e6, 150e6, 200e6}},
		{"the smallest random number", standard.Config{MinDelay: 300 * time.Millisecond}, errServer, [3]time.Duration{300e6, 300e6, 300e6}},
		{"the smallest random number after a throttle", standard.Config{MinDelay: 300 * time.Millisecond}, errThrottle, [3]time.Duration{300e6, 300e6, 300e6}},
		{"equal", standard.Config{MinDelay: 30 * time.Millisecond, Jitter: standard.Equal}, errServer, [3]time.Duration{30e6, 50e6, 100e6}},
		{"decorrelated", standard.Config{MinDelay: time.Second, Jitter: standard.Decorrelated}, errServer, [3]time.Duration{1e9, 1e9, 1e9}},
		{"cap after the jitter", standard.Config{MinDelay: time.Second, Jitter: standard.FullThenCap}, errServer, [3]time.Duration{1e9, 1e9, 1e9}},
		{"as long as the longest one", standard.Config{MinDelay: 20 * time.Second}, errServer, [3]time.Duration{20e9, 20e9, 20e9}},
		{"hint above it in v2.1", standard.Config{MinDelay: time.Second}, hinted, [3]time.Duration{6e9, 6e9, 6e9}},
		{"hint below it in v2.1", standard.Config{MinDelay: 8 * time.Second}, hinted, [3]time.Duration{8e9, 8e9, 8e9}},
		{"hint above it in v2.0", standard.Config{MinDelay: time.Second, Behavior: retry.V20}, hinted, [3]time.Duration{7e9, 7e9, 7e9}},
		{"hint below it in v2.0", standard.Config{MinDelay: 8 * time.Second, Behavior: retry.V20}, hinted, [3]time.Duration{8e9, 8e9, 8e9}},
		{"hint with a longest one below it", standard.Config{MinDelay: 2 * time.Second, MaxHint: time.Second}, hinted, [3]time.Duration{2e9, 2e9, 2e9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.MaxAttempts, c.config.Random = 4, func() float64 { return 0 }
			s, err := standard.New(c.config)
			require.NoError(t, err)
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			for i, want := range c.want {
				token, err = s.RefreshRetryToken(t.Context(), token, c.failure)
				require.NoError(t, err)
				require.Equal(t, want, token.Delay(), "retry %d", i)
			}
		})
	}
}

// The longest delay before the jitter of decorrelated jitter follows the delay that was slept.
func TestDecorrelatedJitterGrowsFromTheShortestDelay(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.Jitter, c.MaxAttempts, c.MinDelay = standard.Decorrelated, 4, time.Second
	})
	_, err := do(t.Context(), clk, s, retry.Operation{}, errServer, errServer, errServer)
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}, clk.Waits())
}

func TestOperationThatAnEmptyQuotaSlowsDownSleepsTheShortestDelay(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.QuotaCapacity, c.BackoffWhenEmpty, c.MinDelay = new(0), true, time.Second
	})
	_, err := do(t.Context(), clk, s, retry.Operation{}, errServer)
	require.ErrorIs(t, err, retry.ErrQuotaExhausted)
	require.Equal(t, []time.Duration{time.Second}, clk.Waits())
}
