package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
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

func TestLossOfTheStoreIsOneEventAMinuteForTheWholeFleet(t *testing.T) {
	t.Parallel()
	const members = 10 // the race detector of Go 1.26 itself crashes where a hundred timers of a bubble fire at one instant
	for name, c := range map[string]struct {
		err    error
		joined bool          // the members have slots when they lose the store
		back   time.Duration // how far the clock goes back after the first loss
		kinds  string
	}{
		"never joined":              {err: errGone, kinds: "lost lost back"},
		"never joined, rejected":    {err: fmt.Errorf("NOPERM: %w", fleet.ErrRejected), kinds: "rejected rejected back"},
		"with a limit":              {err: context.DeadlineExceeded, joined: true, kinds: "lost lost back"},
		"with a limit and refused":  {err: fmt.Errorf("NOPERM: %w", fleet.ErrRejected), joined: true, kinds: "rejected rejected back"},
		"on a clock that goes back": {err: errGone, back: time.Hour, kinds: "lost lost lost back"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen journal
			var moved atomic.Int64
			store := &replies{
				call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
					if c.joined {
						return fleet.Reply{Epoch: 2, Rate: 100, Slots: 1, State: "-"}, nil
					}
					return fleet.Reply{}, nil
				},
				fail: func(context.Context) (fleet.Reply, error) { return fleet.Reply{}, c.err },
			}
			clk := movedClock{by: &moved}
			inBubble(t, fleet.Config{Store: store, Observer: seen.Observe, Clock: clk}, func(t tester, f *fleet.Fleet, _ adaptive.Limiter) {
				var all sync.WaitGroup
				var each []adaptive.Limiter
				for i := range members {
					each = append(each, f.NewLimiter(retry.ScopeKey{Scope: strconv.Itoa(i)}, nil))
				}
				sendFor := func(d time.Duration) {
					for _, l := range each {
						all.Go(func() {
							for began := now(); now().Sub(began) <= d; pass(t, 3*time.Second) {
								send(t, l, false)
							}
						})
					}
					all.Wait()
					synctest.Wait()
				}
				if c.joined {
					sendFor(0)
					require.Equal(t, strings.Fields(strings.Repeat("limited ", members)), strings.Fields(seen.Kinds()))
					seen.events = nil
				}
				store.Away(true)
				sendFor(6 * time.Second)
				moved.Store(-int64(c.back))
				sendFor(84 * time.Second)
				store.Away(false)
				sendFor(3 * time.Second)

				require.Equal(t, c.kinds, seen.Kinds())
				last := len(seen.events) - 2
				first, again := seen.events[0], seen.events[last]
				require.GreaterOrEqual(t, again.Time.Add(c.back).Sub(first.Time), time.Minute)
				require.InDelta(t, 0, clk.Now().Sub(again.Time).Minutes(), 1.5)
				require.Positive(t, first.Failing)
				require.Equal(t, []int{members, 0}, []int{again.Failing, seen.events[last+1].Failing})
				require.ErrorIs(t, again.Err, c.err)
				require.Equal(t, c.joined, again.FleetRate > 0, "one that never joined holds no rate of the fleet")
			})
		})
	}
}

// A cluster can lose some of its keys, and a store can fail every other call.
func TestStoreIsBackOnceItAnswersAScopeThatItHadFailed(t *testing.T) {
	t.Parallel()
	var seen journal
	bad, good := &replies{call: answers(fleet.Reply{}).call, away: true}, answers(fleet.Reply{})
	store := byKey{"two": bad, "one": good}
	inBubble(t, fleet.Config{Store: store, Observer: seen.Observe}, func(t tester, f *fleet.Fleet, _ adaptive.Limiter) {
		one, two := f.NewLimiter(retry.ScopeKey{Resource: "one"}, nil), f.NewLimiter(retry.ScopeKey{Resource: "two"}, nil)
		for range 5 {
			send(t, two, false)
			send(t, one, false)
			pass(t, 3*time.Second)
		}
		require.Equal(t, "lost", seen.Kinds(), "what one hears says nothing of two")
		for i := range 5 {
			bad.Away(i%2 == 1)
			send(t, two, false)
			pass(t, 3*time.Second)
		}
		require.Equal(t, "lost back", seen.Kinds(), "a minute is not over")
	})
}

// byKey are stores for keys that end in these words.
type byKey map[string]fleet.Store

func (s byKey) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	return s[key[len(key)-3:]].Call(ctx, key, ask)
}
