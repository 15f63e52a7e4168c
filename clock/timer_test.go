package clock_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// The caller holds a lock that the function takes: running it inside AfterFunc
// or Reset would hang.
func TestFakeTimerDueAtOnceRunsInItsOwnGoroutine(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, -time.Second} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			var mu sync.Mutex
			ran := make(chan time.Time, 2)
			f := func() {
				mu.Lock()
				defer mu.Unlock()
				ran <- clk.Now()
			}

			mu.Lock()
			timer := clk.AfterFunc(d, f)
			require.Zero(t, clk.Waiters())
			mu.Unlock()
			require.Equal(t, origin(), <-ran)
			require.False(t, timer.Stop())

			require.False(t, timer.Reset(time.Minute))
			mu.Lock()
			require.True(t, timer.Reset(d), "the call in a minute is replaced")
			require.Zero(t, clk.Waiters())
			mu.Unlock()
			require.Equal(t, origin(), <-ran)

			clk.Advance(time.Hour)
			require.Empty(t, ran)
		})
	}
}

func TestFakeTimerFunctionMayUseTheClock(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	var ran []time.Duration
	note := func() { ran = append(ran, clk.Now().Sub(origin())) }
	victim := clk.AfterFunc(5*time.Second, note)
	var timer clock.Timer
	timer = clk.AfterFunc(time.Second, func() {
		note()
		victim.Stop()
		if len(ran) < 3 {
			timer.Reset(2 * time.Second)
			return
		}
		clk.AfterFunc(time.Second, note)
		clk.AfterFunc(time.Hour, note)
	})

	clk.Advance(10 * time.Second)

	require.Equal(t, []time.Duration{1 * time.Second, 3 * time.Second, 5 * time.Second, 6 * time.Second}, ran)
	require.Equal(t, origin().Add(10*time.Second), clk.Now())
	require.Equal(t, 1, clk.Waiters())
}

// Every arming ends in exactly one call or one successful Stop or Reset.
func TestFakeTimersConcurrentSafe(t *testing.T) {
	t.Parallel()
	const timers, rounds = 200, 30
	var clk clock.Fake
	var armed, calls, replaced atomic.Int64
	var work, moving sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		moving.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					clk.Advance(time.Millisecond)
				}
			}
		})
	}
	for i := range timers {
		work.Go(func() {
			timer := clk.AfterFunc(time.Millisecond, func() { calls.Add(1) })
			armed.Add(1)
			for r := range rounds {
				if (i+r)%3 == 0 {
					if timer.Stop() {
						replaced.Add(1)
					}
					continue
				}
				if timer.Reset(time.Duration(1+r%4) * time.Millisecond) {
					replaced.Add(1)
				}
				armed.Add(1)
			}
		})
	}
	work.Wait()
	close(stop)
	moving.Wait()
	clk.Advance(time.Hour)

	require.Equal(t, armed.Load(), calls.Load()+replaced.Load())
	require.Zero(t, clk.Waiters())
}
