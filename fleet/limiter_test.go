package fleet_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// limitOf is a known limit.
func limitOf(rate ratelimit.Rate) func(retry.ScopeKey) adaptive.SendLimit {
	return func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: rate, Ceiling: rate} }
}

func pass(tb testing.TB, d time.Duration) {
	tb.Helper()
	require.NoError(tb, clock.System{}.Sleep(context.Background(), d))
}

func TestMemberLearnsThatTheScopeIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told journal
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Observer: told.Observe})
		l := f.NewLimiter(orders, clock.System{})
		for range 10 {
			require.Zero(t, send(t, l, false))
		}
		require.Equal(t, "local", source(l))
		require.Equal(t, fleet.Open, f.Snapshot()[0].State)
		require.Empty(t, told.Kinds())
		send(t, l, true)
		synctest.Wait()
		require.Equal(t, fleet.Learning, f.Snapshot()[0].State)
		require.Equal(t, "limited", told.Kinds())
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
		require.Equal(t, "limited", told.Kinds())
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

func TestFirstAttemptWaitsForTheStoreOnce(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for name, c := range map[string]struct {
		takes, joinWait, waits time.Duration
	}{
		"for the reply":         {takes: 30 * ms, waits: 30 * ms},
		"for JoinWait at most":  {takes: 200 * ms, joinWait: 100 * ms, waits: 100 * ms},
		"not at all":            {takes: 200 * ms, joinWait: -1},
		"if the store hangs":    {takes: time.Hour, waits: 250 * ms},
		"if the store is there": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
					return fleet.Reply{}, clock.System{}.Sleep(ctx, c.takes)
				}}
				f := newFleet(t, fleet.Config{Store: store, JoinWait: c.joinWait})
				l := f.NewLimiter(orders, clock.System{})
				require.Equal(t, c.waits, send(t, l, false))
				require.Zero(t, send(t, l, false), "only once")
			})
		})
	}
}

func TestAttemptThatMayNotWaitDoesNotWaitForTheStore(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for name, request := range map[string]func(now time.Time) ratelimit.Request{
		"NoWait":     func(time.Time) ratelimit.Request { return ratelimit.Request{NoWait: true} },
		"MaxWait":    func(time.Time) ratelimit.Request { return ratelimit.Request{MaxWait: 99 * ms} },
		"NotAfter":   func(now time.Time) ratelimit.Request { return ratelimit.Request{NotAfter: now.Add(99 * ms)} },
		"a deadline": func(time.Time) ratelimit.Request { return ratelimit.Request{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
					return fleet.Reply{}, clock.System{}.Sleep(ctx, time.Hour)
				}}
				f := newFleet(t, fleet.Config{Store: store})
				ctx := context.Background()
				if name == "a deadline" {
					var cancel context.CancelFunc
					ctx, cancel = clock.WithTimeout(ctx, clock.System{}, 100*ms)
					defer cancel()
				}
				began := now()
				sent, err := f.NewLimiter(orders, clock.System{}).Acquire(ctx, request(began))
				require.NoError(t, err)
				require.Equal(t, began, sent)
			})
		})
	}
}

// waits starts callers with this request, in order, and returns how long each has waited and with
// what error it ended.
func waits(t *testing.T, n int, l adaptive.Limiter, r ratelimit.Request) (waited []time.Duration, errs []error) {
	t.Helper()
	waited, errs = make([]time.Duration, n), make([]error, n)
	began := now()
	for i := range n {
		go func() {
			_, errs[i] = l.Acquire(context.Background(), r)
			waited[i] = now().Sub(began)
		}()
		synctest.Wait()
	}
	return waited, errs
}

// The store hands out 100 slots a second at first. Then the fleet cuts its rate.
func TestCallersThatWouldWaitLongerThanAllowedLeaveWhenTheFleetCutsItsRate(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]struct {
		reply  fleet.Reply
		leave  time.Duration // when the last of those leaves that cannot be served in time
		served int
	}{
		"to a tenth":    {fleet.Reply{Epoch: 2, Rate: 10, Slots: 10, Again: time.Second, Gap: 100 * time.Millisecond, State: "-"}, 500 * time.Millisecond, 15},
		"for a while":   {fleet.Reply{Epoch: 2, Rate: 10, Again: 300 * time.Millisecond, State: "-"}, time.Second, 10},
		"or gives none": {fleet.Reply{Epoch: 1, Rate: 100, Again: time.Minute, State: "-"}, 500 * time.Millisecond, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
					if n == 1 {
						return fleet.Reply{Epoch: 1, Rate: 100, Slots: 10, Again: 500 * time.Millisecond, Gap: 10 * time.Millisecond, State: "-"}, nil
					}
					return cut.reply, nil
				}}
				l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, clock.System{})
				waited, errs := waits(t, 50, l, ratelimit.Request{MaxWait: time.Second})
				pass(t, time.Minute)
				synctest.Wait()
				waiting := l.State().Waiting
				require.Zero(t, waiting)
				served := 0
				for i, err := range errs {
					if err == nil {
						served++
						require.LessOrEqual(t, waited[i], time.Second)
						continue
					}
					require.ErrorContains(t, err, "longer than allowed")
					require.LessOrEqual(t, waited[i], cut.leave)
				}
				require.InDelta(t, cut.served, served, 2)
			})
		})
	}
}

func TestSlotThatIsGivenBackGoesToTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{Epoch: 1, Rate: 1, Slots: 1, Again: 10 * time.Second, Gap: time.Second, State: "-"}, nil
		}}
		l := newFleet(t, fleet.Config{Store: store}).NewLimiter(orders, clock.System{})
		require.Zero(t, send(t, l, false))
		began := now()
		_, errs := waits(t, 1, l, ratelimit.Request{})
		giver, ok := l.(interface{ Give(cost float64) })
		require.True(t, ok)
		giver.Give(1)
		synctest.Wait()
		require.NoError(t, errs[0])
		waiting := l.State().Waiting
		require.Zero(t, waiting)
		require.Equal(t, began, now())
	})
}

// The wait for the first answer of the store and the one for a slot are one wait.
func TestMaxWaitBoundsTheFirstWaitToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
			err := clock.System{}.Sleep(ctx, 80*time.Millisecond)
			return fleet.Reply{Epoch: 1, Rate: 1000, State: "-"}, err
		}}
		f := newFleet(t, fleet.Config{Store: store, JoinWait: 100 * time.Millisecond})
		l := f.NewLimiter(orders, clock.System{})
		waited, errs := waits(t, 3, l, ratelimit.Request{MaxWait: 100 * time.Millisecond})
		pass(t, time.Hour)
		synctest.Wait()
		for i, err := range errs {
			require.Error(t, err)
			require.LessOrEqual(t, waited[i], 100*time.Millisecond)
		}
	})
}

func TestMemberWithAKnownLimitIsLimitedFromTheFirstAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(20)})
		l := f.NewLimiter(orders, clock.System{})
		began := now()
		for range 101 {
			send(t, l, false)
		}
		require.Equal(t, "fleet", source(l))
		require.InDelta(t, 5*time.Second, now().Sub(began), float64(300*time.Millisecond))
	})
}

func TestTwoMembersShareOneRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(50)})
		var sums [2]int
		end := now().Add(20 * time.Second)
		done := make(chan struct{}, len(sums))
		for i := range sums {
			l := f.NewLimiter(orders, clock.System{})
			go func() {
				defer func() { done <- struct{}{} }()
				for now().Before(end) {
					sent, err := l.Acquire(context.Background(), ratelimit.Request{})
					if err != nil {
						t.Error(err)
						return
					}
					l.Report(ratelimit.Response{Sent: sent})
					sums[i]++
				}
			}()
		}
		for range sums {
			<-done
		}
		require.InDelta(t, 1000, sums[0]+sums[1], 100)
		require.InDelta(t, sums[0], sums[1], 50)
	})
}

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
				var told journal
				var memory fleet.Memory
				away := false
				store := &replies{call: func(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
					if away {
						return call(ctx)
					}
					return memory.Call(ctx, "", ask)
				}}
				f := newFleet(t, fleet.Config{
					Store: store, Limit: limitOf(20), Observer: told.Observe, Random: func() float64 { return 0.5 },
				})
				l := f.NewLimiter(orders, clock.System{})
				for range 200 {
					send(t, l, false)
				}
				require.Equal(t, "limited", told.Kinds())
				synctest.Wait()
				away = true
				before := len(store.Asks())
				began := now()
				for range 200 {
					require.LessOrEqual(t, send(t, l, false), 250*time.Millisecond+50*time.Millisecond+50*time.Millisecond)
				}
				took := now().Sub(began)
				require.InDelta(t, 10*time.Second, took, float64(time.Second), "it holds its rate")
				require.Equal(t, "limited lost", told.Kinds())
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
				require.Equal(t, "limited lost back", told.Kinds())
				require.Equal(t, "fleet", source(l))
				pass(t, 10*time.Second) // calls that take so long
			})
		})
	}
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

func TestMemberGivesItsStateToAStoreThatHasLostIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told journal
		var memory fleet.Memory
		f := newFleet(t, fleet.Config{Store: &memory, Observer: told.Observe, Limit: limitOf(20)})
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
		require.Equal(t, "limited", told.Kinds())
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

func TestScopeIsOpenAgainAfterTenMinutesWithoutThrottle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told journal
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Observer: told.Observe})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, true)
		end := now().Add(11 * time.Minute)
		for now().Before(end) {
			send(t, l, false)
			pass(t, 200*time.Millisecond)
		}
		require.Equal(t, "limited open", told.Kinds())
		require.Equal(t, "local", source(l))
		require.Zero(t, send(t, l, false))
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
		asks := store.Asks()
		last := asks[len(asks)-1]
		require.Equal(t, fleet.Ask{Seed: "-", Epoch: 8, OK: 1, Bad: 2, Want: last.Want}, last)
	})
}

func TestAttemptThatMayNotWaitAsksForTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(10)})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, false)
		sent := 0
		for range 300 { // it tries every 100 ms
			if at, err := l.Acquire(context.Background(), ratelimit.Request{NoWait: true}); err == nil {
				sent++
				l.Report(ratelimit.Response{Sent: at})
			}
			pass(t, 100*time.Millisecond)
		}
		require.Greater(t, sent, 100)
	})
}

func TestEverySecondOfFewAttemptsThatMayNotWaitIsServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(10)})
		l := f.NewLimiter(orders, clock.System{})
		sent := 0
		for range 60 {
			if at, err := l.Acquire(context.Background(), ratelimit.Request{NoWait: true}); err == nil {
				sent++
				l.Report(ratelimit.Response{Sent: at})
			}
			pass(t, 4*time.Second)
		}
		require.InDelta(t, 30, sent, 2)
	})
}

func TestAttemptsThatCostMoreTakeSoManySlots(t *testing.T) {
	t.Parallel()
	for name, cost := range map[string]float64{"four": 4, "a quarter": 0.25, "thirty": 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(20)})
				l := f.NewLimiter(orders, clock.System{})
				began := now()
				n := int(200 / cost)
				for range n {
					sent, err := l.Acquire(context.Background(), ratelimit.Request{Cost: cost})
					require.NoError(t, err)
					l.Report(ratelimit.Response{Sent: sent, Cost: cost})
				}
				require.InDelta(t, 10, now().Sub(began).Seconds(), 1.5)
			})
		})
	}
}

func TestAttemptThatCostsMoreThanTheOpenScopeSavesUpIsServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: stuck{}, Limit: limitOf(2)})
		l := f.NewLimiter(orders, nil)
		began := now()
		for range 2 {
			sent, err := l.Acquire(context.Background(), ratelimit.Request{Cost: 10})
			require.NoError(t, err)
			l.Report(ratelimit.Response{Sent: sent, Cost: 10})
		}
		require.InDelta(t, 8*time.Second, now().Sub(began), float64(2*time.Second), "a rate that nothing throttles grows")
	})
}

func TestRandomThatIsNoNumberFromZeroToOneCountsAsHalf(t *testing.T) {
	t.Parallel()
	for name, random := range map[string]func() float64{
		"not a number": math.NaN,
		"negative":     func() float64 { return -1e300 },
		"large":        func() float64 { return 1e300 },
		"a panic":      func() float64 { panic("random") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
					if n > 1 {
						return fleet.Reply{}, errors.New("gone")
					}
					return fleet.Reply{Epoch: 2, Rate: 10, Slots: 5, Gap: 100 * time.Millisecond, State: "-"}, nil
				}}
				f := newFleet(t, fleet.Config{Store: store, Random: random})
				l := f.NewLimiter(orders, clock.System{})
				for range 20 {
					require.LessOrEqual(t, send(t, l, false), 2*time.Second)
				}
				require.Equal(t, "fleet-lost", source(l))
			})
		})
	}
}

// stuck is a store that always fails.
type stuck struct{}

func (stuck) Call(context.Context, string, fleet.Ask) (fleet.Reply, error) {
	return fleet.Reply{}, errors.New("stuck")
}

func TestCeilingAloneIsAKnownLimitToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: func(retry.ScopeKey) adaptive.SendLimit {
			return adaptive.SendLimit{Ceiling: 20}
		}})
		l := f.NewLimiter(orders, clock.System{})
		began := now()
		for range 601 {
			send(t, l, false)
		}
		require.Equal(t, "fleet", source(l))
		require.InDelta(t, 30*time.Second, now().Sub(began), float64(300*time.Millisecond), "it never grows")
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
		require.Less(t, l.Expected(1), time.Second, "as if the member had the rate of the fleet")
		pass(t, 3*time.Second)
		require.InDelta(t, 4*time.Second, l.Expected(1), float64(time.Second), "20 wait, and five go each second")
		cancel()
		pass(t, time.Second)
		_, err := l.Acquire(context.Background(), ratelimit.Request{})
		require.NoError(t, err)
		require.Less(t, l.Expected(100), 2*time.Second, "nothing waits any more")
	})
}
