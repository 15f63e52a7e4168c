package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/retry"
)

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

func TestLossIsAnEventAgainWhileItLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen journal
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{}, errors.New("gone")
		}}
		l := newFleet(t, fleet.Config{Store: store, Observer: seen.Observe}).NewLimiter(orders, clock.System{})
		for began := now(); now().Sub(began) < 210*time.Second; {
			send(t, l, false)
			pass(t, time.Second)
		}
		require.Equal(t, "lost lost lost lost", seen.Kinds())
	})
}

func TestLossIsAnEventAgainAfterTheClockHasGoneBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen journal
		var moved atomic.Int64
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
			return fleet.Reply{}, errors.New("gone")
		}}
		clk := movedClock{by: &moved}
		l := newFleet(t, fleet.Config{Store: store, Observer: seen.Observe, Clock: clk}).NewLimiter(orders, nil)
		send(t, l, false)
		moved.Store(-int64(time.Hour))
		for began := now(); now().Sub(began) < 90*time.Second; {
			send(t, l, false)
			pass(t, time.Second)
		}
		require.Equal(t, "lost lost lost", seen.Kinds())
		require.InDelta(t, 0, clk.Now().Sub(seen.events[2].Time).Minutes(), 1)
	})
}

// A cluster can lose some of its keys, and a store can fail every other call.
func TestStoreIsBackOnceItAnswersAScopeThatItHadFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen journal
		away := true
		store := storeFunc(func(key string) (fleet.Reply, error) {
			if away && strings.HasSuffix(key, "two") {
				return fleet.Reply{}, errors.New("gone")
			}
			return fleet.Reply{}, nil
		})
		f := newFleet(t, fleet.Config{Store: store, Observer: seen.Observe})
		one := f.NewLimiter(retry.ScopeKey{Resource: "one"}, clock.System{})
		two := f.NewLimiter(retry.ScopeKey{Resource: "two"}, clock.System{})
		for range 5 {
			send(t, two, false)
			send(t, one, false)
			pass(t, 3*time.Second)
		}
		require.Equal(t, "lost", seen.Kinds(), "what one hears says nothing of two")
		for range 5 {
			synctest.Wait()
			away = !away
			send(t, two, false)
			pass(t, 3*time.Second)
		}
		require.Equal(t, "lost back", seen.Kinds(), "a minute is not over")
	})
}
