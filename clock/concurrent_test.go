package clock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestFakeSleepersWakeOnceAtTheirInstantConcurrentSafe(t *testing.T) {
	t.Parallel()
	const sleepers, instants = 400, 20
	var clk clock.Fake
	type wake struct {
		due, at time.Time
		err     error
	}
	wakes := make(chan wake, sleepers)
	for i := range sleepers {
		d := time.Duration(1+i%instants) * time.Millisecond
		go func() {
			err := clk.Sleep(context.Background(), d)
			wakes <- wake{origin().Add(d), clk.Now(), err}
		}()
	}
	require.NoError(t, clk.BlockUntil(t.Context(), sleepers))

	for i := range instants {
		d, ok := clk.AdvanceToNext()
		require.True(t, ok)
		require.Equal(t, time.Millisecond, d)
		require.Equal(t, sleepers-(i+1)*sleepers/instants, clk.Waiters())
		for range sleepers / instants {
			w := <-wakes
			require.NoError(t, w.err)
			require.Equal(t, w.due, w.at)
		}
	}

	require.Empty(t, wakes)
	require.Len(t, clk.Waits(), sleepers)
}

// Movers and sleepers run freely; what they move and sleep must add up.
func TestFakeMoversConcurrentSafe(t *testing.T) {
	t.Parallel()
	const movers, moves, sleepers, sleeps = 8, 50, 200, 5
	var clk clock.Fake
	var early, wokenSleeps atomic.Int64
	var asleep, moving sync.WaitGroup
	for i := range sleepers {
		asleep.Go(func() {
			for range sleeps {
				before, d := clk.Now(), time.Duration(1+i%7)*time.Millisecond
				if clk.Sleep(context.Background(), d) == nil {
					wokenSleeps.Add(1)
				}
				if clk.Now().Before(before.Add(d)) {
					early.Add(1)
				}
			}
		})
	}
	for range movers {
		moving.Go(func() {
			last := clk.Now()
			for range moves {
				clk.Advance(time.Millisecond)
				now := clk.Now()
				if now.Before(last.Add(time.Millisecond)) {
					early.Add(1)
				}
				last = now
			}
		})
	}
	moving.Wait()
	require.Equal(t, origin().Add(movers*moves*time.Millisecond), clk.Now())

	finished := make(chan struct{})
	go func() {
		asleep.Wait()
		close(finished)
	}()
	for running := true; running; {
		select {
		case <-finished:
			running = false
		default:
			clk.AdvanceToNext()
		}
	}
	require.Zero(t, early.Load(), "times that came before they were due")
	require.EqualValues(t, sleepers*sleeps, wokenSleeps.Load())
	require.Len(t, clk.Waits(), sleepers*sleeps)
	require.Zero(t, clk.Waiters())
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

func TestFakeCancelledSleepersConcurrentSafe(t *testing.T) {
	t.Parallel()
	const sleepers = 300
	var clk clock.Fake
	var woken, cancelled atomic.Int64
	var asleep sync.WaitGroup
	cancels := make([]context.CancelFunc, sleepers)
	for i := range sleepers {
		ctx, cancel := context.WithCancel(t.Context())
		cancels[i] = cancel
		asleep.Go(func() {
			if clk.Sleep(ctx, time.Duration(1+i)*time.Millisecond) == nil {
				woken.Add(1)
			} else {
				cancelled.Add(1)
			}
		})
	}
	require.NoError(t, clk.BlockUntil(t.Context(), sleepers))

	var racing sync.WaitGroup
	racing.Go(func() {
		for i := range sleepers {
			cancels[sleepers-1-i]()
		}
	})
	racing.Go(func() { clk.Advance(sleepers * time.Millisecond) })
	racing.Wait()
	asleep.Wait()

	require.EqualValues(t, sleepers, woken.Load()+cancelled.Load())
	require.Zero(t, clk.Waiters())
}

func TestFakeContextsConcurrentSafe(t *testing.T) {
	t.Parallel()
	const contexts = 300
	var clk clock.Fake
	parent, cancelParent := context.WithCancel(t.Context())
	var expired, cancelled, other atomic.Int64
	var work sync.WaitGroup
	started := make(chan struct{}, contexts)
	for i := range contexts {
		work.Go(func() {
			ctx, cancel := clk.WithTimeout(parent, time.Duration(1+i)*time.Millisecond)
			defer cancel()
			if i%3 == 0 {
				cancel()
			}
			started <- struct{}{}
			<-ctx.Done()
			switch err := ctx.Err(); {
			case err != context.Cause(ctx): //nolint:errorlint // the very same value
				other.Add(1)
			case err == context.DeadlineExceeded:
				expired.Add(1)
			case err == context.Canceled:
				cancelled.Add(1)
			}
		})
	}
	for range contexts {
		<-started
	}

	var racing sync.WaitGroup
	for range 4 {
		racing.Go(func() { clk.Advance(contexts / 8 * time.Millisecond) })
	}
	racing.Go(cancelParent)
	racing.Wait()
	work.Wait()

	require.EqualValues(t, contexts, expired.Load()+cancelled.Load())
	require.Zero(t, other.Load())
	require.Zero(t, clk.PendingDeadlines())
}
