package fleet_test

import (
	"context"
	"runtime"
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

func TestReportBeforeTheFirstAcquireTellsTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := answers(fleet.Reply{})
		l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, nil)
		l.Report(ratelimit.Response{Throttled: true})
		synctest.Wait()
		require.Len(t, store.Asks(), 1)
		send(t, l, false)
	})
}

func TestStoreThatEndsItsGoroutineIsCalledAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var memory fleet.Memory
		store := &replies{call: func(ctx context.Context, n int, ask fleet.Ask) (fleet.Reply, error) {
			if n == 5 {
				runtime.Goexit()
			}
			return memory.Call(ctx, "", ask)
		}}
		f := newFleet(t, fleet.Config{Store: store, Limit: limitOf(20)})
		l := f.NewLimiter(orders, nil)
		for range 100 {
			send(t, l, false)
		}
		require.Greater(t, len(store.Asks()), 10)
		require.Equal(t, "fleet", source(l))
		require.Equal(t, uint64(1), f.Snapshot()[0].Failures)
	})
}

func TestThrottleDuringALookUpIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{}, clock.System{}.Sleep(ctx, 50*time.Millisecond)
		}}
		l := newFleet(t, fleet.Config{Store: store, JoinWait: -1}).NewLimiter(orders, nil)
		send(t, l, true) // answered while the look-up is out
		pass(t, time.Second)
		asks := store.Asks()
		require.Len(t, asks, 2)
		require.Zero(t, asks[0].Bad)
		require.Positive(t, asks[1].Bad)
	})
}
