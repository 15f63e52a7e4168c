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

func TestStoreThatFailsReachesNoCall(t *testing.T) {
	t.Parallel()
	boom := errors.New("connection refused")
	for name, call := range map[string]func(ctx context.Context) (fleet.Reply, error){
		"an error":                func(context.Context) (fleet.Reply, error) { return fleet.Reply{}, boom },
		"a panic":                 func(context.Context) (fleet.Reply, error) { panic("store") },
		"no reply until ctx ends": func(ctx context.Context) (fleet.Reply, error) { <-ctx.Done(); return fleet.Reply{}, ctx.Err() },
		"no reply for ten seconds, whatever ctx says": func(context.Context) (fleet.Reply, error) {
			return fleet.Reply{}, clock.System{}.Sleep(context.Background(), 10*time.Second)
		},
		"nonsense": func(context.Context) (fleet.Reply, error) {
			return fleet.Reply{Epoch: 1, Rate: -1, Slots: -1, Gap: -1, State: "x"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var seen journal
				var memory fleet.Memory
				away := false
				store := &replies{call: func(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
					if away {
						return call(ctx)
					}
					return memory.Call(ctx, "", ask)
				}}
				f := newFleet(t, fleet.Config{
					Store: store, Limit: limitOf(20), Observer: seen.Observe, Random: func() float64 { return 0.5 },
				})
				l := f.NewLimiter(orders, clock.System{})
				for range 200 {
					send(t, l, false)
				}
				require.Equal(t, "limited", seen.Kinds())
				synctest.Wait()
				away = true
				before := len(store.Asks())
				began := now()
				for range 200 {
					require.LessOrEqual(t, send(t, l, false), 250*time.Millisecond+50*time.Millisecond+50*time.Millisecond)
				}
				took := now().Sub(began)
				require.InDelta(t, 10*time.Second, took, float64(time.Second), "it holds its rate")
				require.Equal(t, "limited lost", seen.Kinds())
				require.Equal(t, "fleet-lost", source(l))
				got := f.Snapshot()[0]
				require.Equal(t, fleet.Alone, got.State)
				require.Error(t, got.LastError)
				require.InDelta(t, 20, float64(got.OwnRate), 1)
				calls := len(store.Asks()) - before
				require.LessOrEqual(t, calls, 8, "0.5, 1, 2, 2 seconds apart")
				require.Equal(t, uint64(calls), got.Failures) //nolint:gosec // small

				synctest.Wait()
				away = false
				for range 260 {
					send(t, l, false)
				}
				require.Equal(t, "limited lost back", seen.Kinds())
				require.Equal(t, "fleet", source(l))
				pass(t, 10*time.Second) // calls that take so long
			})
		})
	}
}

func TestErrorOfTheStoreThatPanicsReachesNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var none *broken
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) { return fleet.Reply{}, none }}
		f := newFleet(t, fleet.Config{Store: store})
		send(t, f.NewLimiter(orders, nil), false)
		require.Equal(t, uint64(1), f.Snapshot()[0].Failures)
	})
}

// broken is an error that cannot be compared.
type broken struct{ err *error }

func (*broken) Error() string { return "broken" }

func (b *broken) Is(e error) bool { return errors.Is(*b.err, e) }

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

func TestCallThatReturnsAfterItsTimeoutDoesNotDelayTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := now()
		calls := make(chan time.Duration, 1000)
		store := &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
			calls <- now().Sub(began)
			if n == 1 {
				return fleet.Reply{Epoch: 2, Rate: 1, Slots: 1, State: "-"}, nil
			}
			// It heeds no end of its context.
			return fleet.Reply{}, errors.Join(clock.System{}.Sleep(context.Background(), 300*time.Millisecond), errors.New("late"))
		}}
		l := newFleet(t, fleet.Config{Store: store, Random: func() float64 { return 0.5 }}).NewLimiter(orders, nil)
		for range 2 {
			go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
		}
		pass(t, time.Second)
		require.Len(t, calls, 3)
		<-calls
		require.Equal(t, 750*time.Millisecond, -<-calls+<-calls, "half a second after the timeout")
		pass(t, time.Minute)
	})
}

func TestRepliesWithoutSlotsAndAppointmentAreNoLoop(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fleet.Reply{
		"of a store that learns": {Epoch: 5},
		"with a rate":            {Epoch: 5, Rate: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
					if n > 1000 {
						return fleet.Reply{}, errors.New("enough")
					}
					return reply, nil
				}}
				l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, nil)
				ctx, cancel := clock.WithTimeout(context.Background(), clock.System{}, 10*time.Second)
				defer cancel()
				for range 3 {
					go func() { _, _ = l.Acquire(ctx, ratelimit.Request{}) }()
				}
				pass(t, 10*time.Second)
				require.LessOrEqual(t, len(store.Asks()), 102)
			})
		})
	}
}

func TestAttemptThatCostsTooMuchForAnyStoreIsNoLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var memory fleet.Memory
		store := &replies{call: func(ctx context.Context, n int, ask fleet.Ask) (fleet.Reply, error) {
			if n > 1000 {
				return fleet.Reply{}, errors.New("enough")
			}
			return memory.Call(ctx, "", ask)
		}}
		l := newFleet(t, fleet.Config{Store: store, Limit: limitOf(10)}).NewLimiter(orders, nil)
		send(t, l, false)
		_, err := l.Acquire(context.Background(), ratelimit.Request{Cost: 1e10, MaxWait: time.Second})
		require.Error(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		go func() { _, _ = l.Acquire(ctx, ratelimit.Request{Cost: 1e10}) }()
		pass(t, 10*time.Second)
		cancel()
		require.Less(t, len(store.Asks()), 150)
	})
}
