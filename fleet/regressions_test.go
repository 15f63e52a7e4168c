package fleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/ratelimit"
)

// answers is a store with the given replies, the last of which repeats.
func answers(all ...fleet.Reply) *replies {
	return &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
		return all[min(n, len(all))-1], nil
	}}
}

func TestMemberWantsNoMoreWhenTheClockIsOld(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Unix(-1e9, 0))
	store := &replies{call: func(_ context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
		return fleet.Reply{Epoch: 2, Rate: 20, Slots: 1, Start: 50 * time.Millisecond, State: "-"}, nil
	}}
	f := newFleet(t, fleet.Config{Store: store, Clock: clk})
	l := f.NewLimiter(orders, nil)
	clk.Run(func() {
		for range 200 {
			_, err := l.Acquire(context.Background(), ratelimit.Request{})
			require.NoError(t, err)
		}
	})
	asks := store.Asks()
	require.LessOrEqual(t, asks[len(asks)-1].Want, 22.0, "20 in the last second")
}
