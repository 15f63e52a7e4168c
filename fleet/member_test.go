package fleet_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestMemberLearnsThatTheScopeIsLimited(t *testing.T) {
	t.Parallel()
	var seen journal
	inBubble(t, fleet.Config{Observer: seen.Observe}, func(t tester, f *fleet.Fleet, l adaptive.Limiter) {
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
	store := answers(fleet.Reply{})
	inBubble(t, fleet.Config{Store: store}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		pass(t, time.Minute)
		require.Empty(t, store.Asks(), "nothing before its first use")
		var looks []int
		for i := range 60 * 10 {
			before := len(store.Asks())
			send(t, l, false)
			pass(t, 90*ms)
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
	var seen journal
	inBubble(t, fleet.Config{Observer: seen.Observe}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		send(t, l, true)
		for end := now().Add(11 * time.Minute); now().Before(end); {
			send(t, l, false)
			pass(t, 200*ms)
		}
		require.Equal(t, "limited open", seen.Kinds())
		require.Equal(t, "local", source(l))
		require.Zero(t, send(t, l, false))
	})
}

func TestThrottlesOfAnOpenScopeReachTheStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store *replies
		play  func(t *testing.T, l adaptive.Limiter)
		bad   []float64 // of the asks
	}{
		"before the first attempt": {answers(fleet.Reply{}), func(_ *testing.T, l adaptive.Limiter) {
			l.Report(ratelimit.Response{Throttled: true})
		}, []float64{1}},
		"at the instant of an attempt": {answers(fleet.Reply{}), func(t *testing.T, l adaptive.Limiter) {
			t.Helper()
			send(t, l, false)
			sent, err := l.Acquire(context.Background(), ratelimit.Request{})
			require.NoError(t, err)
			l.Report(ratelimit.Response{Sent: sent, Throttled: true})
		}, []float64{0, 1}},
		"during a look-up": {slow(50 * ms), func(t *testing.T, l adaptive.Limiter) {
			t.Helper()
			send(t, l, true)
		}, []float64{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, fleet.Config{Store: c.store, JoinWait: -1}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				c.play(t.T, l)
				pass(t, time.Second)
				var bad []float64
				for _, ask := range c.store.Asks() {
					bad = append(bad, ask.Bad)
				}
				require.Equal(t, c.bad, bad)
			})
		})
	}
}

func TestThrottlesOfAnOpenScopeDoNotEachCallAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	store := &replies{away: true}
	inBubble(t, fleet.Config{Store: store}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		send(t, l, true)
		for range 2000 { // 20 seconds
			l.Report(ratelimit.Response{Throttled: true})
			pass(t, 10*ms)
		}
		require.InDelta(t, 11, len(store.Asks()), 3)
	})
}

func TestAttemptsCountUnderTheEpochOfTheirSlot(t *testing.T) {
	t.Parallel()
	var epoch atomic.Uint64
	store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
		return fleet.Reply{Epoch: epoch.Load(), Rate: 10, Slots: 1, State: "-"}, nil
	}}
	inBubble(t, fleet.Config{Store: store}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		acquire := func() time.Time {
			sent, err := l.Acquire(context.Background(), ratelimit.Request{})
			require.NoError(t, err)
			return sent
		}
		epoch.Store(7)
		early := acquire()
		pass(t, ms)
		epoch.Store(8)
		pass(t, time.Second)
		late := acquire() // its ask brings epoch 8
		l.Report(ratelimit.Response{Sent: early, Throttled: true})
		l.Report(ratelimit.Response{Sent: late, Throttled: true, Cost: 2})
		l.Report(ratelimit.Response{Sent: late})
		pass(t, time.Second)
		acquire()
		counted := map[uint64][2]float64{}
		for _, ask := range store.Asks() { // two for one attempt if it enters the line during the first
			counts := counted[ask.Epoch]
			counted[ask.Epoch] = [2]float64{counts[0] + ask.OK, counts[1] + ask.Bad}
		}
		require.Equal(t, map[uint64][2]float64{0: {}, 7: {}, 8: {1, 2}}, counted)
	})
}

// It asks 1.2 round trips and 5 ms earlier.
func TestMemberAsksARoundTripBeforeItsLastSlot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply   fleet.Reply
		callers []int // that begin at 0 and at 100 ms
		second  time.Duration
	}{
		"whose run has slots until 950 ms":   {fleet.Reply{Epoch: 2, Rate: 10, Slots: 10, Gap: 100 * ms, State: "-"}, []int{26}, 885 * ms},
		"for the second attempt in the line": {fleet.Reply{Epoch: 2, Rate: 10, Slots: 1, Start: 400 * ms, State: "-"}, []int{1, 1}, 385 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []time.Time
			store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
				calls = append(calls, now())
				return c.reply, clock.System{}.Sleep(ctx, 50*ms)
			}}
			inBubble(t, fleet.Config{Store: store}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				for _, n := range c.callers {
					for range n {
						go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
					}
					pass(t, 100*ms)
				}
				pass(t, 10*time.Second)
				require.InDelta(t, c.second, calls[1].Sub(calls[0]), float64(ms))
			})
		})
	}
}

func TestMemberGivesItsStateToAStoreThatHasLostIt(t *testing.T) {
	t.Parallel()
	var seen journal
	store := &replies{}
	inBubble(t, fleet.Config{Store: store, Observer: seen.Observe, Limit: limitOf(20)}, func(t tester, f *fleet.Fleet, l adaptive.Limiter) {
		sends(t, l, 100)
		before := f.Snapshot()[0]
		store.memory.Flush()
		for range 100 {
			require.Less(t, send(t, l, false), 700*ms)
		}
		after := f.Snapshot()[0]
		require.Equal(t, before.Epoch, after.Epoch)
		require.InEpsilon(t, float64(before.FleetRate), float64(after.FleetRate), 0.1)
		require.Equal(t, "limited", seen.Kinds())

		pass(t, 9*time.Minute)
		send(t, l, false)
		require.NotEmpty(t, store.Last().Seed)
		pass(t, 11*time.Minute)
		send(t, l, false)
		require.Empty(t, store.Last().Seed, "too old")
	})
}

func TestExpectedWaitFollowsWhatTheMemberGetsWhileAttemptsWait(t *testing.T) {
	t.Parallel()
	store := answers(fleet.Reply{Epoch: 2, Rate: 100, Slots: 1, Start: 200 * ms, State: "-"}) // a twentieth
	inBubble(t, fleet.Config{Store: store}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
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
	store := &replies{call: func(_ context.Context, n int, ask fleet.Ask) (fleet.Reply, error) {
		return fleet.Reply{Epoch: 2, Rate: 100, Slots: int(min(ask.Want, 5)), Gap: 10 * ms, State: "-"}, nil
	}}
	inBubble(t, fleet.Config{Store: store}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		send(t, l, false)
		store.Away(true)
		ctx, cancel := clock.WithTimeout(context.Background(), clock.System{}, time.Hour)
		defer cancel()
		_, errs := waits(ctx, t, 50, l, ratelimit.Request{})
		pass(t, 20*time.Second)
		require.Equal(t, "fleet-lost", source(l))
		store.Away(false)
		for source(l) != "fleet" {
			pass(t, ms)
		}
		synctest.Wait()
		require.Less(t, l.Expected(ratelimit.Request{}), 5*time.Second)
		pass(t, time.Minute)
		synctest.Wait()
		require.Equal(t, make([]error, 50), errs)
	})
}
