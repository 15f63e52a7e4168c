package clock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// asked counts how often a clock asks a context for something.
type asked struct {
	context.Context //nolint:containedctx // this type is a context
	times           atomic.Int64
}

func (a *asked) Value(key any) any {
	a.times.Add(1)
	return a.Context.Value(key)
}

func (a *asked) Err() error {
	a.times.Add(1)
	return a.Context.Err()
}

// Before each move of the time, Run has to know that no context has ended. It asks a context that
// many functions wait with once.
func TestFakeRunAsksAContextOnceForAllThatWaitWithIt(t *testing.T) {
	t.Parallel()
	const rounds = 3
	perSleep := func(functions int) float64 {
		var clk clock.Fake
		parent := &asked{Context: t.Context()}
		ctx, cancel := clk.WithTimeout(parent, time.Hour)
		defer cancel()
		fs := make([]func(), functions)
		for i := range fs {
			fs[i] = func() {
				for range rounds {
					_ = clk.Sleep(ctx, time.Duration(1000+i))
				}
			}
		}
		clk.Run(fs...)
		require.Len(t, clk.Waits(), rounds*functions)
		return float64(parent.times.Load()) / float64(rounds*functions)
	}
	require.LessOrEqual(t, perSleep(1600), 3*perSleep(100))
}

// Contexts end and begin while others are waited with.
func TestFakeRunKeepsTheContextsOfManyWaitsApart(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	const functions = 60
	ends := make([]time.Duration, functions)
	errs := make([]error, functions)
	cancels := make([]context.CancelFunc, functions)
	fs := make([]func(), functions)
	for i := range fs {
		ctx, cancel := context.WithCancel(t.Context())
		cancels[i] = cancel
		switch i % 3 {
		case 0: // cancelled by the next function
			fs[i] = func() {
				errs[i] = clk.Sleep(ctx, time.Hour)
				ends[i] = since(&clk)
			}
		case 1: // cancels
			fs[i] = func() {
				_ = clk.Sleep(ctx, time.Duration(functions-i)*time.Second)
				cancels[i-1]()
				errs[i] = clk.Sleep(ctx, time.Hour)
				ends[i] = since(&clk)
			}
		default: // has a deadline below a context of its own
			fs[i] = func() {
				limited, stop := clk.WithTimeout(ctx, time.Duration(i)*time.Minute)
				defer stop()
				errs[i] = clk.Await(limited, nil)
				ends[i] = since(&clk)
			}
		}
	}
	clk.Run(fs...)
	for i := range fs {
		cancels[i]()
		second := time.Duration(functions-i) * time.Second
		switch i % 3 {
		case 0:
			require.Equal(t, context.Canceled, errs[i])
			require.Equal(t, second-time.Second, ends[i], "at once")
		case 1:
			require.NoError(t, errs[i])
			require.Equal(t, time.Hour+second, ends[i])
		default:
			require.Equal(t, context.DeadlineExceeded, errs[i])
			require.Equal(t, time.Duration(i)*time.Minute, ends[i])
		}
	}
	require.Zero(t, clk.Waiters())
	require.Zero(t, clk.Contexts(), "the clock has let go of all")
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

func TestFakeBlockUntil(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, clk.BlockUntil(cancelled, 0), "reached, whatever the context")
	require.NoError(t, clk.BlockUntil(cancelled, -1))
	clk.AfterFunc(time.Second, func() {})
	require.NoError(t, clk.BlockUntil(cancelled, 1))

	err := clk.BlockUntil(cancelled, 3)

	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "clock: too few waiters on the fake clock: context canceled: 1 of 3")
	require.Zero(t, clk.Watchers(), "nothing stays behind")
}

func TestFakeBlockUntilWaits(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	reached := make(chan int, 3)
	ctx, cancel := context.WithCancel(t.Context())
	for _, n := range []int{1, 2, 3} {
		go func() {
			if clk.BlockUntil(ctx, n) != nil {
				n = -n
			}
			reached <- n
		}()
	}

	timer := clk.AfterFunc(time.Second, func() {})
	require.Equal(t, 1, <-reached)
	timer.Reset(time.Minute) // the same waiter
	startSleep(t.Context(), t, &clk, time.Second)
	require.Equal(t, 2, <-reached)
	cancel()
	require.Equal(t, -3, <-reached)

	require.Zero(t, clk.Watchers())
	clk.Advance(time.Second)
}

func TestFakeCountsAwaitsTogetherWithTheirTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		woken := make(chan struct{})
		clk.AfterFunc(time.Second, func() { close(woken) })
		reached := false
		go func() { reached = clk.BlockUntil(t.Context(), 3) == nil }()
		await := func() {
			go func() { _ = clk.Await(t.Context(), woken) }()
			synctest.Wait()
		}
		for range 2 {
			await()
		}
		require.False(t, reached)
		require.Equal(t, 2, clk.Waiters())

		await()

		require.True(t, reached)
		require.Equal(t, 3, clk.Waiters())
		startSleep(t.Context(), t, &clk, time.Minute)
		require.Equal(t, 4, clk.Waiters())
		moved, ok := clk.AdvanceToNext()
		require.True(t, ok)
		require.Equal(t, time.Second, moved)
		require.Equal(t, 1, clk.Waiters(), "the timer has ended the other waits")
		clk.AdvanceToNext()
	})
}
