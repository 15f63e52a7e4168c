package fleet_test

import (
	"context"
	"errors"
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

func TestThrottleAtTheInstantOfAnAttemptIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := answers(fleet.Reply{})
		l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, nil)
		send(t, l, false)
		sent, err := l.Acquire(context.Background(), ratelimit.Request{})
		require.NoError(t, err)
		l.Report(ratelimit.Response{Sent: sent, Throttled: true})
		synctest.Wait()
		require.Len(t, store.Asks(), 2)
	})
}

func TestCallThatReturnsAfterItsTimeoutDoesNotDelayTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := now()
		var calls []time.Duration
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			calls = append(calls, now().Sub(began))
			if len(calls) == 1 {
				return fleet.Reply{Epoch: 2, Rate: 1, Slots: 1, State: "-"}, nil
			}
			time.Sleep(300 * time.Millisecond) //nolint:forbidigo // it heeds no context
			return fleet.Reply{}, errors.New("late")
		}}
		l := newFleet(t, fleet.Config{Store: store, Random: func() float64 { return 0.5 }}).NewLimiter(orders, nil)
		for range 2 {
			go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
		}
		pass(t, time.Second)
		require.Len(t, calls, 3)
		require.Equal(t, 750*time.Millisecond, calls[2]-calls[1], "half a second after the timeout")
		pass(t, time.Minute)
	})
}
