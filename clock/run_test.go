package clock_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// since returns how far the clock is past the instant that a zero Fake shows.
func since(clk *clock.Fake) time.Duration { return clk.Now().Sub(origin()) }

// sleeps sleeps for each duration and returns when each sleep ended.
func sleeps(ctx context.Context, clk *clock.Fake, ds ...time.Duration) (ended []time.Duration, err error) {
	for _, d := range ds {
		if err = clk.Sleep(ctx, d); err != nil {
			break
		}
		ended = append(ended, since(clk))
	}
	return ended, err
}

func TestFakeRunEndsEveryWaitOfItsFunctions(t *testing.T) {
	t.Parallel()
	const s, m = time.Second, time.Minute
	ctx := t.Context()
	for name, c := range map[string]struct {
		fs   func(clk *clock.Fake, slept func(ds ...time.Duration)) []func()
		want []time.Duration // when the waits ended
	}{
		"one after the other": {func(_ *clock.Fake, slept func(ds ...time.Duration)) []func() {
			return []func(){func() { slept(s, m, 1) }}
		}, []time.Duration{s, s + m, s + m + 1}},
		"of several functions": {func(_ *clock.Fake, slept func(ds ...time.Duration)) []func() {
			return []func(){func() { slept(3*s, 2*s) }, func() {}, func() { slept(s) }, func() { slept(4 * s) }}
		}, []time.Duration{s, 3 * s, 4 * s, 5 * s}},
		"in a goroutine of its function": {func(_ *clock.Fake, slept func(ds ...time.Duration)) []func() {
			return []func(){func() {
				for range 2 {
					done := make(chan struct{})
					go func() { defer close(done); slept(s, m) }()
					<-done
				}
			}}
		}, []time.Duration{s, s + m, 2*s + m, 2*s + 2*m}},
		"between moves of the time": {func(clk *clock.Fake, slept func(ds ...time.Duration)) []func() {
			return []func(){func() { clk.Advance(m); slept(s); clk.Advance(m); slept(s) }}
		}, []time.Duration{m + s, 2*m + 2*s}},
		"in the function of a timer, which is awaited": {func(clk *clock.Fake, slept func(ds ...time.Duration)) []func() {
			return []func(){func() {
				done := make(chan struct{})
				clk.AfterFunc(0, func() { slept(s, s); close(done) })
				require.NoError(t, clk.Await(ctx, done))
				slept(m)
			}}
		}, []time.Duration{s, 2 * s, 2*s + m}},
		"of an await with a deadline": {func(clk *clock.Fake, slept func(ds ...time.Duration)) []func() {
			return []func(){func() {
				limited, cancel := clk.WithTimeout(ctx, m)
				defer cancel()
				require.Equal(t, context.DeadlineExceeded, clk.Await(limited, nil))
				slept(s)
			}}
		}, []time.Duration{m + s}},
	} {
		var clk clock.Fake
		var got []time.Duration
		clk.Run(c.fs(&clk, func(ds ...time.Duration) {
			for _, d := range ds {
				require.NoError(t, clk.Sleep(ctx, d))
				got = append(got, since(&clk))
			}
		})...)
		require.Equal(t, c.want, got, name)
		require.Zero(t, clk.Waiters(), name)

		clk.Run()
		clk.Run(func() { require.NoError(t, clk.Sleep(ctx, s)) })
		require.Equal(t, c.want[len(c.want)-1]+s, since(&clk), "%s: a second Run goes on where the first has ended", name)
	}
}

// A bubble knows when all other goroutines are blocked, so also that of Run.
func TestFakeRunDoesNotMoveTheTimeWhileAFunctionIsBusy(t *testing.T) {
	t.Parallel()
	tests := map[string]func(clk *clock.Fake, busy func()){
		"alone": func(clk *clock.Fake, busy func()) { clk.Run(busy) },
		"second": func(clk *clock.Fake, busy func()) {
			clk.Run(func() { _ = clk.Sleep(context.Background(), time.Second) }, busy)
		},
		"with a timer to come": func(clk *clock.Fake, busy func()) {
			clk.Run(func() {
				defer clk.AfterFunc(time.Second, func() {}).Stop()
				busy()
			})
		},
		"with a timer of before": func(clk *clock.Fake, busy func()) {
			clk.AfterFunc(time.Second, func() {})
			clk.Run(busy)
		},
		"after a wait of no length": func(clk *clock.Fake, busy func()) {
			clk.AfterFunc(time.Second, func() {})
			clk.Run(func() {
				_ = clk.Sleep(context.Background(), 0)
				busy()
			})
		},
		"beside a wait that its context has ended": func(clk *clock.Fake, busy func()) {
			clk.AfterFunc(time.Second, func() {})
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			clk.Run(func() {
				_ = clk.Await(ctx, nil)
				busy()
			})
		},
		"beside the function of a timer due at once": func(clk *clock.Fake, busy func()) {
			clk.AfterFunc(time.Second, func() {})
			clk.Run(func() {
				done := make(chan struct{})
				clk.AfterFunc(0, func() {
					busy()
					close(done)
				})
				_ = clk.Await(context.Background(), done)
			})
		},
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clk clock.Fake
				var seen []time.Duration
				run(&clk, func() {
					for range 3 {
						synctest.Wait()
						seen = append(seen, since(&clk))
					}
				})
				require.Equal(t, make([]time.Duration, 3), seen)
			})
		})
	}
}

// Each case ends the third sleep of one second after half of it.
func TestFakeRunStopsAtWhateverIsDue(t *testing.T) {
	t.Parallel()
	const half = 2500 * time.Millisecond
	tests := map[string]struct {
		begin   func(ctx context.Context, clk *clock.Fake) (context.Context, context.CancelFunc)
		wantErr error
	}{
		"a deadline": {
			begin: func(ctx context.Context, clk *clock.Fake) (context.Context, context.CancelFunc) {
				return clk.WithTimeout(ctx, half)
			},
			wantErr: context.DeadlineExceeded,
		},
		"a deadline of a context above": {
			begin: func(ctx context.Context, clk *clock.Fake) (context.Context, context.CancelFunc) {
				outer, cancelOuter := clk.WithTimeout(ctx, half)
				middle, cancelMiddle := context.WithCancel(outer)
				inner, cancelInner := clk.WithTimeout(middle, time.Hour)
				return inner, func() {
					cancelInner()
					cancelMiddle()
					cancelOuter()
				}
			},
			wantErr: context.DeadlineExceeded,
		},
		"a timer that cancels": {
			begin: func(ctx context.Context, clk *clock.Fake) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				clk.AfterFunc(half, cancel)
				return ctx, cancel
			},
			wantErr: context.Canceled,
		},
		"the deadline of a clock of one's own": {
			begin: func(ctx context.Context, clk *clock.Fake) (context.Context, context.CancelFunc) {
				return clock.WithTimeout(ctx, plain{clk}, half)
			},
			wantErr: context.Canceled,
		},
	}
	for name, tt := range tests {
		for _, inside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, begun inside: %t", name, inside), func(t *testing.T) {
				t.Parallel()
				for range 50 { // whichever goroutine is faster
					var clk clock.Fake
					var ended []time.Duration
					var err error
					var at time.Duration
					work := func(ctx context.Context) {
						ended, err = sleeps(ctx, &clk, time.Second, time.Second, time.Second, time.Second)
						at = since(&clk)
					}
					begun := func(then func(ctx context.Context)) {
						ctx, cancel := tt.begin(t.Context(), &clk)
						defer cancel()
						then(ctx)
					}
					if inside {
						clk.Run(func() { begun(work) })
					} else {
						begun(func(ctx context.Context) { clk.Run(func() { work(ctx) }) })
					}
					require.Equal(t, tt.wantErr, err)
					require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, ended)
					require.Equal(t, half, at)
					require.Equal(t, half, since(&clk))
				}
			})
		}
	}
}

func TestFakeRunFiresTimersBetweenTheWaits(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	var events []string // without a lock: one thing happens after the other
	note := func(what string) { events = append(events, what+" "+since(&clk).String()) }
	var tick func()
	tick = func() {
		note("tick")
		clk.AfterFunc(2*time.Second, tick)
	}
	clk.AfterFunc(2*time.Second, tick)

	clk.Run(func() {
		note("begins")
		_ = clk.Sleep(t.Context(), 2*time.Second) // behind the tick
		note("sleeps")
		stopped := clk.AfterFunc(time.Second, func() { note("stopped") })
		clk.AfterFunc(3*time.Second, func() { note("called") })
		note("is busy")
		stopped.Stop()
		_ = clk.Sleep(t.Context(), 3*time.Second)
		note("ends")
	})

	require.Equal(t, []string{
		"begins 0s", "tick 2s", "sleeps 2s", "is busy 2s", "tick 4s", "called 5s", "ends 5s",
	}, events)
}

func TestFakeRunWaitsForAFunctionOfATimerDueAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		busyUntil := time.Duration(-1)

		clk.Run(func() {
			clk.AfterFunc(0, func() {
				synctest.Wait() // the sleep has begun
				busyUntil = since(&clk)
			})
			_ = clk.Sleep(t.Context(), time.Second)
		})

		require.Zero(t, busyUntil)
		require.Equal(t, time.Second, since(&clk))
	})
}
