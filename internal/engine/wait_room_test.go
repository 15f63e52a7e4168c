package engine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// busy plays a test after twenty attempts of 100 ms, with a send rate of one a second.
func busy(t *testing.T, play func(t *testing.T, s retry.Strategy)) {
	t.Helper()
	inBubble(t, adaptive.Config{SendLimit: limit(1)}, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		for range 20 {
			require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{}, taking100ms()))
		}
		play(t, s)
	})
}

func limit(rate ratelimit.Rate) func(retry.ScopeKey) adaptive.SendLimit {
	return func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: rate, Ceiling: rate} }
}

// taking100ms returns attempts that fail with each of the errors in turn, and then succeed.
func taking100ms(errs ...error) func(ctx context.Context) error {
	answer := play.Answers(errs...)
	return func(ctx context.Context) error {
		if err := (clock.System{}).Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		_, err := answer(ctx)
		return err
	}
}

func TestSendTokenIsNotSpentOnAnAttemptThatTheDeadlineCuts(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		after, deadline time.Duration // since the end of the attempt before
		want            error
		took            time.Duration
	}{
		"there is time for the attempt":                {0, 1100 * ms, nil, 1000 * ms},
		"the attempt would be cut":                     {0, 950 * ms, retry.ErrDeadline, 0},
		"the wait would be cut":                        {0, 800 * ms, retry.ErrDeadline, 0},
		"the token is there, and there is little time": {2000 * ms, 50 * ms, context.DeadlineExceeded, 50 * ms},
	} {
		busy(t, func(t *testing.T, s retry.Strategy) {
			t.Helper()
			play.Sleep(t, c.after)
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
			defer cancel()
			require.ErrorIs(t, retry.DoErr(ctx, s, retry.Operation{}, taking100ms()), c.want, name)
			require.InDelta(t, c.took, time.Since(began), float64(time.Microsecond), name)
		})
	}
}

// The time that an attempt needs is for the deadline. MaxElapsed is the end of beginnings.
func TestRetryThatBeginsBeforeMaxElapsedIsMade(t *testing.T) {
	t.Parallel()
	busy(t, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		play.Sleep(t, 2*time.Second)
		began := time.Now()
		err := retry.DoErr(t.Context(), s, retry.Operation{MaxElapsed: 1010 * time.Millisecond}, taking100ms(errServer))
		require.NoError(t, err)
		require.InDelta(t, 1100*time.Millisecond, time.Since(began), float64(time.Microsecond))
	})
}

// Attempts of 20 s beside attempts of 20 ms: the long ones do not make the short ones fail, which need
// less than half of their time for the wait.
func TestLongAttemptsLeaveRoomForShortOnes(t *testing.T) {
	t.Parallel()
	inBubble(t, adaptive.Config{SendLimit: limit(10)}, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		call := func(ctx context.Context, took time.Duration) error {
			return retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
				return clock.System{}.Sleep(ctx, took)
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			for ctx.Err() == nil {
				_ = call(ctx, 20*time.Second)
			}
		})
		var failed atomic.Int64
		for range 50 {
			for range 20 {
				group.Go(func() {
					ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
					defer cancel()
					if call(ctx, 20*time.Millisecond) != nil {
						failed.Add(1)
					}
				})
			}
			play.Sleep(t, 6*time.Second)
		}
		cancel()
		group.Wait()
		require.Zero(t, failed.Load())
	})
}
