package line_test

import (
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
		_, _, err := queue.Acquire(t.Context(), ratelimit.Request{MaxWait: 3 * time.Second, OnWait: func(ratelimit.Wait) {
			clk.Advance(2 * time.Second)
		}})
		require.ErrorIs(t, err, line.ErrWaitLimit)
	})
	require.Equal(t, 3*time.Second, clk.Now().Sub(start))
}

// Callers give up, are served and sent away while several goroutines change the account. Each token goes
// to one caller, and each caller hears once.
func TestChangesConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 2000
		account := &purse{}
		queue := line.New(account, clock.System{})
		var all sync.WaitGroup
		var mu sync.Mutex
		served, refused := 0, 0
		for i := range callers {
			all.Go(func() {
				_, _, err := queue.Acquire(t.Context(), ratelimit.Request{MaxWait: time.Duration(1+i%100) * time.Millisecond})
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
					queue.Changed(true)
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
