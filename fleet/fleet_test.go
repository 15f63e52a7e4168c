package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
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

var orders = retry.ScopeKey{Account: "111122223333", Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}

// stock is a store that gives a member all the slots that it can use.
type stock struct{}

func (stock) Call(context.Context, string, fleet.Ask) (fleet.Reply, error) {
	return fleet.Reply{Epoch: 2, Rate: 1e9, Slots: 1e9, State: "-"}, nil
}

// withSlots returns a member with more slots in hand than a test can use.
func withSlots(tb testing.TB, clk clock.Clock) adaptive.Limiter {
	tb.Helper()
	f, err := fleet.New(fleet.Config{Store: stock{}, Namespace: "test"})
	require.NoError(tb, err)
	tb.Cleanup(f.Close)
	l := f.NewLimiter(orders, clk)
	_, err = l.Acquire(context.Background(), ratelimit.Request{})
	require.NoError(tb, err)
	return l
}

// replies is a store that a test answers for. It counts the calls.
type replies struct {
	call func(ctx context.Context, n int, ask fleet.Ask) (fleet.Reply, error)

	mu   sync.Mutex
	asks []fleet.Ask
}

func (r *replies) Call(ctx context.Context, _ string, ask fleet.Ask) (fleet.Reply, error) {
	r.mu.Lock()
	r.asks = append(r.asks, ask)
	n := len(r.asks)
	r.mu.Unlock()
	return r.call(ctx, n, ask)
}

// Asks returns what was asked so far.
func (r *replies) Asks() []fleet.Ask {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asks)
}

// answers is a store with the given replies, the last of which repeats.
func answers(all ...fleet.Reply) *replies {
	return &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
		return all[min(n, len(all))-1], nil
	}}
}

// stuck is a store that always fails.
type stuck struct{}

func (stuck) Call(context.Context, string, fleet.Ask) (fleet.Reply, error) {
	return fleet.Reply{}, errors.New("stuck")
}

// storeFunc is a store that answers by key.
type storeFunc func(key string) (fleet.Reply, error)

func (f storeFunc) Call(_ context.Context, key string, _ fleet.Ask) (fleet.Reply, error) {
	return f(key)
}

// journal is an observer that keeps the events.
type journal struct {
	mu     sync.Mutex
	events []fleet.Event
}

func (j *journal) Observe(e fleet.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

// Kinds returns the kinds of the events so far.
func (j *journal) Kinds() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	kinds := make([]string, len(j.events))
	for i, e := range j.events {
		kinds[i] = e.Kind.String()
	}
	return strings.Join(kinds, " ")
}

// newFleet returns a fleet on the clock of the bubble that is closed at the end of the test.
func newFleet(tb testing.TB, config fleet.Config) *fleet.Fleet {
	tb.Helper()
	if config.Namespace == "" {
		config.Namespace = "test"
	}
	f, err := fleet.New(config)
	require.NoError(tb, err)
	tb.Cleanup(f.Close)
	return f
}

// send acquires, and reports an answer after 10 ms. It returns how long the attempt waited.
func send(tb testing.TB, l adaptive.Limiter, throttled bool) time.Duration {
	tb.Helper()
	clk := clock.System{}
	began := clk.Now()
	sent, err := l.Acquire(context.Background(), ratelimit.Request{})
	require.NoError(tb, err)
	waited := clk.Now().Sub(began)
	require.NoError(tb, clk.Sleep(context.Background(), 10*time.Millisecond))
	l.Report(ratelimit.Response{Sent: sent, Throttled: throttled})
	return waited
}

// source returns where the send rate of a limiter comes from.
func source(l adaptive.Limiter) string {
	state := l.State()
	return state.SendRateSource
}

// now is the time of the bubble.
func now() time.Time { return clock.System{}.Now() }

// limitOf is a known limit.
func limitOf(rate ratelimit.Rate) func(retry.ScopeKey) adaptive.SendLimit {
	return func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: rate, Ceiling: rate} }
}

func pass(tb testing.TB, d time.Duration) {
	tb.Helper()
	require.NoError(tb, clock.System{}.Sleep(context.Background(), d))
}

func TestNewNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	for text, config := range map[string]fleet.Config{
		"fleet: Store is nil":                            {Namespace: "prod"},
		"fleet: Namespace is empty":                      {Store: &fleet.Memory{}},
		"fleet: Store is nil\nfleet: Namespace is empty": {},
		"fleet: CallTimeout -1s: must not be negative":   {Store: &fleet.Memory{}, Namespace: "prod", CallTimeout: -time.Second},
	} {
		f, err := fleet.New(config)
		require.EqualError(t, err, text)
		require.Nil(t, f)
	}
}

func TestFleetSharesScopesButNotTheStrategyAsAWhole(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Config{Store: &fleet.Memory{}})
	require.NotNil(t, f.NewLimiter(orders, clock.System{}))
	require.Nil(t, f.NewLimiter(retry.ScopeKey{}, clock.System{}))
	require.Nil(t, f.NewLimiter(retry.OverflowKey(), clock.System{}))

	all := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Share: func(scope retry.ScopeKey) bool { return scope != orders }})
	require.Nil(t, all.NewLimiter(orders, clock.System{}))
	require.NotNil(t, all.NewLimiter(retry.ScopeKey{}, clock.System{}))
}

func TestConfigKeepsTheLimitersOfScopesThatAreNotShared(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Config{Store: &fleet.Memory{}})
	own := sendrate.NewLimiter(sendrate.Config{}, clock.System{})
	config := f.Config(adaptive.Config{
		SendCost:   3,
		NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return own },
	})
	require.InDelta(t, 3, config.SendCost, 0)
	require.Same(t, own, config.NewLimiter(retry.ScopeKey{}, clock.System{}))
	require.NotSame(t, own, config.NewLimiter(orders, clock.System{}))
	require.Nil(t, f.Config(adaptive.Config{}).NewLimiter(retry.ScopeKey{}, clock.System{}))
}

func TestSendLimitOfAConfigHoldsWhileTheScopeIsOpen(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Config{Store: &fleet.Memory{}})
	config := f.Config(adaptive.Config{SendLimit: limitOf(7)})
	state := config.NewLimiter(orders, clock.System{}).State()
	require.True(t, state.Limited)
	require.InDelta(t, 7, float64(state.FillRate), 0)
}

// The strategy reports it.
func TestImpossibleSendLimitOfAConfigDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, limit := range []adaptive.SendLimit{
		{Ceiling: 0.001},
		{Starting: -1, Ceiling: 1},
		{Starting: 30, Ceiling: 20},
		{Starting: ratelimit.Rate(math.NaN()), Ceiling: 2},
		{Starting: ratelimit.Rate(math.Inf(1))},
		{Ceiling: 2, Burst: 0.5},
	} {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}})
		config := f.Config(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return limit }})
		state := config.NewLimiter(orders, clock.System{}).State()
		require.False(t, state.Limited, "%+v", limit)
		require.Error(t, config.SendLimit(orders).Validate())
	}
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

// keys is a store that keeps the keys of its calls.
type keys struct{ seen chan string }

func (k keys) Call(_ context.Context, key string, _ fleet.Ask) (fleet.Reply, error) {
	k.seen <- key
	return fleet.Reply{}, nil
}

func TestEachScopeHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := keys{make(chan string, 100)}
		seen := map[string]string{}
		for _, namespace := range []string{"prod", "prod:a", "prod/a", "prod a"} {
			f := newFleet(t, fleet.Config{Store: store, Namespace: namespace})
			for _, scope := range []retry.ScopeKey{
				orders,
				{Scope: "a"},
				{Account: "a"},
				{Service: "a"},
				{Region: "a"},
				{Name: "a"},
				{Resource: "a"},
				{Service: "a", Region: "b"},
				{Service: "a/b"},
				{Service: "a%2Fb"},
				{Scope: "a:b"},
				{Scope: "a b"},
				{Scope: "a+b"},
			} {
				send(t, f.NewLimiter(scope, clock.System{}), false)
				version, key, _ := strings.Cut(<-store.seen, ":")
				require.Regexp(t, "^f2-[0-9a-f]{8}$", version)
				text := fmt.Sprintf("%s %#v", namespace, scope)
				require.Empty(t, seen[key], "%s and %s", key, text)
				seen[key] = text
				require.True(t, strings.HasPrefix(key, namespace+":"), key)
			}
		}
		require.Contains(t, seen, "prod:/111122223333/dynamodb/eu-central-1//orders")
	})
}

func TestCloseEndsTheCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
			<-ctx.Done()
			ended = true
			return fleet.Reply{}, ctx.Err()
		}}
		var seen journal
		f := newFleet(t, fleet.Config{Store: store, JoinWait: -1, Observer: seen.Observe})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, false)
		began := now()
		f.Close()
		require.True(t, ended, "Close has waited")
		require.Zero(t, now().Sub(began), "no longer than it must")
		f.Close()
		send(t, l, true)
		pass(t, time.Hour)
		send(t, l, true)
		send(t, f.NewLimiter(retry.ScopeKey{Scope: "new"}, clock.System{}), false)
		require.Len(t, store.Asks(), 1)
		require.Equal(t, orders, f.Snapshot()[0].Key)
		require.Equal(t, uint64(1), f.Snapshot()[0].Calls)
		require.Empty(t, seen.Kinds(), "Close is no loss")
	})
}

func TestCloseDoesNotWaitForAStoreThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			<-hung
			return fleet.Reply{}, errors.New("at last")
		}}
		f := newFleet(t, fleet.Config{Store: store, JoinWait: -1})
		send(t, f.NewLimiter(orders, clock.System{}), false)
		began := now()
		f.Close()
		require.Equal(t, 250*time.Millisecond, now().Sub(began))
		close(hung)
	})
}

func TestMemberWithSlotsGoesOnAloneAfterClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen journal
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(20), Observer: seen.Observe})
		l := f.NewLimiter(orders, clock.System{})
		for range 200 {
			send(t, l, false)
		}
		f.Close()
		began := now()
		for range 200 {
			send(t, l, false)
		}
		require.InDelta(t, 10*time.Second, now().Sub(began), float64(time.Second))
		require.Equal(t, "fleet-lost", source(l))
		require.Equal(t, "limited", seen.Kinds(), "Close is no loss")
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

func TestPanicOfTheObserverIsRecovered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(20), Observer: func(fleet.Event) { panic("observer") }})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, false)
		require.Equal(t, "fleet", source(l))
	})
}

func TestObserverMayAskForTheState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f *fleet.Fleet
		var l adaptive.Limiter
		var states []fleet.State
		f = newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(20), Observer: func(fleet.Event) {
			states = append(states, f.Snapshot()[0].State)
			l.Report(ratelimit.Response{})
			_ = l.State()
			_ = l.Expected(ratelimit.Request{})
		}})
		l = f.NewLimiter(orders, clock.System{})
		send(t, l, false)
		require.Equal(t, []fleet.State{fleet.Slots}, states)
	})
}

func TestFleetOnAFakeClockTakesNoTimeAndIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	play := func() (at []time.Duration) {
		start := time.Unix(0, 0)
		clk := clock.NewFake(start)
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{Clock: clk}, Limit: limitOf(4), Clock: clk})
		l := f.NewLimiter(orders, clk)
		work := func() {
			for range 10 {
				sent, err := l.Acquire(context.Background(), ratelimit.Request{})
				if err != nil {
					t.Error(err)
				}
				at = append(at, sent.Sub(start))
				l.Report(ratelimit.Response{Sent: sent})
			}
		}
		clk.Run(work)
		return at
	}
	first := play()
	require.InDelta(t, 2250*time.Millisecond, first[9], float64(100*time.Millisecond))
	for range 3 {
		require.Equal(t, first, play())
	}
}

func TestStrategySharesTheRateOfTheFleet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(20)})
		strategy, err := adaptive.New(f.Config(adaptive.Config{}))
		require.NoError(t, err)
		began := now()
		for range 100 {
			require.NoError(t, retry.DoErr(context.Background(), strategy, retry.Operation{Service: "dynamodb", Resource: "orders"},
				func(context.Context) error { return nil }))
		}
		require.InDelta(t, 5*time.Second, now().Sub(began), float64(300*time.Millisecond))
		scopes := strategy.Snapshot().Scopes
		require.Equal(t, "fleet", scopes[len(scopes)-1].SendRateSource)
		require.InDelta(t, 20, scopes[len(scopes)-1].FleetRate, 1)
		require.Positive(t, scopes[len(scopes)-1].StoreCalls)
		require.Equal(t, "local", scopes[0].SendRateSource, "the strategy as a whole")
	})
}
