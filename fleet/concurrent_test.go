package fleet_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/ratelimit"
)

// Callers give up at random, a hundred thousand times in all, and each slot is used once at
// most: no more attempts are sent than slots were given out.
func TestNoSlotIsUsedTwiceWhereverCallersGiveUp(t *testing.T) {
	t.Parallel()
	const callers, each = 200, 500
	synctest.Test(t, func(t *testing.T) {
		var memory fleet.Memory
		var given atomic.Int64
		store := &replies{call: func(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
			reply, err := memory.Call(ctx, "", ask)
			given.Add(int64(reply.Slots))
			return reply, err
		}}
		f := newFleet(t, fleet.Config{Store: store, Limit: limitOf(500)})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, false)
		given.Store(int64(f.Snapshot()[0].SlotsInHand))
		var sent, gaveUp, told atomic.Int64
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 3)) //nolint:gosec // small
				for range each {
					ctx, cancel := clock.WithTimeout(context.Background(), clock.System{}, time.Duration(random.IntN(400))*time.Millisecond)
					at, err := l.Acquire(ctx, ratelimit.Request{MaxQueue: random.IntN(3) * 100})
					if err == nil {
						sent.Add(1)
						l.Report(ratelimit.Response{Sent: at})
						told.Add(1)
					} else {
						gaveUp.Add(1)
					}
					<-ctx.Done()
					cancel()
				}
			})
		}
		wg.Wait()
		require.Equal(t, int64(callers*each), sent.Load()+gaveUp.Load())
		require.LessOrEqual(t, sent.Load(), given.Load())
		require.Greater(t, sent.Load(), given.Load()/2)
		state := l.State()
		waiting := state.Waiting
		require.Zero(t, waiting)
		require.GreaterOrEqual(t, state.SendTokens, 0.0)
		t.Log(given.Load(), "slots,", sent.Load(), "sent,", gaveUp.Load(), "gave up")
	})
}

// All that the store hears of is what the members have sent: answers are not lost and not
// counted twice, whatever the goroutines do.
func TestStoreHearsOfEachAnswerOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var memory fleet.Memory
		var heard atomic.Int64
		store := &replies{call: func(ctx context.Context, _ int, ask fleet.Ask) (fleet.Reply, error) {
			heard.Add(int64(ask.OK + ask.Bad))
			return memory.Call(ctx, "", ask)
		}}
		f := newFleet(t, fleet.Config{Store: store, Limit: limitOf(1e6)})
		l := f.NewLimiter(orders, clock.System{})
		send(t, l, false)
		var sent atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 300 {
					at, err := l.Acquire(context.Background(), ratelimit.Request{})
					if err != nil {
						t.Error(err)
						return
					}
					l.Report(ratelimit.Response{Sent: at})
					sent.Add(1)
					_ = l.State()
					_ = l.Expected(1)
					_ = f.Snapshot()
				}
			})
		}
		wg.Wait()
		for range 3 { // what was answered after the last call comes with the next one
			pass(t, 600*time.Millisecond)
			send(t, l, false)
		}
		require.InDelta(t, sent.Load(), heard.Load(), 5)
	})
}
