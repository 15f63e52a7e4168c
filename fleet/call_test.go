package fleet_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestStoreThatFailsReachesNoCall(t *testing.T) {
	t.Parallel()
	var none *broken
	for name, fail := range map[string]func(ctx context.Context) (fleet.Reply, error){
		"an error":             nil,
		"an error that panics": func(context.Context) (fleet.Reply, error) { return fleet.Reply{}, none },
		"a panic":              func(context.Context) (fleet.Reply, error) { panic("store") },
		"the end of its goroutine": func(context.Context) (fleet.Reply, error) {
			runtime.Goexit()
			return fleet.Reply{}, nil
		},
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
			var seen journal
			store := &replies{fail: fail}
			inBubble(t, fleet.Config{
				Store: store, Limit: limitOf(20), Observer: seen.Observe, Random: func() float64 { return 0.5 },
			}, func(t tester, f *fleet.Fleet, l adaptive.Limiter) {
				sends(t, l, 200)
				require.Equal(t, "limited", seen.Kinds())
				store.Away(true)
				before := len(store.Asks())
				began := now()
				for range 200 {
					require.LessOrEqual(t, send(t, l, false), 350*ms)
				}
				require.InDelta(t, 10*time.Second, now().Sub(began), float64(time.Second), "it holds its rate")
				require.Equal(t, "limited lost", seen.Kinds())
				require.Equal(t, "fleet-lost", source(l))
				got := f.Snapshot()[0]
				require.Equal(t, fleet.Alone, got.State)
				require.Error(t, got.LastError)
				require.InDelta(t, 20, float64(got.OwnRate), 1)
				asks := store.Asks()[before:]
				require.LessOrEqual(t, len(asks), 8, "0.5, 1, 2, 2 seconds apart")
				require.Equal(t, uint64(len(asks)), got.Failures)
				for _, ask := range asks[1:] {
					require.InDelta(t, 1, ask.Want, 0, "alone it asks for one slot")
				}
				pass(t, 13*time.Second)
				calls := len(store.Asks())
				pass(t, time.Hour)
				require.Len(t, store.Asks(), calls, "idle it does not call")

				store.Away(false)
				sends(t, l, 260)
				require.Equal(t, "limited lost back", seen.Kinds())
				require.Equal(t, "fleet", source(l))
			})
		})
	}
}

// broken is an error that cannot be compared.
type broken struct{ err *error }

func (*broken) Error() string { return "broken" }

func (b *broken) Is(e error) bool { return errors.Is(*b.err, e) }

func TestCallThatReturnsAfterItsTimeoutDoesNotDelayTheNext(t *testing.T) {
	t.Parallel()
	calls := make(chan time.Time, 1000)
	store := &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
		calls <- now()
		if n == 1 {
			return fleet.Reply{Epoch: 2, Rate: 1, Slots: 1, State: "-"}, nil
		}
		// It heeds no end of its context.
		return fleet.Reply{}, errors.Join(clock.System{}.Sleep(context.Background(), 300*ms), errGone)
	}}
	inBubble(t, fleet.Config{Store: store, Random: func() float64 { return 0.5 }}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
		for range 2 {
			go func() { _, _ = l.Acquire(context.Background(), ratelimit.Request{}) }()
		}
		pass(t, time.Second)
		require.Len(t, calls, 3)
		<-calls
		require.Equal(t, -750*ms, (<-calls).Sub(<-calls), "half a second after the timeout")
		pass(t, time.Minute)
	})
}

// What no store can serve is no reason to call it without a pause.
func TestRepliesWithoutSlotsAreNoLoop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply fleet.Reply // zero means that of a Memory
		cost  float64
	}{
		"of a store that learns":         {reply: fleet.Reply{Epoch: 5}},
		"with a rate and no appointment": {reply: fleet.Reply{Epoch: 5, Rate: 10}},
		"for more than any store has":    {cost: 1e10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var memory fleet.Memory
			store := &replies{call: func(ctx context.Context, n int, ask fleet.Ask) (fleet.Reply, error) {
				switch {
				case n > 1000:
					return fleet.Reply{}, errGone
				case c.cost > 0:
					return memory.Call(ctx, "", ask)
				}
				return c.reply, nil
			}}
			inBubble(t, fleet.Config{Store: store, Limit: limitOf(10)}, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
				ctx, cancel := clock.WithTimeout(context.Background(), clock.System{}, 10*time.Second)
				defer cancel()
				for range 3 {
					go func() { _, _ = l.Acquire(ctx, ratelimit.Request{Cost: c.cost}) }()
				}
				pass(t, 10*time.Second)
				require.LessOrEqual(t, len(store.Asks()), 150)
			})
		})
	}
}
