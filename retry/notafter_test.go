package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// oversleeper is a clock whose sleeps last longer than they were asked to.
type oversleeper struct {
	*clock.Fake
	by time.Duration
}

func (o oversleeper) Sleep(_ context.Context, d time.Duration) error {
	o.Advance(d + o.by)
	return nil
}

// forBoth runs a test for each mode.
func forBoth(t *testing.T, clk clock.Clock, test func(t *testing.T, s retry.Strategy)) {
	t.Helper()
	for mode, s := range modes(t, clk, nil) {
		t.Run(mode, func(t *testing.T) { test(t, s) })
	}
}

func TestFirstAttemptDoesNotBeginAfterTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	for name, limited := range map[string]func(c *standard.Config, now time.Time) retry.Operation{
		"instant": func(_ *standard.Config, now time.Time) retry.Operation {
			return retry.Operation{NotAfter: now.Add(time.Second)}
		},
		"duration": func(*standard.Config, time.Time) retry.Operation { return retry.Operation{MaxElapsed: time.Second} },
		"strategy": func(c *standard.Config, _ time.Time) retry.Operation {
			c.MaxElapsed = time.Second
			return retry.Operation{}
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				var op retry.Operation
				s := modes(t, clk, func(c *standard.Config) { op = limited(c, clk.Now()) })[mode]
				early, err := s.AcquireInitialToken(t.Context(), op)
				require.NoError(t, err)
				late, err := s.AcquireInitialToken(t.Context(), op)
				require.NoError(t, err)

				clk.Advance(time.Second)
				require.NoError(t, early.Wait(t.Context()), "exactly at the end")
				require.NoError(t, s.RecordSuccess(early))

				clk.Advance(1)
				for range 2 {
					err = late.Wait(t.Context())
					require.ErrorIs(t, err, retry.ErrMaxElapsed)
					require.EqualError(t, err, "retry: client-side: maximum elapsed time reached (0 attempts)")
				}
				require.NoError(t, s.RecordFailure(late, err))
				require.Equal(t, 500, s.(snapshotter).Snapshot().Scopes[0].Quota)

				next, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
				require.NoError(t, err)
				require.NoError(t, next.Wait(t.Context()), "the end was that of another operation")
				require.NoError(t, s.RecordSuccess(next))
			})
		}
	}
}

func TestDoCallsNothingAfterTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	forBoth(t, clk, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		for _, strategy := range []retry.Strategy{s, tokenless{s}} {
			op := retry.Operation{NotAfter: clk.Now().Add(-1)}
			n, err := retry.Do(t.Context(), strategy, op, func(context.Context) (int, error) {
				require.Fail(t, "called")
				return 1, nil
			})
			require.Zero(t, n)
			refusal, ok := errors.AsType[*retry.Error](err)
			require.True(t, ok)
			require.Equal(t, retry.ErrMaxElapsed, refusal.Reason)
			require.Zero(t, refusal.Attempts)

			op.NotAfter = clk.Now()
			n, err = retry.Do(t.Context(), strategy, op, func(context.Context) (int, error) { return 1, nil })
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
	})
}

// tokenless is a strategy that has no tokens, and a clock.
type tokenless struct{ retry.Strategy }

func (tokenless) AcquireInitialToken(context.Context, retry.Operation) (retry.Token, error) {
	return retry.Token{}, errors.New("no tokens")
}

func TestTokenThatWaitedPastTheEndOfTheOperationIsRefused(t *testing.T) {
	t.Parallel()
	clk := oversleeper{&clock.Fake{}, time.Second}
	forBoth(t, clk, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		token, err := s.AcquireInitialToken(t.Context(), retry.Operation{MaxElapsed: 2*time.Second - 1})
		require.NoError(t, err)
		require.NoError(t, token.Wait(t.Context()))
		token, err = s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		err = token.Wait(t.Context()) // a second, which takes two
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.ErrorIs(t, err, errServer)
		require.EqualError(t, err, "retry: client-side: maximum elapsed time reached: last error: "+errServer.Error()+" (1 attempt)")
		require.NoError(t, s.RecordFailure(token, err))
		require.Equal(t, 500, s.(snapshotter).Snapshot().Scopes[0].Quota, "its cost was given back")
	})
}
