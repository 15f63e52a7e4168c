package fleet_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

// Callers give up at random. No more attempts are sent than slots were given out, and the store hears
// of each answer once.
func TestNoSlotIsUsedTwiceWhereverCallersGiveUp(t *testing.T) {
	t.Parallel()
	const callers, each = 100, 100
	var given, heard, sent, gaveUp atomic.Int64
	var memory fleet.Memory
	store := &replies{call: func(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
		reply, err := memory.Call(ctx, "", ask)
		given.Add(int64(reply.Slots))
		heard.Add(int64(ask.OK + ask.Bad))
		return reply, err
	}}
	inBubble(t, fleet.Config{Store: store, Limit: limitOf(500)}, func(t tester, f *fleet.Fleet, l adaptive.Limiter) {
		send(t, l, false)
		given.Store(int64(f.Snapshot()[0].SlotsInHand))
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 3)) //nolint:gosec // small
				for range each {
					ctx, cancel := clock.WithTimeout(context.Background(), clock.System{}, time.Duration(random.IntN(400))*ms)
					at, err := l.Acquire(ctx, ratelimit.Request{MaxQueue: random.IntN(3) * 50})
					if err == nil {
						sent.Add(1)
						l.Report(ratelimit.Response{Sent: at})
					} else {
						gaveUp.Add(1)
					}
					_, _, _ = l.State(), l.Expected(ratelimit.Request{}), f.Snapshot()
					<-ctx.Done()
					cancel()
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, callers*each, sent.Load()+gaveUp.Load())
		require.LessOrEqual(t, sent.Load(), given.Load())
		require.Greater(t, sent.Load(), given.Load()/2)
		state := l.State()
		require.Zero(t, state.Waiting)
		require.GreaterOrEqual(t, state.SendTokens, 0.0)
		for range 3 { // what was answered after the last call comes with the next one
			pass(t, 600*ms)
			send(t, l, false)
		}
		require.InDelta(t, sent.Load(), heard.Load(), 5)
	})
}

// wild replies at random for some time, and then as it should.
type wild struct {
	memory fleet.Memory
	well   atomic.Bool

	mu     sync.Mutex
	random *rand.Rand
}

// N returns a number from 0 to n - 1.
func (w *wild) N(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// Time returns less than so many milliseconds.
func (w *wild) Time(n int) time.Duration { return time.Duration(w.N(n)) * ms }

func (w *wild) Call(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
	if w.well.Load() {
		return w.memory.Call(ctx, "", ask)
	}
	reply := fleet.Reply{Epoch: uint64(w.N(5)), State: "x"} //nolint:gosec // small
	switch w.N(10) {
	case 0:
		return fleet.Reply{}, errGone
	case 1:
		_ = clock.System{}.Sleep(context.Background(), w.Time(1000)) // it heeds no context
	case 2:
		return fleet.Reply{}, nil
	case 3:
		return reply, nil
	case 4:
		reply.Rate, reply.Slots, reply.Gap = 5, w.N(5), w.Time(200)
		return reply, nil
	case 5:
		reply.Rate, reply.Again = 5, w.Time(2000)
		return reply, nil
	case 6:
		w.memory.Flush()
	}
	_ = clock.System{}.Sleep(ctx, w.Time(30))
	return w.memory.Call(context.Background(), "", ask)
}

// Request returns one with limits at random, and a context to go with it.
func (w *wild) Request() (context.Context, context.CancelFunc, ratelimit.Request) {
	costs := []float64{0, 1, 0.3, 2, 7}
	r := ratelimit.Request{Cost: costs[w.N(len(costs))], NoWait: w.N(6) == 0, MaxQueue: 12 * w.N(3)}
	if w.N(4) == 0 {
		r.MaxWait = w.Time(2000)
	}
	if w.N(4) == 0 {
		r.NotAfter = now().Add(w.Time(2000))
	}
	if w.N(3) == 0 {
		ctx, cancel := clock.WithTimeout(context.Background(), clock.System{}, w.Time(2000))
		return ctx, cancel, r
	}
	ctx, cancel := context.WithCancel(context.Background())
	if w.N(4) == 0 {
		clock.System{}.AfterFunc(w.Time(1000), cancel)
	}
	return ctx, cancel, r
}

// In every state some timer or call goes on for the attempts that wait, and none does when
// there are none.
func TestNoAttemptWaitsForEverWhateverTheStoreReplies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		w := &wild{random: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // for a test
		store := &replies{call: w.Call}
		config := fleet.Config{Store: store}
		if seed%2 == 0 {
			config.Limit = limitOf(ratelimit.Rate(5 + 3*seed))
		}
		inBubble(t, config, func(t tester, _ *fleet.Fleet, l adaptive.Limiter) {
			var callers sync.WaitGroup
			for range 200 {
				callers.Go(func() {
					pass(t, w.Time(10_000))
					ctx, cancel, r := w.Request()
					defer cancel()
					if sent, err := l.Acquire(ctx, r); err == nil {
						pass(t, w.Time(20))
						l.Report(ratelimit.Response{Sent: sent, Cost: r.Cost, Throttled: w.N(15) == 0})
					}
				})
			}
			pass(t, 10*time.Second)
			w.well.Store(true)
			callers.Wait() // a deadlock of the bubble where none of the timers is set
			require.Zero(t, l.State().Waiting)
			pass(t, 30*time.Second)
			calls := len(store.Asks())
			pass(t, time.Hour)
			require.Len(t, store.Asks(), calls, "seed %d", seed)
		})
	}
}
