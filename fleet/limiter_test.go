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
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

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

// So a strategy does not evict a scope whose first attempts wait for the store.
func TestSnapshotsShowWhoWaitsForTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{}, clock.System{}.Sleep(ctx, 100*time.Millisecond)
		}}
		f := newFleet(t, fleet.Config{Store: store})
		l := f.NewLimiter(orders, clock.System{})
		for range 2 {
			go func() { _, _ = l.Acquire(t.Context(), ratelimit.Request{}) }()
		}
		for _, waiting := range []int{2, 0} {
			synctest.Wait()
			require.Equal(t, waiting, l.State().Waiting)
			require.Equal(t, waiting, f.Snapshot()[0].Waiting)
			require.NoError(t, clock.System{}.Sleep(t.Context(), 100*time.Millisecond))
		}
	})
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
		l.Give(ratelimit.Request{})
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

func TestReportBeforeTheFirstAcquireReachesTheStore(t *testing.T) {
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

// movedClock is the clock of a bubble, but so many nanoseconds ahead.
type movedClock struct {
	clock.System
	by *atomic.Int64
}

func (c movedClock) Now() time.Time { return c.System.Now().Add(time.Duration(c.by.Load())) }

// Slots, appointments, the time of the next call and the rate of a member alone are instants.
func TestMemberGoesOnOnAClockThatHasGoneBack(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	slot := fleet.Reply{Epoch: 2, Rate: 10, Slots: 1, Start: 100 * ms, State: "-"}
	for name, reply := range map[string]func(n int) (fleet.Reply, error){
		"with slots in hand": func(int) (fleet.Reply, error) {
			return fleet.Reply{Epoch: 2, Rate: 10, Slots: 20, Gap: 100 * ms, State: "-"}, nil
		},
		"with appointments": func(n int) (fleet.Reply, error) {
			if n%2 == 0 {
				return fleet.Reply{Epoch: 2, Rate: 10, Again: 100 * ms, State: "-"}, nil
			}
			return slot, nil
		},
		"without the store": func(n int) (fleet.Reply, error) {
			if n > 10 {
				return fleet.Reply{}, errors.New("gone")
			}
			return slot, nil
		},
		"in a scope that is open": func(int) (fleet.Reply, error) { return fleet.Reply{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := func(by time.Duration) (waited []time.Duration, ok float64) {
				synctest.Test(t, func(t *testing.T) {
					var moved atomic.Int64
					clk := movedClock{by: &moved}
					store := &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) { return reply(n) }}
					f := newFleet(t, fleet.Config{Store: store, Clock: clk})
					own := f.Config(adaptive.Config{SendLimit: limitOf(5)}).NewLimiter(orders, nil)
					for i := range 60 {
						if i == 30 {
							moved.Store(int64(by))
						}
						began := now()
						sent, err := own.Acquire(context.Background(), ratelimit.Request{})
						require.NoError(t, err)
						require.Equal(t, clk.Now(), sent)
						waited = append(waited, now().Sub(began))
						pass(t, 5*ms)
						own.Report(ratelimit.Response{Sent: sent, Throttled: i == 29})
						if i >= 29 {
							require.InDelta(t, 0, clk.Now().Sub(own.State().LastThrottle).Seconds(), 30)
						}
						require.LessOrEqual(t, own.Expected(ratelimit.Request{}), 4*time.Second)
					}
					for _, ask := range store.Asks() {
						ok += ask.OK
					}
				})
				return waited, ok
			}
			want, wantOK := play(0)
			for _, back := range []time.Duration{6 * time.Second, time.Hour, 300 * 24 * time.Hour, 30 * 365 * 24 * time.Hour} {
				waited, ok := play(-back)
				for i := range waited {
					require.InDelta(t, want[i].Seconds(), waited[i].Seconds(), 0.5, "attempt %d of %v", i, waited)
				}
				require.InDelta(t, wantOK, ok, 5)
			}
		})
	}
}

func TestFirstAttemptsWaitNoLongerOnAClockThatHasGoneBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var moved atomic.Int64
		store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{}, clock.System{}.Sleep(ctx, time.Hour)
		}}
		clk := movedClock{by: &moved}
		l := newFleet(t, fleet.Config{Store: store, Clock: clk, JoinWait: 200 * time.Millisecond, CallTimeout: time.Minute}).NewLimiter(orders, nil)
		began := now()
		var first, second time.Duration
		go func() {
			_, _ = l.Acquire(context.Background(), ratelimit.Request{})
			first = now().Sub(began)
		}()
		pass(t, 100*time.Millisecond)
		moved.Store(-int64(time.Hour))
		sent, err := l.Acquire(context.Background(), ratelimit.Request{MaxWait: time.Second, NotAfter: clk.Now().Add(time.Second)})
		second = now().Sub(began)
		require.NoError(t, err)
		require.Equal(t, clk.Now(), sent)
		synctest.Wait()
		require.LessOrEqual(t, first, 300*time.Millisecond)
		require.LessOrEqual(t, second, 300*time.Millisecond)
		require.Positive(t, second-100*time.Millisecond, "it waits too")
	})
}

func TestPartOfTheScopeGoesOnOnAClockThatHasGoneBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var moved atomic.Int64
		l := newFleet(t, fleet.Config{Store: answers(fleet.Reply{}), Clock: movedClock{by: &moved}}).NewLimiter(orders, nil)
		send(t, l, false)
		l.Report(ratelimit.Response{PartThrottled: true})
		for range 5 {
			began := now()
			_, err := l.Acquire(context.Background(), ratelimit.Request{Part: true})
			require.NoError(t, err)
			require.LessOrEqual(t, now().Sub(began), 3*time.Second)
			moved.Add(-int64(time.Hour))
		}
	})
}
