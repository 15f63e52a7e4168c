package fleet_test

import (
	"context"
	"testing"
	"testing/synctest"
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

func TestSecondAttemptInLineAsksARoundTripBeforeTheLastSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := time.Millisecond
		began := now()
		var calls []time.Duration
		store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
			calls = append(calls, now().Sub(began))
			return fleet.Reply{Epoch: 2, Rate: 10, Slots: 1, Start: 400 * ms, State: "-"}, clock.System{}.Sleep(ctx, 50*ms)
		}}
		l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, nil)
		go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
		pass(t, 100*ms)
		go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
		pass(t, 10*time.Second)
		require.Len(t, calls, 2)
		require.InDelta(t, 385*ms, calls[1], float64(ms), "the slot is due at 450 ms")
	})
}
