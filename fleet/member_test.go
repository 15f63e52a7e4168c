package fleet_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestMemberLearnsThatTheScopeIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen journal
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Observer: seen.Observe})
		l := f.NewLimiter(orders, clock.System{})
		for range 10 {
			require.Zero(t, send(t, l, false))
		}
		require.Equal(t, "local", source(l))
		require.Equal(t, fleet.Open, f.Snapshot()[0].State)
		require.Empty(t, seen.Kinds())
		send(t, l, true)
		synctest.Wait()
		require.Equal(t, fleet.Learning, f.Snapshot()[0].State)
		require.Equal(t, "limited", seen.Kinds())
		for i := range 400 {
			send(t, l, i%20 == 0 && f.Snapshot()[0].State == fleet.Learning)
		}
		got := f.Snapshot()[0]
		require.Equal(t, fleet.Slots, got.State)
		require.Equal(t, "fleet", source(l))
		require.Equal(t, uint64(2), got.Epoch)
		require.Positive(t, got.FleetRate)
		require.Equal(t, orders, got.Key)
		require.Equal(t, orders.String(), got.Scope)
		require.Equal(t, "limited", seen.Kinds())
	})
}

func TestMemberLooksLessAndLessOftenWhileTheScopeIsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) { return fleet.Reply{}, nil }}
		f := newFleet(t, fleet.Config{Store: store})
		l := f.NewLimiter(orders, clock.System{})
		pass(t, time.Minute)
		require.Empty(t, store.Asks(), "nothing before its first use")
		var looks []int
		for i := range 60 * 10 {
			before := len(store.Asks())
			send(t, l, false)
			pass(t, 90*time.Millisecond)
			if len(store.Asks()) > before {
				looks = append(looks, i/10)
			}
		}
		require.Equal(t, []int{0, 1, 3, 7, 15, 25, 35, 45, 55}, looks, "seconds of use")
		pass(t, time.Hour)
		require.Len(t, store.Asks(), len(looks), "an idle scope costs no call")
	})
}

func TestScopeIsOpenAgainAfterTenMinutesWithoutThrottle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen journal
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Observer: seen.Observe})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, true)
		end := now().Add(11 * time.Minute)
		for now().Before(end) {
			send(t, l, false)
			pass(t, 200*time.Millisecond)
		}
		require.Equal(t, "limited open", seen.Kinds())
		require.Equal(t, "local", source(l))
		require.Zero(t, send(t, l, false))
	})
}

func TestThrottleDuringALookUpReachesTheStore(t *testing.T) {
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

func TestThrottleAtTheInstantOfAnAttemptReachesTheStore(t *testing.T) {
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

func TestThrottlesOfAnOpenScopeDoNotEachCallAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{}, errors.New("gone")
		}}
		f := newFleet(t, fleet.Config{Store: store})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, true)
		for range 2000 { // 20 seconds
			l.Report(ratelimit.Response{Throttled: true})
			pass(t, 10*time.Millisecond)
		}
		require.LessOrEqual(t, len(store.Asks()), 14)
		require.GreaterOrEqual(t, len(store.Asks()), 8)
	})
}

func TestAttemptsCountUnderTheEpochOfTheirSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		epoch := uint64(7)
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{Epoch: epoch, Rate: 10, Slots: 1, State: "-"}, nil
		}}
		f := newFleet(t, fleet.Config{Store: store})
		l := f.NewLimiter(orders, clock.System{})
		early, err := l.Acquire(context.Background(), ratelimit.Request{})
		require.NoError(t, err)
		pass(t, time.Millisecond)
		epoch = 8
		pass(t, time.Second)
		late, err := l.Acquire(context.Background(), ratelimit.Request{}) // its ask brings epoch 8
		require.NoError(t, err)
		l.Report(ratelimit.Response{Sent: early, Throttled: true})
		l.Report(ratelimit.Response{Sent: late, Throttled: true, Cost: 2})
		l.Report(ratelimit.Response{Sent: late})
		pass(t, time.Second)
		_, err = l.Acquire(context.Background(), ratelimit.Request{})
		require.NoError(t, err)
		counted := map[uint64][2]float64{}
		for _, ask := range store.Asks() { // two for one attempt if it enters the line during the first
			counts := counted[ask.Epoch]
			counted[ask.Epoch] = [2]float64{counts[0] + ask.OK, counts[1] + ask.Bad}
		}
		require.Equal(t, map[uint64][2]float64{0: {}, 7: {}, 8: {1, 2}}, counted)
	})
}

func TestMemberAsksARoundTripBeforeItsLastSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := time.Millisecond
		var calls []time.Duration
		began := now()
		store := &replies{call: func(ctx context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
			calls = append(calls, now().Sub(began))
			if err := (clock.System{}).Sleep(ctx, 50*ms); err != nil {
				return fleet.Reply{}, err
			}
			return fleet.Reply{Epoch: 2, Rate: 10, Slots: 10, Gap: 100 * ms, State: "-"}, nil
		}}
		f := newFleet(t, fleet.Config{Store: store})
		l := f.NewLimiter(orders, clock.System{})
		for range 40 {
			_, err := l.Acquire(context.Background(), ratelimit.Request{})
			require.NoError(t, err)
			if now().Sub(began) < 50*ms+time.Microsecond {
				for range 25 { // so that attempts always wait
					go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
				}
			}
		}
		// The first run has slots from 50 to 950 ms, and the member asks 1.2 round trips and 5 ms earlier.
		require.InDelta(t, 885*ms, calls[1], float64(ms))
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

func TestMemberAloneAndIdleDoesNotCallTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var memory fleet.Memory
		away := false
		store := &replies{call: func(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
			if away {
				return fleet.Reply{}, errors.New("gone")
			}
			return memory.Call(ctx, "", ask)
		}}
		f := newFleet(t, fleet.Config{Store: store, Limit: limitOf(20)})
		l := f.NewLimiter(orders, clock.System{})
		for range 30 {
			send(t, l, false)
		}
		synctest.Wait()
		away = true
		for range 30 {
			send(t, l, false)
		}
		require.Equal(t, "fleet-lost", source(l))
		pass(t, 10*time.Second)
		calls := len(store.Asks())
		pass(t, time.Hour)
		require.Len(t, store.Asks(), calls)
	})
}

func TestMemberAloneAsksForOneSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var memory fleet.Memory
		store := &replies{call: func(ctx context.Context, n int, ask fleet.Ask) (fleet.Reply, error) {
			if n > 20 {
				return fleet.Reply{}, errors.New("gone")
			}
			return memory.Call(ctx, "", ask)
		}}
		f := newFleet(t, fleet.Config{Store: store, Limit: limitOf(20)})
		l := f.NewLimiter(orders, clock.System{})
		for source(l) != "fleet-lost" {
			send(t, l, false)
		}
		before := len(store.Asks())
		for range 60 {
			send(t, l, false)
		}
		for _, ask := range store.Asks()[before:] {
			require.InDelta(t, 1, ask.Want, 0)
		}
		require.Greater(t, len(store.Asks()), before)
	})
}

func TestMemberGivesItsStateToAStoreThatHasLostIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen journal
		var memory fleet.Memory
		f := newFleet(t, fleet.Config{Store: &memory, Observer: seen.Observe, Limit: limitOf(20)})
		l := f.NewLimiter(orders, clock.System{})
		for range 100 {
			send(t, l, false)
		}
		before := f.Snapshot()[0]
		memory.Flush()
		for range 100 {
			require.Less(t, send(t, l, false), 700*time.Millisecond)
		}
		after := f.Snapshot()[0]
		require.Equal(t, before.Epoch, after.Epoch)
		require.InEpsilon(t, float64(before.FleetRate), float64(after.FleetRate), 0.1)
		require.Equal(t, "limited", seen.Kinds())
	})
}

func TestMemberForgetsAnOldState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var memory fleet.Memory
		store := &replies{call: func(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) { return memory.Call(ctx, "", ask) }}
		f := newFleet(t, fleet.Config{Store: store, Limit: limitOf(20)})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, false)
		pass(t, 9*time.Minute)
		send(t, l, false)
		require.NotEmpty(t, store.Asks()[len(store.Asks())-1].Seed)
		pass(t, 11*time.Minute)
		send(t, l, false)
		require.Empty(t, store.Asks()[len(store.Asks())-1].Seed)
	})
}

func TestExpectedWaitFollowsWhatTheMemberGetsWhileAttemptsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{Epoch: 2, Rate: 100, Slots: 1, Start: 200 * time.Millisecond, State: "-"}, nil // a twentieth
		}}
		f := newFleet(t, fleet.Config{Store: store})
		l := f.NewLimiter(orders, clock.System{})
		ctx, cancel := context.WithCancel(context.Background())
		for range 40 {
			go func() { _, _ = l.Acquire(ctx, ratelimit.Request{}) }()
		}
		pass(t, time.Second)
		require.Less(t, l.Expected(ratelimit.Request{}), time.Second, "as if the member had the rate of the fleet")
		pass(t, 3*time.Second)
		require.InDelta(t, 4*time.Second, l.Expected(ratelimit.Request{}), float64(time.Second), "20 wait, and five go each second")
		cancel()
		pass(t, time.Second)
		_, err := l.Acquire(context.Background(), ratelimit.Request{})
		require.NoError(t, err)
		require.Less(t, l.Expected(ratelimit.Request{Cost: 100}), 2*time.Second, "nothing waits any more")
	})
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
		require.Less(t, l.Expected(ratelimit.Request{}), 5*time.Second)
		pass(t, time.Minute)
		require.Zero(t, refused.Load())
	})
}
