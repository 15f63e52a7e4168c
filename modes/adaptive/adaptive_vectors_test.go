package adaptive_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestOperationsFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "adaptive.json") {
		for _, c := range file.Operations {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { operate(t, c) })
			})
		}
	}
}

// timeline is what an operation did, in seconds since the start of the case.
type timeline struct{ sentAt, sendWait []float64 }

func operate(t *testing.T, c vectors.Operations) {
	t.Helper()
	zero := time.Now()
	play.Sleep(t, vectors.Seconds(c.Start))
	var delay time.Duration // of the retry that was granted last
	config := standard.Config{
		Behavior:      retry.Behavior(c.Behavior),
		Service:       c.Given.Service,
		MaxAttempts:   c.Given.Attempts(),
		QuotaCapacity: c.Given.Capacity(),
		QuotaInitial:  c.Given.InitialQuota,
		MaxBackoff:    vectors.Seconds(c.Given.MaxBackoff),
		Random:        func() float64 { return c.Given.Jitter },
		Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.RetryScheduled {
				delay = e.Delay
			}
		}),
	}
	s, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	for i, op := range c.Operations {
		play.Sleep(t, vectors.Seconds(op.Start)-time.Since(zero))
		line, n := timeline{}, 0
		before := time.Now()
		delay = 0
		_, err := retry.Do(t.Context(), s, retry.Operation{LongPolling: c.Given.LongPolling}, func(ctx context.Context) (struct{}, error) {
			line.sentAt = append(line.sentAt, time.Since(zero).Seconds())
			line.sendWait = append(line.sendWait, (time.Since(before) - delay).Seconds())
			play.Sleep(t, vectors.Seconds(op.Latency))
			before = time.Now()
			n++
			return struct{}{}, op.Responses[n-1].Err()
		})
		require.Equal(t, op.Want.Outcome, outcomeOf(err, op.Responses[n-1]), "operation %d", i)
		requireNear(t, c, i, "sent at", op.Want.SentAt, line.sentAt...)
		requireNear(t, c, i, "send wait", op.Want.SendWait, line.sendWait...)
		requireNear(t, c, i, "end", []float64{op.Want.End}, time.Since(zero).Seconds())
		state := s.Snapshot().Scopes[0]
		require.Equal(t, op.Want.QuotaAfter, state.Quota, "operation %d", i)
		requireNear(t, c, i, "rates", []float64{op.Want.MeasuredRate, op.Want.FillRate}, state.MeasuredRate, state.FillRate)
	}
}

func requireNear(t *testing.T, c vectors.Operations, i int, what string, want []float64, got ...float64) {
	t.Helper()
	require.Len(t, got, len(want), "%s of operation %d", what, i)
	for n := range want {
		require.True(t, c.Near(want[n], got[n]), "%s of operation %d: %v, not %v", what, i, got, want)
	}
}

func outcomeOf(err error, last vectors.Response) string {
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, retry.ErrAttemptsExhausted):
		return "max_attempts_exceeded"
	case errors.Is(err, retry.ErrQuotaExhausted):
		return "quota_exceeded"
	case err.Error() == last.Err().Error():
		return "not_retryable"
	default:
		return err.Error()
	}
}
