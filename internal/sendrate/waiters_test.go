package sendrate_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestLimiterServesWaitersAsTheVectorsSay(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "adaptive.json") {
		for _, c := range file.Waiters {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { serve(t, c) })
			})
		}
	}
}

func serve(t *testing.T, c vectors.Waiters) {
	t.Helper()
	start := time.Now()
	sleepUntil(t, start.Add(vectors.Seconds(c.Start)))
	limiter := sendrate.NewLimiter(sendrate.Config{}, clock.System{})
	var mu sync.Mutex
	granted, order := map[string]time.Duration{}, []string{}
	cancels := map[string]context.CancelFunc{}
	for _, e := range c.Events {
		sleepUntil(t, start.Add(vectors.Seconds(e.T)))
		switch e.Op {
		case "update":
			for range max(e.Repeat, 1) {
				limiter.Report(ratelimit.Response{Throttled: e.Throttled})
			}
		case "arrive":
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cancels[e.ID] = cancel
			go func() {
				sent, err := limiter.Acquire(ctx, ratelimit.Request{Cost: e.Cost})
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					granted[e.ID] = sent.Sub(start)
					order = append(order, e.ID)
				}
			}()
		case "cancel":
			cancels[e.ID]()
		default:
			t.Fatalf("unknown op %q", e.Op)
		}
		synctest.Wait()
	}
	sleepUntil(t, time.Now().Add(time.Hour))
	for id, want := range c.GrantAt {
		at, ok := granted[id]
		require.Equal(t, want != nil, ok, "%s granted", id)
		if want != nil {
			require.InDelta(t, *want, at.Seconds(), c.Within(), "%s", id)
		}
	}
	require.Equal(t, c.Order, order)
}

func sleepUntil(t *testing.T, instant time.Time) {
	t.Helper()
	require.NoError(t, clock.System{}.Sleep(t.Context(), time.Until(instant)))
	synctest.Wait()
}
