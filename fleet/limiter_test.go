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
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestFirstAttemptWaitsForTheStoreOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ takes, joinWait, waits time.Duration }{
		"for the reply":         {takes: 30 * ms, waits: 30 * ms},
		"for JoinWait at most":  {takes: 200 * ms, joinWait: 100 * ms, waits: 100 * ms},
		"not at all":            {takes: 200 * ms, joinWait: -1},
		"if the store hangs":    {takes: time.Hour, waits: 250 * ms},
		"if the store is there": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := fleet.Config{Store: slow(c.takes), JoinWait: c.joinWait}
			inBubble(t, config, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				require.Equal(t, c.waits, send(t, l, false))
				require.Zero(t, send(t, l, false), "only once")
			})
		})
	}
}

// So a strategy does not evict a scope whose first attempts wait for the store.
func TestSnapshotsShowWhoWaitsForTheStore(t *testing.T) {
	t.Parallel()
	inBubble(t, fleet.Config{Store: slow(100 * ms)}, func(t tester, f *fleet.Fleet, l adaptive.Limiter) {
		waits(t.Context(), t, 2, l, ratelimit.Request{})
		for _, waiting := range []int{2, 0} {
			synctest.Wait()
			require.Equal(t, waiting, l.State().Waiting)
			require.Equal(t, waiting, f.Snapshot()[0].Waiting)
			pass(t, 100*ms)
		}
	})
}

func TestAttemptThatMayNotWaitDoesNotWaitForTheStore(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(now time.Time) ratelimit.Request{
		"NoWait":     func(time.Time) ratelimit.Request { return ratelimit.Request{NoWait: true} },
		"MaxWait":    func(time.Time) ratelimit.Request { return ratelimit.Request{MaxWait: 99 * ms} },
		"NotAfter":   func(now time.Time) ratelimit.Request { return ratelimit.Request{NotAfter: now.Add(99 * ms)} },
		"a deadline": func(time.Time) ratelimit.Request { return ratelimit.Request{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, fleet.Config{Store: slow(time.Hour)}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				ctx := context.Background()
				if name == "a deadline" {
					var cancel context.CancelFunc
					ctx, cancel = clock.WithTimeout(ctx, clock.System{}, 100*ms)
					defer cancel()
				}
				began := now()
				sent, err := l.Acquire(ctx, request(began))
				require.NoError(t, err)
				require.Equal(t, began, sent)
			})
		})
	}
}

// waits starts callers with this request, in order, and returns how long each has waited and with
// what error it ended.
func waits(ctx context.Context, tb testing.TB, n int, l adaptive.Limiter, r ratelimit.Request) (waited []time.Duration, errs []error) {
	tb.Helper()
	waited, errs = make([]time.Duration, n), make([]error, n)
	began := now()
	for i := range n {
		go func() {
			_, errs[i] = l.Acquire(ctx, r)
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
		"to a tenth":    {fleet.Reply{Epoch: 2, Rate: 10, Slots: 10, Again: time.Second, Gap: 100 * ms, State: "-"}, 500 * ms, 15},
		"for a while":   {fleet.Reply{Epoch: 2, Rate: 10, Again: 300 * ms, State: "-"}, time.Second, 10},
		"or gives none": {fleet.Reply{Epoch: 1, Rate: 100, Again: time.Minute, State: "-"}, 500 * ms, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := answers(fleet.Reply{Epoch: 1, Rate: 100, Slots: 10, Again: 500 * ms, Gap: 10 * ms, State: "-"}, cut.reply)
			inBubble(t, fleet.Config{Store: store}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				waited, errs := waits(t.Context(), t, 50, l, ratelimit.Request{MaxWait: time.Second})
				pass(t, time.Minute)
				synctest.Wait()
				require.Zero(t, l.State().Waiting)
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

func TestWhatIsGivenBackGoesToTheNext(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fleet.Reply{
		"a slot":                   {Epoch: 1, Rate: 1, Slots: 1, Again: 10 * time.Second, Gap: time.Second, State: "-"},
		"a token of an open scope": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, fleet.Config{Store: answers(reply), Limit: limitOf(0.1)}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				require.Zero(t, send(t, l, false))
				waited, errs := waits(t.Context(), t, 1, l, ratelimit.Request{})
				require.Equal(t, 1, l.State().Waiting)
				l.Give(ratelimit.Request{})
				synctest.Wait()
				require.NoError(t, errs[0])
				require.Zero(t, waited[0])
				require.Zero(t, l.State().Waiting)
			})
		})
	}
}

// The wait for the first answer of the store and the one for a slot are one wait.
func TestMaxWaitBoundsTheFirstWaitToo(t *testing.T) {
	t.Parallel()
	store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
		return fleet.Reply{Epoch: 1, Rate: 1000, State: "-"}, clock.System{}.Sleep(ctx, 80*ms)
	}}
	inBubble(t, fleet.Config{Store: store, JoinWait: 100 * ms}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		waited, errs := waits(t.Context(), t, 3, l, ratelimit.Request{MaxWait: 100 * ms})
		pass(t, time.Hour)
		synctest.Wait()
		for i, err := range errs {
			require.Error(t, err)
			require.LessOrEqual(t, waited[i], 100*ms)
		}
	})
}

func TestAttemptsThatMayNotWaitAreServedByTheNextSlot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every time.Duration
		n     int
		least int
	}{
		"many":           {100 * ms, 300, 100},
		"few, each 2 nd": {4 * time.Second, 60, 28},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, fleet.Config{Limit: limitOf(10)}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				send(t, l, false)
				sent := 0
				for range c.n {
					if at, err := l.Acquire(context.Background(), ratelimit.Request{NoWait: true}); err == nil {
						sent++
						l.Report(ratelimit.Response{Sent: at})
					}
					pass(t, c.every)
				}
				require.GreaterOrEqual(t, sent, c.least)
			})
		})
	}
}

func TestAttemptsThatCostMoreTakeSoManySlots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store fleet.Store
		rate  ratelimit.Rate
		cost  float64
		n     int
		takes time.Duration
	}{
		"four":                                  {nil, 20, 4, 50, 10 * time.Second},
		"a quarter":                             {nil, 20, 0.25, 800, 10 * time.Second},
		"thirty":                                {nil, 20, 30, 6, 9 * time.Second},
		"ten, and an open scope saves up fewer": {&replies{away: true}, 2, 10, 2, 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, fleet.Config{Store: c.store, Limit: limitOf(c.rate)}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				began := now()
				for range c.n {
					sent, err := l.Acquire(context.Background(), ratelimit.Request{Cost: c.cost})
					require.NoError(t, err)
					l.Report(ratelimit.Response{Sent: sent, Cost: c.cost})
				}
				require.InEpsilon(t, c.takes.Seconds(), now().Sub(began).Seconds(), 0.15)
			})
		})
	}
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
				clk.AfterFunc(500*ms, func() {
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
	require.InDelta(t, without, waits(f.NewLimiter(orders, nil), two), float64(ms))
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
				return fleet.Reply{}, errGone
			}
			return slot, nil
		},
		"in a scope that is open": func(int) (fleet.Reply, error) { return fleet.Reply{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := func(by time.Duration) (waited []time.Duration, ok float64) {
				var moved atomic.Int64
				clk := movedClock{by: &moved}
				store := &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) { return reply(n) }}
				inBubble(t, fleet.Config{Store: store, Clock: clk}, func(t tester, f *fleet.Fleet, _ adaptive.Limiter) {
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
				})
				for _, ask := range store.Asks() {
					ok += ask.OK
				}
				return waited, ok
			}
			want, wantOK := play(0)
			for _, back := range []time.Duration{6 * time.Second, time.Hour, 30 * 365 * 24 * time.Hour} {
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
	var moved atomic.Int64
	clk := movedClock{by: &moved}
	config := fleet.Config{Store: slow(time.Hour), Clock: clk, JoinWait: 200 * ms, CallTimeout: time.Minute}
	inBubble(t, config, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		began := now()
		first, _ := waits(t.Context(), t, 1, l, ratelimit.Request{})
		pass(t, 100*ms)
		moved.Store(-int64(time.Hour))
		sent, err := l.Acquire(context.Background(), ratelimit.Request{MaxWait: time.Second, NotAfter: clk.Now().Add(time.Second)})
		require.NoError(t, err)
		require.Equal(t, clk.Now(), sent)
		require.InDelta(t, 201*ms, now().Sub(began), float64(99*ms), "it waits too")
		synctest.Wait()
		require.LessOrEqual(t, first[0], 300*ms)
	})
}
