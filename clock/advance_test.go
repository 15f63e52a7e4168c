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

func TestFakeAdvanceFiresInOrderOfTimeThenOfRegistration(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	type firing struct {
		name string
		at   time.Duration
	}
	var fired []firing
	arm := func(name string, d time.Duration) clock.Timer {
		return clk.AfterFunc(d, func() { fired = append(fired, firing{name, clk.Now().Sub(origin())}) })
	}
	arm("c", 3*time.Second)
	moved := arm("a2", time.Hour)
	arm("b", 2*time.Second)
	arm("a1", time.Second)
	moved.Reset(time.Second) // due with a1, and registered after it
	arm("never", 5*time.Second)
	arm("a3", time.Second)

	clk.Advance(4 * time.Second)

	require.Equal(t, []firing{
		{"a1", time.Second},
		{"a2", time.Second},
		{"a3", time.Second},
		{"b", 2 * time.Second},
		{"c", 3 * time.Second},
	}, fired)
	require.Equal(t, origin().Add(4*time.Second), clk.Now())
	require.Equal(t, 1, clk.Waiters())
}

func TestFakeAdvanceFromAFunctionAddsUp(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	var ran []time.Duration
	note := func() { ran = append(ran, clk.Now().Sub(origin())) }
	clk.AfterFunc(time.Second, func() {
		clk.Advance(time.Minute)
		note()
	})
	clk.AfterFunc(30*time.Second, note)

	clk.Advance(10 * time.Second)

	require.Equal(t, []time.Duration{30 * time.Second, 70 * time.Second}, ran)
	require.Equal(t, origin().Add(70*time.Second), clk.Now())
}

func TestFakeAdvanceAfterAPanickingFunction(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	clk.AfterFunc(time.Second, func() { panic("on purpose") })

	require.PanicsWithValue(t, "on purpose", func() { clk.Advance(10 * time.Second) })
	require.Equal(t, origin().Add(time.Second), clk.Now())

	clk.Advance(0)
	require.Equal(t, origin().Add(10*time.Second), clk.Now())
}

func TestFakeAdvanceRefusesToGoBack(t *testing.T) {
	t.Parallel()
	var clk clock.Fake

	require.PanicsWithValue(t, "clock: Fake.Advance by the negative duration -1s", func() { clk.Advance(-time.Second) })

	require.Equal(t, origin(), clk.Now())
}

func TestFakeAdvanceToNext(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	fired := 0
	for _, d := range []time.Duration{5 * time.Second, 2 * time.Second, 5 * time.Second} {
		clk.AfterFunc(d, func() { fired++ })
	}
	sleep := startSleep(t.Context(), t, &clk, 5*time.Second)
	steps := []struct {
		want      time.Duration
		wantOK    bool
		wantFired int
	}{
		{2 * time.Second, true, 1},
		{3 * time.Second, true, 3},
		{0, false, 3},
	}
	for _, step := range steps {
		d, ok := clk.AdvanceToNext()
		require.Equal(t, step.want, d)
		require.Equal(t, step.wantOK, ok)
		require.Equal(t, step.wantFired, fired)
	}
	require.NoError(t, <-sleep)
	require.Equal(t, origin().Add(5*time.Second), clk.Now())

	clk.Advance(time.Second)
	require.Equal(t, origin().Add(6*time.Second), clk.Now())
}

func TestFakeAdvanceToNextStopsBeforeWhatIsArmedOnTheWay(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	fired := 0
	clk.AfterFunc(time.Second, func() {
		clk.AfterFunc(1, func() { fired++ })
	})

	d, ok := clk.AdvanceToNext()
	require.True(t, ok)
	require.Equal(t, time.Second, d)
	require.Zero(t, fired)

	d, ok = clk.AdvanceToNext()
	require.True(t, ok)
	require.Equal(t, time.Duration(1), d)
	require.Equal(t, 1, fired)
}

func TestFakeAdvanceToNextWithoutAnInstant(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- clk.Await(ctx, nil) }()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))

	_, ok := clk.AdvanceToNext()

	require.False(t, ok)
	cancel()
	require.Equal(t, context.Canceled, <-ended)
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
