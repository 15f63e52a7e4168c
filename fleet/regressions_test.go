package fleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

// answers is a store with the given replies, the last of which repeats.
func answers(all ...fleet.Reply) *replies {
	return &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
		return all[min(n, len(all))-1], nil
	}}
}

func TestAnswersLetWaitingAttemptsGoSoonerInAnOpenScope(t *testing.T) {
	t.Parallel()
	waits := func(l adaptive.Limiter, clk *clock.Fake) (waited time.Duration) {
		clk.Run(func() {
			first, err := l.Acquire(context.Background(), ratelimit.Request{})
			require.NoError(t, err)
			clk.Advance(time.Second)
			l.Report(ratelimit.Response{Sent: first, Throttled: true})
			for range 3 {
				clk.AfterFunc(500*time.Millisecond, func() {
					for range 50 {
						l.Report(ratelimit.Response{Sent: clk.Now()})
					}
				})
			}
			began := clk.Now()
			sent, err := l.Acquire(context.Background(), ratelimit.Request{Cost: 5})
			require.NoError(t, err)
			waited = sent.Sub(began)
		})
		return waited
	}
	one, two := clock.NewFake(time.Unix(1e9, 0)), clock.NewFake(time.Unix(1e9, 0))
	without := waits(ratelimit.NewLimiter(ratelimit.SendRateConfig{}, one), one)
	f := newFleet(t, fleet.Config{Store: answers(fleet.Reply{}), Clock: two})
	require.InDelta(t, without, waits(f.NewLimiter(orders, nil), two), float64(time.Millisecond))
}
