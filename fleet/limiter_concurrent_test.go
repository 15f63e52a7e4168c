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
