package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
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

func TestSnapshotHasTheMembersInUse(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Config{Store: &fleet.Memory{}})
	kept := f.NewLimiter(orders, clock.System{})
	require.Empty(t, f.Snapshot(), "not used yet")
	func() {
		for i := range 100 {
			send(t, f.NewLimiter(retry.ScopeKey{Scope: fmt.Sprintf("job %02d", i)}, clock.System{}), false)
		}
		send(t, kept, false)
	}()
	names := func() (names []string) {
		for _, s := range f.Snapshot() {
			names = append(names, s.Scope)
		}
		return names
	}
	require.IsIncreasing(t, names()[1:])
	require.Equal(t, orders.String(), names()[0])
	require.Eventually(t, func() bool { // evicted scopes leave
		runtime.GC()
		return len(f.Snapshot()) < 10
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, orders.String(), names()[0])
	runtime.KeepAlive(kept)
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
		var told journal
		f := newFleet(t, fleet.Config{Store: store, JoinWait: -1, Observer: told.Observe})
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
		require.Empty(t, told.Kinds(), "Close is no loss")
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
		var told journal
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: limitOf(20), Observer: told.Observe})
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
		require.Equal(t, "limited", told.Kinds(), "Close is no loss")
	})
}

func TestLossIsToldAgainWhileItLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told journal
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{}, errors.New("gone")
		}}
		l := newFleet(t, fleet.Config{Store: store, Observer: told.Observe}).NewLimiter(orders, clock.System{})
		for began := now(); now().Sub(began) < 210*time.Second; {
			send(t, l, false)
			pass(t, time.Second)
		}
		require.Equal(t, "lost lost lost lost", told.Kinds())
	})
}

// A cluster can lose some of its keys, and a store can fail every other call.
func TestStoreIsBackOnceItAnswersAScopeThatItHadFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told journal
		away := true
		store := storeFunc(func(key string) (fleet.Reply, error) {
			if away && strings.HasSuffix(key, "two") {
				return fleet.Reply{}, errors.New("gone")
			}
			return fleet.Reply{}, nil
		})
		f := newFleet(t, fleet.Config{Store: store, Observer: told.Observe})
		one := f.NewLimiter(retry.ScopeKey{Resource: "one"}, clock.System{})
		two := f.NewLimiter(retry.ScopeKey{Resource: "two"}, clock.System{})
		for range 5 {
			send(t, two, false)
			send(t, one, false)
			pass(t, 3*time.Second)
		}
		require.Equal(t, "lost", told.Kinds(), "what one hears says nothing of two")
		for range 5 {
			synctest.Wait()
			away = !away
			send(t, two, false)
			pass(t, 3*time.Second)
		}
		require.Equal(t, "lost back", told.Kinds(), "a minute is not over")
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
			_ = l.Expected(1)
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

func TestSlogObserverWritesWhatAnOperatorMustKnow(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	observe := fleet.SlogObserver(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
	for kind := fleet.Limited; kind <= fleet.Opened; kind++ {
		e := fleet.Event{Kind: kind, Scope: orders, FleetRate: 480, OwnRate: 4.8000001}
		if kind == fleet.Lost || kind == fleet.Rejected {
			e.Err, e.Failing = errors.New("i/o timeout"), 425
		}
		observe(e)
		if e.Err != nil { // of a member that never joined
			e.FleetRate, e.OwnRate = 0, 0
			observe(e)
		}
	}
	const scope = " scope=111122223333/dynamodb/eu-central-1/orders"
	const rates = " fleet_rate=480 own_rate=4.8"
	const failed = ` failing=425 error="i/o timeout"`
	require.Equal(t, strings.Join([]string{
		`level=INFO msg="fleet: the send rate is shared"` + scope + rates,
		`level=WARN msg="fleet: store lost, holding the send rate"` + scope + rates + failed,
		`level=WARN msg="fleet: store out of reach, no shared send rate"` + scope + failed,
		`level=INFO msg="fleet: store back"` + scope + rates,
		`level=ERROR msg="fleet: the store rejects every call, holding the send rate"` + scope + rates + failed,
		`level=ERROR msg="fleet: the store rejects every call, no shared send rate"` + scope + failed,
		`level=INFO msg="fleet: no limit any more"` + scope + rates,
		"",
	}, "\n"), log.String())
}

func TestNamesOfKindsAndStates(t *testing.T) {
	t.Parallel()
	var names []string
	for kind := range fleet.Opened + 2 {
		names = append(names, kind.String())
	}
	for state := range fleet.Alone + 2 {
		names = append(names, state.String())
	}
	require.Equal(t, strings.Fields("unknown limited lost back rejected open unknown open learning slots alone unknown"), names)
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
