package standard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

type strategy interface {
	retry.Strategy
	Snapshot() retry.Snapshot
}

// waitingModes returns a strategy of each mode that waits a minute for quota, after a backoff of
// a second.
func waitingModes(t *testing.T, quota int, refill ratelimit.Rate) map[string]strategy {
	t.Helper()
	config := standard.Config{
		QuotaInitial: &quota, QuotaRefill: refill, MaxQuotaWait: time.Minute, Base: time.Second, Random: func() float64 { return 1 },
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	return map[string]strategy{"standard": s, "adaptive": a}
}

func TestRetryWaitsForQuota(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run("until time brings it/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 1)[mode]
				start := time.Now()
				value, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errServer))
				require.NoError(t, err)
				require.Equal(t, 2, value)
				require.Equal(t, 14*time.Second, time.Since(start), "a second of it backoff")
				require.Equal(t, 14, s.Snapshot().Scopes[0].Quota, "what it cost came back")
			})
		})
		t.Run("until others give it back/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 0)[mode]
				start := time.Now()
				go func() {
					for range 14 {
						_ = clock.System{}.Sleep(t.Context(), 2*time.Second)
						_, _ = retry.Do(t.Context(), s, retry.Operation{}, answers())
					}
				}()
				_, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errServer))
				require.NoError(t, err)
				require.Equal(t, 28*time.Second, time.Since(start))
				require.Equal(t, 14, s.Snapshot().Scopes[0].Quota)
			})
		})
		t.Run("in vain/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 4, 0)[mode]
				start := time.Now()
				_, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errServer))
				require.ErrorIs(t, err, retry.ErrQuotaExhausted)
				require.ErrorIs(t, err, errServer)
				require.ErrorContains(t, err, "1 attempt, 1m1s, 4 of 14 quota tokens")
				require.Equal(t, 61*time.Second, time.Since(start))
				require.Equal(t, 4, s.Snapshot().Scopes[0].Quota)
			})
		})
		t.Run("until the caller gives up/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 0)[mode]
				cause := errors.New("enough")
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, cause)
				defer cancel()
				_, err := retry.Do(ctx, s, retry.Operation{}, answers(errServer))
				require.ErrorIs(t, err, retry.ErrCanceled)
				require.ErrorIs(t, err, cause)
				require.ErrorIs(t, err, errServer)
				require.Zero(t, s.Snapshot().Scopes[0].Quota)
			})
		})
		t.Run("not for a success that did not wait/"+mode, func(t *testing.T) {
			t.Parallel()
			s := waitingModes(t, 0, 0)[mode]
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			token, err = s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
			require.NoError(t, s.RecordSuccess(token))
			require.Zero(t, s.Snapshot().Scopes[0].Quota, "what was not taken is not given back")
		})
	}
}

func TestAttemptThatWaitedForQuotaPastTheEndIsNotMade(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.QuotaInitial, c.QuotaRefill, c.MaxQuotaWait = new(0), 1, time.Hour
	})
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{MaxElapsed: 20 * time.Second})
	require.NoError(t, err)
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	waited := make(chan error)
	go func() { waited <- token.WithoutDelay().Wait(t.Context()) }()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))
	clk.Advance(time.Minute) // the tokens come after 14 s, and the operation hears of them too late
	require.ErrorIs(t, <-waited, retry.ErrMaxElapsed)
	require.NoError(t, s.RecordFailure(token, errServer))
	require.Equal(t, 60, s.Snapshot().Scopes[0].Quota, "it took nothing")
}
