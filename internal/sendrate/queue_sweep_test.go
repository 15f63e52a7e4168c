package sendrate_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// till is an account whose tokens come one a second, as far as it says. It counts how often a line
// asks.
type till struct {
	purse
	asked int
}

func (a *till) Until(_ time.Time, cost float64) time.Duration {
	a.asked++
	return time.Duration(cost * float64(time.Second))
}

// A sweep that looked at all callers at once would hold the lock for many milliseconds.
func TestSweepLooksAtABatchOfCallersWhileItHoldsTheLock(t *testing.T) {
	t.Parallel()
	const callers = 100_000
	var clk clock.Fake
	account := new(till)
	line := sendrate.NewLine(account, &clk)
	for range callers {
		line.Queue(ratelimit.Request{MaxWait: callers * time.Second})
	}
	all, holds := 0, 0
	for more := line.BeginSweep(); more; holds++ {
		account.asked = 0
		more = line.SweepOn()
		require.LessOrEqual(t, account.asked, sendrate.Batch)
		all += account.asked
	}
	require.Equal(t, callers, all)
	require.LessOrEqual(t, sendrate.Batch, 1000, "each takes some 200 ns")
	require.Equal(t, (callers+sendrate.Batch-1)/sendrate.Batch, holds)
	account.asked = 0
	line.Poke()
	require.Equal(t, callers, account.asked)
	require.Equal(t, callers, line.Waiting())
}

// Callers come, go and are served between the batches of a sweep. It counts right all the
// same.
func TestSweepCountsThoseWhoComeAndGoInBetween(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 6))
		var clk clock.Fake
		account := new(till)
		line := sendrate.NewLine(account, &clk)
		var leaves []func()
		queue := func() {
			cost := float64(1 + random.IntN(5))
			// A caller is just not refused, and waits less as soon as another one leaves.
			leaves = append(leaves, line.Queue(ratelimit.Request{Cost: cost, MaxWait: line.Expected(cost)}))
		}
		for range 4 * sendrate.Batch {
			queue()
		}
		more := line.BeginSweep()
		for ; more; more = line.SweepOn() {
			for range random.IntN(40) {
				switch random.IntN(3) {
				case 0:
					queue()
				case 1:
					i := random.IntN(len(leaves))
					leaves[i]()
					leaves = slices.Delete(leaves, i, i+1)
				default:
					account.tokens++
					line.Wake()
				}
			}
			ahead, owed, wantAhead, wantOwed := line.Swept()
			require.Equal(t, wantAhead, ahead, "seed %d", seed)
			require.InDelta(t, wantOwed, owed, 0, "seed %d", seed)
		}
		require.Positive(t, line.Waiting())
	}
}

// Callers give up, are served and sent away while several goroutines poke the line. Each token goes
// to one caller, and each caller hears once.
func TestSweepConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 8 * sendrate.Batch
		account := &purse{}
		line := sendrate.NewLine(account, clock.System{})
		var all sync.WaitGroup
		var mu sync.Mutex
		served, refused := 0, 0
		for i := range callers {
			all.Go(func() {
				_, err := line.Acquire(t.Context(), ratelimit.Request{MaxWait: time.Duration(1+i%100) * time.Millisecond})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					refused++
				} else {
					served++
				}
			})
		}
		for range 4 {
			all.Go(func() {
				for range 50 {
					account.Give(time.Now(), 2)
					line.Poke()
					_ = clock.System{}.Sleep(t.Context(), time.Millisecond)
				}
			})
		}
		all.Wait()
		require.Equal(t, callers, served+refused)
		require.InDelta(t, 4*50*2, float64(served)+account.tokens, 0)
		require.Zero(t, line.Waiting())
	})
}
