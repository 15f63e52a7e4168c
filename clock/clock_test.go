package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// onEachClock plays in a bubble with either clock, whose time passes while the function waits.
func onEachClock(t *testing.T, name string, play func(t *testing.T, clk clock.Clock)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { play(t, clock.System{}) })
		synctest.Test(t, func(t *testing.T) {
			var clk clock.Fake
			clk.Run(func() { play(t, &clk) })
			require.Zero(t, clk.Waiters())
		})
	})
}

func TestSleep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d, cancelAfter time.Duration // cancelAfter: negative for before the sleep, zero for never
		err            error
		slept          time.Duration
	}{
		"sleeps for d":                    {d: 3 * time.Second, slept: 3 * time.Second},
		"sleeps for a nanosecond":         {d: 1, slept: 1},
		"zero does not sleep":             {d: 0},
		"negative does not sleep":         {d: -time.Second},
		"cancelled while asleep":          {d: time.Hour, cancelAfter: time.Second, err: context.Canceled, slept: time.Second},
		"cancelled before":                {d: time.Hour, cancelAfter: -1, err: context.Canceled},
		"cancelled before wins over zero": {d: 0, cancelAfter: -1, err: context.Canceled},
		"cancelled before, negative":      {d: -1, cancelAfter: -1, err: context.Canceled},
		"cancelled after":                 {d: time.Second, cancelAfter: time.Hour, slept: time.Second},
		"a deadline":                      {d: 2 * time.Hour, err: context.DeadlineExceeded, slept: time.Hour},
	} {
		onEachClock(t, name, func(t *testing.T, clk clock.Clock) {
			t.Helper()
			ctx, cancel := clock.WithTimeout(t.Context(), clk, time.Hour)
			defer cancel()
			switch {
			case c.cancelAfter < 0:
				cancel()
			case c.cancelAfter > 0:
				defer clk.AfterFunc(c.cancelAfter, cancel).Stop()
			}
			start := clk.Now()
			require.Equal(t, c.err, clk.Sleep(ctx, c.d))
			require.Equal(t, c.slept, clk.Now().Sub(start))
			if fake, ok := clk.(*clock.Fake); ok {
				require.Equal(t, c.slept > 0, fake.Waits() != nil)
			}
		})
	}
}

func TestTimers(t *testing.T) {
	t.Parallel()
	type act func(t *testing.T, clk clock.Clock, timer clock.Timer)
	const s = time.Second
	stop := func(want bool) act {
		return func(t *testing.T, _ clock.Clock, timer clock.Timer) { t.Helper(); require.Equal(t, want, timer.Stop()) }
	}
	reset := func(d time.Duration, want bool) act {
		return func(t *testing.T, _ clock.Clock, timer clock.Timer) {
			t.Helper()
			require.Equal(t, want, timer.Reset(d))
		}
	}
	pass := func(d time.Duration) act {
		return func(t *testing.T, clk clock.Clock, _ clock.Timer) {
			t.Helper()
			require.NoError(t, clk.Sleep(t.Context(), d))
			synctest.Wait()
		}
	}
	for name, c := range map[string]struct {
		d    time.Duration
		acts []act
		want []time.Duration // when the function ran, since the start
	}{
		"left alone":          {10 * s, nil, []time.Duration{10 * s}},
		"zero":                {0, nil, []time.Duration{0}},
		"negative":            {-time.Hour, nil, []time.Duration{0}},
		"stopped":             {10 * s, []act{stop(true), stop(false)}, nil},
		"stopped too late":    {10 * s, []act{pass(10 * s), stop(false)}, []time.Duration{10 * s}},
		"reset to later":      {10 * s, []act{pass(s), reset(20*s, true)}, []time.Duration{21 * s}},
		"reset to earlier":    {10 * s, []act{reset(s, true)}, []time.Duration{s}},
		"reset many times":    {10 * s, []act{reset(20*s, true), reset(20*s, true), reset(20*s, true)}, []time.Duration{20 * s}},
		"reset, then stopped": {10 * s, []act{reset(20*s, true), stop(true)}, nil},
		"stopped, then reset": {10 * s, []act{stop(true), reset(20*s, false)}, []time.Duration{20 * s}},
		"reset after it ran":  {10 * s, []act{pass(10 * s), reset(20*s, false)}, []time.Duration{10 * s, 30 * s}},
	} {
		onEachClock(t, name, func(t *testing.T, clk clock.Clock) {
			t.Helper()
			start, ran := clk.Now(), make(chan time.Duration, 10)
			timer := clk.AfterFunc(c.d, func() { ran <- clk.Now().Sub(start) })
			for _, act := range c.acts {
				act(t, clk, timer)
			}
			if fake, ok := clk.(*clock.Fake); ok {
				pending := len(c.want) > 0 && start.Add(c.want[len(c.want)-1]).After(clk.Now())
				require.Equal(t, map[bool]int{true: 1}[pending], fake.Waiters())
			}
			pass(time.Hour)(t, clk, timer)
			close(ran)
			var got []time.Duration
			for at := range ran {
				got = append(got, at)
			}
			require.Equal(t, c.want, got)
		})
	}
}
