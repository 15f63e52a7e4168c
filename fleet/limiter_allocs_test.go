//go:build !race

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

func TestAcquireWithSlotsInHandAllocatesNothing(t *testing.T) {
	clk := clock.NewFake(time.Unix(0, 0))
	var l adaptive.Limiter
	clk.Run(func() { l = withSlots(t, clk) })
	source := l.State()
	require.Equal(t, "fleet", source.SendRateSource)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		sent, err := l.Acquire(context.Background(), ratelimit.Request{})
		if err != nil {
			t.Fatal(err)
		}
		l.Report(ratelimit.Response{Sent: sent})
	}))
}

// withSlots returns a member with more slots in hand than a test can use.
func withSlots(tb testing.TB, clk clock.Clock) adaptive.Limiter {
	tb.Helper()
	store := answers(fleet.Reply{Epoch: 2, Rate: 1e9, Slots: 1e9, State: "-"})
	l := newFleet(tb, fleet.Config{Store: store}).NewLimiter(orders, clk)
	_, err := l.Acquire(context.Background(), ratelimit.Request{})
	require.NoError(tb, err)
	return l
}
