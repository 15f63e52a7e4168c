package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestSystemNowIsMonotonic(t *testing.T) {
	t.Parallel()
	var clk clock.System

	now := clk.Now()

	require.NotEqual(t, now.Round(0), now, "the monotonic reading is kept")
	require.False(t, clk.Now().Before(now))
}

func TestSystemDoesNotAllocateUnlessItWaits(t *testing.T) {
	var clk clock.Clock = clock.System{}
	ctx := t.Context()

	require.Zero(t, testing.AllocsPerRun(100, func() { clk.Now() }))
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = clk.Sleep(ctx, 0) }))
}

func TestSystemSleep(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		d, cancelAfter time.Duration // cancelAfter: negative for before the sleep, zero for never
		wantErr        error
		wantSlept      time.Duration
	}{
		"sleeps for d":                    {d: 3 * time.Second, wantSlept: 3 * time.Second},
		"sleeps for a nanosecond":         {d: 1, wantSlept: 1},
		"zero does not sleep":             {d: 0},
		"negative does not sleep":         {d: -time.Second},
		"cancelled while asleep":          {d: time.Hour, cancelAfter: time.Second, wantErr: context.Canceled, wantSlept: time.Second},
		"cancelled before":                {d: time.Hour, cancelAfter: -1, wantErr: context.Canceled},
		"cancelled before wins over zero": {d: 0, cancelAfter: -1, wantErr: context.Canceled},
		"cancelled after":                 {d: time.Second, cancelAfter: time.Hour, wantSlept: time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clk clock.System
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				switch {
				case tt.cancelAfter < 0:
					cancel()
				case tt.cancelAfter > 0:
					defer clk.AfterFunc(tt.cancelAfter, cancel).Stop()
				}

				start := clk.Now()
				err := clk.Sleep(ctx, tt.d)

				require.ErrorIs(t, err, tt.wantErr)
				require.Equal(t, tt.wantSlept, clk.Now().Sub(start))
			})
		})
	}
}

func TestSystemSleepEndsAtTheDeadlineOfItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.System
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		start := clk.Now()
		err := clk.Sleep(ctx, time.Minute)

		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, clk.Now().Sub(start))
	})
}

func TestSystemAfterFunc(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		d    time.Duration
		act  func(t *testing.T, timer clock.Timer)
		want []time.Duration // when f ran, since the start
	}{
		"calls after d": {d: time.Second, want: []time.Duration{time.Second}},
		"zero at once":  {d: 0, want: []time.Duration{0}},
		"negative at once": {
			d: -time.Hour, want: []time.Duration{0},
		},
		"stopped never calls": {d: time.Second, act: func(t *testing.T, timer clock.Timer) {
			t.Helper()
			require.True(t, timer.Stop())
			require.False(t, timer.Stop())
		}},
		"reset moves the call": {
			d: time.Second, act: func(t *testing.T, timer clock.Timer) {
				t.Helper()
				require.True(t, timer.Reset(time.Minute))
			},
			want: []time.Duration{time.Minute},
		},
		"reset revives a stopped timer": {
			d: time.Second, act: func(t *testing.T, timer clock.Timer) {
				t.Helper()
				require.True(t, timer.Stop())
				require.False(t, timer.Reset(time.Minute))
			},
			want: []time.Duration{time.Minute},
		},
		"reset after the call calls again": {
			d: time.Second, act: func(t *testing.T, timer clock.Timer) {
				t.Helper()
				require.NoError(t, clock.System{}.Sleep(t.Context(), 2*time.Second))
				require.False(t, timer.Reset(time.Second))
			},
			want: []time.Duration{time.Second, 3 * time.Second},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clk clock.System
				start := clk.Now()
				calls := make(chan time.Duration, 10)
				timer := clk.AfterFunc(tt.d, func() { calls <- clk.Now().Sub(start) })
				if tt.act != nil {
					tt.act(t, timer)
				}

				require.NoError(t, clk.Sleep(t.Context(), time.Hour))

				require.Equal(t, tt.want, drain(calls))
			})
		})
	}
}

// drain takes out what a channel holds, without waiting.
func drain[T any](ch <-chan T) []T {
	var all []T
	for {
		select {
		case v := <-ch:
			all = append(all, v)
		default:
			return all
		}
	}
}

func BenchmarkSystem(b *testing.B) {
	var clk clock.Clock = clock.System{}
	b.Run("op=now", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			clk.Now()
		}
	})
	b.Run("op=arm-and-stop", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			clk.AfterFunc(time.Hour, func() {}).Stop()
		}
	})
}
