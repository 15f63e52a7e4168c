package adaptive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// twice is a limiter that waits for another one first, such as one that several processes share.
type twice struct {
	adaptive.Limiter
	clk clock.Clock
}

func (l twice) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	r.OnWait(ratelimit.Wait{Expected: time.Second})
	if err := l.clk.Sleep(ctx, time.Second); err != nil {
		return time.Time{}, err
	}
	return l.Limiter.Acquire(ctx, r)
}

func TestTwoWaitsOfALimiterAreOneSendWait(t *testing.T) {
	t.Parallel()
	var events []retry.Event
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) })
		c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return twice{sendrate.NewLimiter(sendrate.Config{Ceiling: 0.5}, clk), clk}
		}
	})
	for range 3 {
		events = nil
		require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
	}
	kinds, waited, ended := []retry.EventKind{}, time.Duration(0), events[len(events)-1]
	for _, e := range events {
		kinds = append(kinds, e.Kind)
		if e.Kind == retry.SendWaitEnded {
			waited += e.Delay
		}
	}
	require.Equal(t, []retry.EventKind{retry.SendWaitBegan, retry.SendWaitBegan, retry.SendWaitEnded}, kinds[:3])
	require.Equal(t, 2*time.Second, waited)
	require.Equal(t, 2*time.Second, ended.SendWait)
	require.Equal(t, 2*time.Second, ended.Elapsed)
}
