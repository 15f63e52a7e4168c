package standard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// The random number is always three quarters, the base 1 s and the longest delay 20 s.
func TestEachKindOfJitterHasItsFormula(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind standard.Jitter
		name string
		want [6]time.Duration // in milliseconds, before the first six retries
	}{
		{standard.Full, "full", [6]time.Duration{750, 1500, 3000, 6000, 12_000, 15_000}},
		{standard.NoJitter, "none", [6]time.Duration{1000, 2000, 4000, 8000, 16_000, 20_000}},
		{standard.Equal, "equal", [6]time.Duration{875, 1750, 3500, 7000, 14_000, 17_500}},
		{standard.Decorrelated, "decorrelated", [6]time.Duration{2500, 5875, 13_468, 20_000, 20_000, 20_000}},
		{standard.FullThenCap, "full-then-cap", [6]time.Duration{750, 1500, 3000, 6000, 12_000, 20_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.name, c.kind.String())
			s, _ := newStrategy(t, func(config *standard.Config) {
				config.Jitter, config.Base, config.MaxAttempts = c.kind, time.Second, 7
				config.Random = func() float64 { return 0.75 }
			})
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			for i, want := range c.want {
				token, err = s.RefreshRetryToken(t.Context(), token, errServer)
				require.NoError(t, err)
				require.Equal(t, want, token.Delay()/time.Millisecond, "retry %d", i)
			}
		})
	}
	unknown := standard.FullThenCap + 1
	require.Equal(t, "unknown", unknown.String())
}
