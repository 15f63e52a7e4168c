package clock_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestFakeTimer(t *testing.T) {
	t.Parallel()
	// Each case acts on a timer of 10 s, then 100 s pass.
	tests := map[string]struct {
		act         func(t *testing.T, clk *clock.Fake, timer clock.Timer)
		wantWaiters int
		want        []time.Duration // when the function ran, since the start
	}{
		"left alone": {
			act:         func(*testing.T, *clock.Fake, clock.Timer) {},
			wantWaiters: 1,
			want:        []time.Duration{10 * time.Second},
		},
		"stopped": {
			act: func(t *testing.T, _ *clock.Fake, timer clock.Timer) {
				t.Helper()
				require.True(t, timer.Stop())
				require.False(t, timer.Stop(), "nothing to come any more")
			},
		},
		"stopped too late": {
			act: func(t *testing.T, clk *clock.Fake, timer clock.Timer) {
				t.Helper()
				clk.Advance(10 * time.Second)
				require.False(t, timer.Stop())
			},
			want: []time.Duration{10 * time.Second},
		},
		"reset to later": {
			act: func(t *testing.T, clk *clock.Fake, timer clock.Timer) {
				t.Helper()
				clk.Advance(time.Second)
				require.True(t, timer.Reset(20*time.Second))
			},
			wantWaiters: 1,
			want:        []time.Duration{21 * time.Second},
		},
		"reset to earlier": {
			act: func(t *testing.T, _ *clock.Fake, timer clock.Timer) {
				t.Helper()
				require.True(t, timer.Reset(time.Second))
			},
			wantWaiters: 1,
			want:        []time.Duration{time.Second},
		},
		"reset many times, registered once": {
			act: func(t *testing.T, _ *clock.Fake, timer clock.Timer) {
				t.Helper()
				for range 5 {
					require.True(t, timer.Reset(20*time.Second))
				}
			},
			wantWaiters: 1,
			want:        []time.Duration{20 * time.Second},
		},
		"reset, then stopped": {
			act: func(t *testing.T, _ *clock.Fake, timer clock.Timer) {
				t.Helper()
				require.True(t, timer.Reset(20*time.Second))
				require.True(t, timer.Stop())
			},
		},
		"stopped, then reset": {
			act: func(t *testing.T, _ *clock.Fake, timer clock.Timer) {
				t.Helper()
				require.True(t, timer.Stop())
				require.False(t, timer.Reset(20*time.Second))
			},
			wantWaiters: 1,
			want:        []time.Duration{20 * time.Second},
		},
		"reset after it ran": {
			act: func(t *testing.T, clk *clock.Fake, timer clock.Timer) {
				t.Helper()
				clk.Advance(10 * time.Second)
				require.False(t, timer.Reset(20*time.Second))
			},
			wantWaiters: 1,
			want:        []time.Duration{10 * time.Second, 30 * time.Second},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			var ran []time.Duration
			timer := clk.AfterFunc(10*time.Second, func() { ran = append(ran, clk.Now().Sub(origin())) })

			tt.act(t, &clk, timer)

			require.Equal(t, tt.wantWaiters, clk.Waiters())
			clk.Advance(100 * time.Second)
			require.Equal(t, tt.want, ran)
			require.Zero(t, clk.Waiters())
			require.Empty(t, clk.Waits(), "a timer is not a sleep")
		})
	}
}

// The caller holds a lock that the function takes: running it inside AfterFunc
// or Reset would hang.
func TestFakeTimerDueAtOnceRunsInItsOwnGoroutine(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]time.Duration{"zero": 0, "negative": -time.Second} {
		t.Run(name, func(t *testing.T) {
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
