package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// settable is a clock that can go backwards, as a wall clock does that is set.
type settable struct {
	*clock.Fake
	ahead time.Duration
}

func (c *settable) Now() time.Time { return c.Fake.Now().Add(c.ahead) }

func TestClockThatGoesBackwardsMakesNoTimeNegative(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r, clk := &recorder{}, &settable{Fake: &clock.Fake{}}
			s := modes(t, clk, func(config *standard.Config) { config.Observer = r })[mode]
			token := sent(t, s, table("orders"))
			clk.ahead -= time.Hour
			require.NoError(t, s.RecordSuccess(token))
			ended := r.of(retry.OperationEnded)[0]
			require.Zero(t, ended.Elapsed)
			require.Zero(t, ended.BackoffWait)

			r.events = nil
			token = sent(t, s, table("orders"))
			clk.ahead += second
			token, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
			clk.ahead -= time.Hour
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			clk.ahead -= second
			require.NoError(t, s.RecordSuccess(token))
			ended = r.of(retry.OperationEnded)[0]
			require.Equal(t, second, ended.Elapsed)
			require.Zero(t, ended.BackoffWait)
			require.Equal(t, []time.Duration{second, 0}, []time.Duration{r.of(retry.AttemptEnded)[0].Elapsed, r.of(retry.AttemptEnded)[1].Elapsed})
		})
	}
}

// A strategy accepts a token that was not waited for, or whose Wait has failed.
func TestAttemptWithoutAWaitBeginsWhenTheStrategyWasCalledLast(t *testing.T) {
	t.Parallel()
	const second = time.Second
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
		t.Helper()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		token := sent(t, s, table("orders"))
		clk.Advance(second)
		token, err := s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		clk.Advance(2 * second)
		token, err = s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		clk.Advance(3 * second)
		require.ErrorIs(t, token.Wait(gone), retry.ErrCanceled)
		clk.Advance(4 * second)
		require.NoError(t, s.RecordSuccess(token))
		var took []time.Duration
		for _, e := range r.of(retry.AttemptEnded) {
			took = append(took, e.Elapsed)
		}
		require.Equal(t, []time.Duration{second, 2 * second, 4 * second}, took)
		ended := r.of(retry.OperationEnded)[0]
		require.Equal(t, 3*second, ended.BackoffWait)
		require.Equal(t, 10*second, ended.Elapsed)
	})
}

// The delay counts from when the token was issued, also in a second Wait.
func TestDelayAfterAWaitThatIsMadeAgainEndsAtTheSameTime(t *testing.T) {
	t.Parallel()
	const second = time.Second
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
		t.Helper()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		token, err := s.RefreshRetryToken(t.Context(), sent(t, s, table("orders")), errServer)
		require.NoError(t, err)
		require.Equal(t, second, token.Delay())
		clk.Advance(second / 2)
		require.ErrorIs(t, token.WithDelayAfter().Wait(gone), retry.ErrCanceled)
		require.NoError(t, token.WithDelayAfter().Wait(t.Context()))
		clk.Advance(second / 2)
		clk.Advance(3 * second)
		require.NoError(t, s.RecordSuccess(token))
		require.Equal(t, second, r.of(retry.OperationEnded)[0].BackoffWait)
		require.Equal(t, 3*second, r.of(retry.AttemptEnded)[1].Elapsed)
	})
}

// A loop that sleeps by itself does not call Wait if its context ends meanwhile.
func TestBackoffThatTheLoopDoesNotSleepToItsEndCounts(t *testing.T) {
	t.Parallel()
	const second = time.Second
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
		t.Helper()
		token := sent(t, s, table("orders"))
		clk.Advance(3 * second)
		token, err := s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		clk.Advance(second / 4)
		require.NoError(t, s.RecordFailure(token, context.Canceled))
		ended := r.of(retry.OperationEnded)[0]
		require.Equal(t, second/4, ended.BackoffWait)
		require.Equal(t, 3*second+second/4, ended.Elapsed)
	})
}
