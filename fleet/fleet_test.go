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

const ms = time.Millisecond

var (
	orders  = retry.ScopeKey{Account: "111122223333", Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}
	errGone = errors.New("gone")
)

// replies is a store that a test answers for: by fail, which may be nil, while away is set, else by
// call, which may be nil for a Memory. It keeps what it is asked.
type replies struct {
	call func(ctx context.Context, n int, ask fleet.Ask) (fleet.Reply, error)
	fail func(ctx context.Context) (fleet.Reply, error)

	memory fleet.Memory
	mu     sync.Mutex
	away   bool
	keys   []string
	asks   []fleet.Ask
}

func (r *replies) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	r.mu.Lock()
	r.keys, r.asks = append(r.keys, key), append(r.asks, ask)
	n, away := len(r.asks), r.away
	r.mu.Unlock()
	switch {
	case away && r.fail != nil:
		return r.fail(ctx)
	case away:
		return fleet.Reply{}, errGone
	case r.call != nil:
		return r.call(ctx, n, ask)
	}
	return r.memory.Call(ctx, key, ask)
}

// Away lets the store be away from now on, or be back.
func (r *replies) Away(away bool) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

// Asks returns what was asked so far.
func (r *replies) Asks() []fleet.Ask {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asks)
}

// Last returns the last ask.
func (r *replies) Last() fleet.Ask {
	asks := r.Asks()
	return asks[len(asks)-1]
}

// answers is a store with the given replies, the last of which repeats.
func answers(all ...fleet.Reply) *replies {
	return &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
		return all[min(n, len(all))-1], nil
	}}
}

// slow is a store that takes so long for each answer, or to the end of the call, and has no limit.
func slow(takes time.Duration) *replies {
	return &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
		return fleet.Reply{}, clock.System{}.Sleep(ctx, takes)
	}}
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

// newFleet returns a fleet that is closed at the end of the test. Its store is a Memory if there is none.
func newFleet(tb testing.TB, config fleet.Config) *fleet.Fleet {
	tb.Helper()
	if config.Namespace == "" {
		config.Namespace = "test"
	}
	if config.Store == nil {
		config.Store = &fleet.Memory{}
	}
	f, err := fleet.New(config)
	require.NoError(tb, err)
	tb.Cleanup(f.Close)
	return f
}

// tester is the test of a bubble.
type tester struct{ *testing.T }

// inBubble plays with a fleet and its member for orders, in the time of a bubble.
func inBubble(t *testing.T, config fleet.Config, play func(t tester, f *fleet.Fleet, l adaptive.Limiter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, config)
		play(tester{t}, f, f.NewLimiter(orders, nil))
	})
}

// send acquires, and reports an answer after 10 ms. It returns how long the attempt waited.
func send(tb testing.TB, l adaptive.Limiter, throttled bool) time.Duration {
	tb.Helper()
	began := now()
	sent, err := l.Acquire(context.Background(), ratelimit.Request{})
	require.NoError(tb, err)
	waited := now().Sub(began)
	pass(tb, 10*ms)
	l.Report(ratelimit.Response{Sent: sent, Throttled: throttled})
	return waited
}

// sends makes n attempts one after the other, and returns how long that took.
func sends(tb testing.TB, l adaptive.Limiter, n int) time.Duration {
	tb.Helper()
	began := now()
	for range n {
		send(tb, l, false)
	}
	return now().Sub(began)
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
	f := newFleet(t, fleet.Config{})
	require.NotNil(t, f.NewLimiter(orders, nil))
	require.Nil(t, f.NewLimiter(retry.ScopeKey{}, nil))
	require.Nil(t, f.NewLimiter(retry.OverflowKey(), nil))
	require.Nil(t, f.Config(adaptive.Config{}).NewLimiter(retry.ScopeKey{}, nil))

	all := newFleet(t, fleet.Config{Share: func(scope retry.ScopeKey) bool { return scope != orders }})
	require.Nil(t, all.NewLimiter(orders, nil))
	require.NotNil(t, all.NewLimiter(retry.ScopeKey{}, nil))

	own := sendrate.NewLimiter(sendrate.Config{}, clock.System{})
	config := f.Config(adaptive.Config{
		SendCost: 3, NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return own },
	})
	require.InDelta(t, 3, config.SendCost, 0)
	require.Same(t, own, config.NewLimiter(retry.ScopeKey{}, clock.System{}))
	require.NotSame(t, own, config.NewLimiter(orders, clock.System{}))
}

// An impossible one does not count: the strategy reports it.
func TestSendLimitOfAConfigHoldsWhileTheScopeIsOpen(t *testing.T) {
	t.Parallel()
	for _, limit := range []adaptive.SendLimit{
		{Starting: 7, Ceiling: 7},
		{Ceiling: 0.001},
		{Starting: -1, Ceiling: 1},
		{Starting: 30, Ceiling: 20},
		{Starting: ratelimit.Rate(math.NaN()), Ceiling: 2},
		{Starting: ratelimit.Rate(math.Inf(1))},
		{Ceiling: 2, Burst: 0.5},
	} {
		config := newFleet(t, fleet.Config{}).Config(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return limit }})
		state := config.NewLimiter(orders, nil).State()
		require.Equal(t, limit.Validate() == nil, state.Limited, "%+v", limit)
		if state.Limited {
			require.InDelta(t, 7, state.FillRate, 0)
		}
	}
}

func TestKnownLimitHoldsFromTheFirstAttemptOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit       adaptive.SendLimit
		n           int
		least, most time.Duration
	}{
		"a ceiling alone, which never grows": {adaptive.SendLimit{Ceiling: 20}, 601, 29700 * ms, 30300 * ms},
		"below the least rate":               {adaptive.SendLimit{Ceiling: 0.001}, 5, time.Minute, time.Hour},
		"starting above the ceiling":         {adaptive.SendLimit{Starting: 100, Ceiling: 20}, 601, 29700 * ms, 30300 * ms},
		"negative":                           {adaptive.SendLimit{Starting: -5}, 50, 500 * ms, 500 * ms},
		"too high":                           {adaptive.SendLimit{Starting: 1e10}, 50, 500 * ms, 500 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, fleet.Config{Limit: func(retry.ScopeKey) adaptive.SendLimit { return c.limit }},
				func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
					took := sends(t, l, c.n)
					require.True(t, took >= c.least && took <= c.most, took)
				})
		})
	}
}

func TestEachScopeHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, namespace := range []string{"prod", "prod:a", "prod/a", "prod a"} {
		store := answers(fleet.Reply{})
		inBubble(t, fleet.Config{Store: store, Namespace: namespace}, func(t tester, f *fleet.Fleet, _ adaptive.Limiter) {
			for i, scope := range []retry.ScopeKey{
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
				send(t, f.NewLimiter(scope, nil), false)
				version, key, _ := strings.Cut(store.keys[i], ":")
				require.Regexp(t, "^f2-[0-9a-f]{8}$", version)
				text := fmt.Sprintf("%s %#v", namespace, scope)
				require.Empty(t, seen[key], "%s and %s", key, text)
				seen[key] = text
				require.True(t, strings.HasPrefix(key, namespace+":"), key)
			}
		})
	}
	require.Contains(t, seen, "prod:/111122223333/dynamodb/eu-central-1//orders")
}

func TestCloseEndsTheCalls(t *testing.T) {
	t.Parallel()
	ended := false
	store := &replies{call: func(ctx context.Context, _ int, _ fleet.Ask) (fleet.Reply, error) {
		<-ctx.Done()
		ended = true
		return fleet.Reply{}, ctx.Err()
	}}
	var seen journal
	inBubble(t, fleet.Config{Store: store, JoinWait: -1, Observer: seen.Observe}, func(t tester, f *fleet.Fleet, l adaptive.Limiter) {
		send(t, l, false)
		began := now()
		f.Close()
		require.True(t, ended, "Close has waited")
		require.Zero(t, now().Sub(began), "no longer than it must")
		f.Close()
		send(t, l, true)
		pass(t, time.Hour)
		send(t, l, true)
		send(t, f.NewLimiter(retry.ScopeKey{Scope: "new"}, nil), false)
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
			return fleet.Reply{}, errGone
		}}
		f := newFleet(t, fleet.Config{Store: store, JoinWait: -1})
		send(t, f.NewLimiter(orders, nil), false)
		began := now()
		f.Close()
		require.Equal(t, 250*ms, now().Sub(began))
		close(hung)
	})
}

func TestMemberWithSlotsGoesOnAloneAfterClose(t *testing.T) {
	t.Parallel()
	var seen journal
	inBubble(t, fleet.Config{Limit: limitOf(20), Observer: seen.Observe}, func(t tester, f *fleet.Fleet, l adaptive.Limiter) {
		sends(t, l, 200)
		f.Close()
		require.InDelta(t, 10*time.Second, sends(t, l, 200), float64(time.Second))
		require.Equal(t, "fleet-lost", source(l))
		require.Equal(t, "limited", seen.Kinds(), "Close is no loss")
	})
}

func TestRandomThatIsNoNumberFromZeroToOneCountsAsHalf(t *testing.T) {
	t.Parallel()
	for name, random := range map[string]func() float64{
		"not a number": math.NaN,
		"negative":     func() float64 { return -1e300 },
		"large":        func() float64 { return 1.5 },
		"a panic":      func() float64 { panic("random") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := answers(fleet.Reply{Epoch: 2, Rate: 10, Slots: 5, Gap: 100 * ms, State: "-"})
			var calls []time.Time
			store.fail = func(context.Context) (fleet.Reply, error) {
				calls = append(calls, now())
				return fleet.Reply{}, errGone
			}
			inBubble(t, fleet.Config{Store: store, Random: random}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				send(t, l, false)
				store.Away(true)
				for range 20 {
					require.LessOrEqual(t, send(t, l, false), 2*time.Second)
				}
				require.Equal(t, "fleet-lost", source(l))
				require.Equal(t, 500*ms, calls[1].Sub(calls[0]), "the second call comes half a second after the first")
			})
		})
	}
}

func TestCallbacksMayAskForTheState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f *fleet.Fleet
		var l adaptive.Limiter
		var states []fleet.State
		store := &replies{}
		f = newFleet(t, fleet.Config{
			Store: store, Limit: limitOf(20), Random: func() float64 { return float64(len(f.Snapshot())) / 2 },
			Observer: func(fleet.Event) {
				states = append(states, f.Snapshot()[0].State)
				l.Report(ratelimit.Response{})
				_ = l.State()
				_ = l.Expected(ratelimit.Request{})
				panic("observer")
			},
		})
		l = f.NewLimiter(orders, nil)
		send(t, l, false)
		store.Away(true)
		sends(t, l, 5)
		require.Equal(t, []fleet.State{fleet.Slots, fleet.Alone}, states)
	})
}

func TestStrategySharesTheRateOfTheFleet(t *testing.T) {
	t.Parallel()
	inBubble(t, fleet.Config{Limit: limitOf(20)}, func(t tester, f *fleet.Fleet, _ adaptive.Limiter) {
		strategy, err := adaptive.New(f.Config(adaptive.Config{}))
		require.NoError(t, err)
		began := now()
		for range 100 {
			require.NoError(t, retry.DoErr(context.Background(), strategy, operation, fine))
		}
		require.InDelta(t, 5*time.Second, now().Sub(began), float64(300*ms))
		scopes := strategy.Snapshot().Scopes
		require.Equal(t, "fleet", scopes[len(scopes)-1].SendRateSource)
		require.InDelta(t, 20, scopes[len(scopes)-1].FleetRate, 1)
		require.Positive(t, scopes[len(scopes)-1].StoreCalls)
		require.Equal(t, "local", scopes[0].SendRateSource, "the strategy as a whole")
	})
}
