package fleet_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
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

func TestRandomIsCalledWithoutALock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f *fleet.Fleet
		f = newFleet(t, fleet.Config{Store: stuck{}, Random: func() float64 {
			return float64(len(f.Snapshot())) / 2
		}})
		send(t, f.NewLimiter(orders, nil), false)
	})
}

// broken is an error that cannot be compared.
type broken struct{ err *error }

func (*broken) Error() string     { return "broken" }
func (b *broken) Is(e error) bool { return errors.Is(*b.err, e) }

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

func TestExpectedWaitForgetsTheRateOfAMemberThatWasAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Bool
		store := &replies{call: func(_ context.Context, n int, ask fleet.Ask) (fleet.Reply, error) {
			switch {
			case n == 1:
				return fleet.Reply{Epoch: 2, Rate: 100, Slots: 1, State: "-"}, nil
			case !back.Load():
				return fleet.Reply{}, errors.New("gone")
			}
			return fleet.Reply{Epoch: 2, Rate: 100, Slots: int(min(ask.Want, 5)), Gap: 10 * time.Millisecond, State: "-"}, nil
		}}
		f := newFleet(t, fleet.Config{Store: store})
		l := f.NewLimiter(orders, nil)
		var refused atomic.Int64
		for range 50 {
			go func() {
				ctx, cancel := clock.WithTimeout(context.Background(), clock.System{}, time.Hour)
				defer cancel()
				if _, err := l.Acquire(ctx, ratelimit.Request{}); err != nil {
					refused.Add(1)
				}
			}()
		}
		pass(t, 20*time.Second)
		require.Equal(t, "fleet-lost", source(l))
		back.Store(true)
		for source(l) != "fleet" {
			pass(t, time.Millisecond)
		}
		synctest.Wait()
		require.Less(t, l.Expected(1), 5*time.Second)
		pass(t, time.Minute)
		require.Zero(t, refused.Load())
	})
}

func TestCeilingBelowTheLeastRateHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: func(retry.ScopeKey) adaptive.SendLimit {
			return adaptive.SendLimit{Ceiling: 0.001}
		}})
		l := f.NewLimiter(orders, nil)
		began := now()
		for range 5 {
			send(t, l, false)
		}
		require.Greater(t, now().Sub(began), time.Minute)
	})
}

func TestSecondAttemptInLineAsksARoundTripBeforeTheLastSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := time.Millisecond
		began := now()
		calls := make(chan time.Duration, 1000)
		store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
			calls <- now().Sub(began)
			return fleet.Reply{Epoch: 2, Rate: 10, Slots: 1, Start: 400 * ms, State: "-"}, clock.System{}.Sleep(ctx, 50*ms)
		}}
		l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, nil)
		go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
		pass(t, 100*ms)
		go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
		pass(t, 10*time.Second)
		require.Len(t, calls, 2)
		<-calls
		require.InDelta(t, 385*ms, <-calls, float64(ms), "the slot is due at 450 ms")
	})
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
	without := waits(sendrate.NewLimiter(sendrate.Config{}, one), one)
	f := newFleet(t, fleet.Config{Store: answers(fleet.Reply{}), Clock: two})
	require.InDelta(t, without, waits(f.NewLimiter(orders, nil), two), float64(time.Millisecond))
}

func TestAttemptThatTakesSlotsOfTwoRunsWaitsForTheLaterOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := time.Millisecond
		store := answers(
			fleet.Reply{Epoch: 2, Rate: 10, Slots: 1, State: "-"},
			fleet.Reply{Epoch: 2, Rate: 10, Slots: 1, Start: 400 * ms, State: "-"},
			fleet.Reply{Epoch: 2, Rate: 10, Slots: 1, State: "-"},
			fleet.Reply{Epoch: 2, Rate: 10, Again: time.Minute, State: "-"},
		)
		l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, nil)
		send(t, l, false)
		began := now()
		sent, err := l.Acquire(context.Background(), ratelimit.Request{Cost: 2})
		require.NoError(t, err)
		require.Equal(t, 400*ms, sent.Sub(began))
	})
}
