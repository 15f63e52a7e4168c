package line_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/ratelimit"
)

// The time that the caller spends in OnWait is a part of the wait.
func TestAWaitBeginsBeforeOnWait(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	queue := line.New(new(purse), &clk)
	start := clk.Now()
	clk.Run(func() {
		_, err := queue.Acquire(t.Context(), ratelimit.Request{MaxWait: 3 * time.Second, OnWait: func(ratelimit.Wait) {
			clk.Advance(2 * time.Second)
		}})
		require.ErrorIs(t, err, line.ErrWaitLimit)
	})
	require.Equal(t, 3*time.Second, clk.Now().Sub(start))
}

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
	queue := line.New(account, &clk)
	for range callers {
		queue.Queue(ratelimit.Request{MaxWait: callers * time.Second})
	}
	all, holds := 0, 0
	for more := queue.BeginSweep(); more; holds++ {
		account.asked = 0
		more = queue.SweepOn()
		require.LessOrEqual(t, account.asked, line.Batch)
		all += account.asked
	}
	require.Equal(t, callers, all)
	require.LessOrEqual(t, line.Batch, 1000, "each takes some 200 ns")
	require.Equal(t, (callers+line.Batch-1)/line.Batch, holds)
	account.asked = 0
	queue.Poke()
	require.Equal(t, callers, account.asked)
	require.Equal(t, callers, queue.Waiting())
}

// Callers come, go and are served between the batches of a sweep. It counts right all the
// same.
func TestSweepCountsThoseWhoComeAndGoInBetween(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 6))
		var clk clock.Fake
		account := new(till)
		queue := line.New(account, &clk)
		var leaves []func()
		enter := func() {
			cost := float64(1 + random.IntN(5))
			// A caller is just not refused, and waits less as soon as another one leaves.
			leaves = append(leaves, queue.Queue(ratelimit.Request{Cost: cost, MaxWait: queue.Expected(cost)}))
		}
		for range 4 * line.Batch {
			enter()
		}
		more := queue.BeginSweep()
		for ; more; more = queue.SweepOn() {
			for range random.IntN(40) {
				switch random.IntN(3) {
				case 0:
					enter()
				case 1:
					i := random.IntN(len(leaves))
					leaves[i]()
					leaves = slices.Delete(leaves, i, i+1)
				default:
					account.tokens++
					queue.Wake()
				}
			}
			ahead, owed, wantAhead, wantOwed := queue.Swept()
			require.Equal(t, wantAhead, ahead, "seed %d", seed)
			require.InDelta(t, wantOwed, owed, 0, "seed %d", seed)
		}
		require.Positive(t, queue.Waiting())
	}
}

// Callers give up, are served and sent away while several goroutines poke the line. Each token goes
// to one caller, and each caller hears once.
func TestSweepConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 8 * line.Batch
		account := &purse{}
		queue := line.New(account, clock.System{})
		var all sync.WaitGroup
		var mu sync.Mutex
		served, refused := 0, 0
		for i := range callers {
			all.Go(func() {
				_, err := queue.Acquire(t.Context(), ratelimit.Request{MaxWait: time.Duration(1+i%100) * time.Millisecond})
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
					queue.Poke()
					_ = clock.System{}.Sleep(t.Context(), time.Millisecond)
				}
			})
		}
		all.Wait()
		require.Equal(t, callers, served+refused)
		require.InDelta(t, 4*50*2, float64(served)+account.tokens, 0)
		require.Zero(t, queue.Waiting())
	})
}
