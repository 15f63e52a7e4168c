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
	"github.com/awsretry/awsretry/retry"
)

// The service takes 100 ms for an attempt, and the send rate is one a second.
func TestSendTokenIsNotSpentOnAnAttemptThatTheDeadlineCuts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, deadline time.Duration // since the end of the attempt before, and since its token
		want            error
	}{
		"there is time for the attempt":                {0, 1200 * time.Millisecond, nil},
		"the attempt would be cut":                     {0, 1050 * time.Millisecond, retry.ErrDeadline},
		"the wait would be cut":                        {0, 900 * time.Millisecond, retry.ErrDeadline},
		"the token is there, and there is little time": {2 * time.Second, 150 * time.Millisecond, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, oneASecond(), func(t *testing.T, s retry.Strategy) {
				t.Helper()
				attempts := 0
				call := func(ctx context.Context) error {
					return retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
						attempts++
						return taking100ms()(ctx)
					})
				}
				for range 20 {
					require.NoError(t, call(t.Context()))
				}
				play.Sleep(t, c.after)
				made, began := attempts, time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline-100*time.Millisecond)
				defer cancel()

				err := call(ctx)

				if c.want == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, c.want)
				if c.want == retry.ErrDeadline { //nolint:errorlint // the same value
					require.Equal(t, made, attempts)
					require.Equal(t, began, time.Now(), "it is refused at once")
				} else {
					require.Equal(t, made+1, attempts)
				}
			})
		})
	}
}

// The time that an attempt needs is for the deadline. MaxElapsed is the end of beginnings.
func TestRetryThatBeginsBeforeMaxElapsedIsMade(t *testing.T) {
	t.Parallel()
	inBubble(t, oneASecond(), func(t *testing.T, s retry.Strategy) {
		t.Helper()
		for range 20 {
			require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{}, taking100ms()))
		}
		play.Sleep(t, 2*time.Second)
		began := time.Now()
		err := retry.DoErr(t.Context(), s, retry.Operation{MaxElapsed: 1010 * time.Millisecond}, taking100ms(errServer))
		require.NoError(t, err)
		require.InDelta(t, 1100*time.Millisecond, time.Since(began), float64(time.Microsecond))
	})
}

// oneASecond makes the send rate one attempt a second.
func oneASecond() adaptive.Config {
	return adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 1, Ceiling: 1} }}
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

// Attempts of 20 s beside attempts of 20 ms: the long ones do not make the short ones fail, which need
// less than half of their time for the wait.
func TestLongAttemptsLeaveRoomForShortOnes(t *testing.T) {
	t.Parallel()
	inBubble(t, adaptive.Config{
		SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 10, Ceiling: 10} },
	}, func(t *testing.T, s retry.Strategy) {
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
