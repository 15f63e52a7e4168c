package adaptive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestOperationsFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "adaptive.json") {
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
	config := play.Config(c.Behavior, c.Given)
	config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.RetryScheduled {
			delay = e.Delay
		}
	})
	s, err := adaptive.New(adaptive.Config{Standard: config, Controller: ratelimit.CutPerThrottle})
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
		require.Equal(t, op.Want.Outcome, play.Outcome(err), "operation %d", i)
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
