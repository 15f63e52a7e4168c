package clock_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// The functions write to one slice without a lock: one of them runs at a time.
func TestFakeRunOfSeveralFunctionsIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	const functions, rounds = 20, 10
	play := func() (events []string) {
		var clk clock.Fake
		var fs []func()
		for i := range functions {
			fs = append(fs, func() {
				events = append(events, fmt.Sprint(i, " begins"))
				for r := range rounds {
					_ = clk.Sleep(t.Context(), time.Duration(1+(i*r)%7)*time.Second)
					events = append(events, fmt.Sprint(i, " ", since(&clk)))
				}
			})
		}
		clk.Run(fs...)
		return events
	}

	first := play()

	require.Len(t, first, functions*(1+rounds))
	for range 10 {
		require.Equal(t, first, play())
	}
}

// Each row is what the functions do until they wait for the first time.
func TestFakeRunBeginsAFunctionWhenTheOneBeforeWaitsOrHasReturned(t *testing.T) {
	t.Parallel()
	type act func(clk *clock.Fake, closed <-chan struct{})
	ctx := t.Context()
	acts := map[string]act{
		"returns":              func(*clock.Fake, <-chan struct{}) {},
		"ends its goroutine":   func(*clock.Fake, <-chan struct{}) { runtime.Goexit() },
		"sleeps":               func(clk *clock.Fake, _ <-chan struct{}) { _ = clk.Sleep(ctx, time.Second) },
		"awaits the last":      func(clk *clock.Fake, closed <-chan struct{}) { _ = clk.Await(ctx, closed) },
		"moves the time":       func(clk *clock.Fake, _ <-chan struct{}) { clk.Advance(time.Minute) },
		"starts a timer":       func(clk *clock.Fake, _ <-chan struct{}) { clk.AfterFunc(time.Second, func() {}) },
		"starts one due":       func(clk *clock.Fake, _ <-chan struct{}) { clk.AfterFunc(0, func() {}) },
		"sleeps in a deadline": func(clk *clock.Fake, _ <-chan struct{}) { deadline(ctx, clk) },
	}
	for one, first := range acts {
		for other, second := range acts {
			t.Run(one+", "+other, func(t *testing.T) {
				t.Parallel()
				for range 5 {
					var clk clock.Fake
					closed := make(chan struct{})
					var events []string // without a lock
					played := make(chan struct{})
					go func() {
						defer close(played)
						clk.Run(
							func() { events = append(events, "first"); first(&clk, closed) },
							func() { events = append(events, "second"); second(&clk, closed) },
							func() { events = append(events, "last"); close(closed) },
						)
					}()
					<-played
					require.Equal(t, []string{"first", "second", "last"}, events)
				}
			})
		}
	}
}

// The functions write to one slice without a lock. The last one releases those that wait.
func TestFakeRunLetsOneFunctionGoOnAtATime(t *testing.T) {
	t.Parallel()
	type act func(ctx context.Context, clk *clock.Fake, done <-chan struct{})
	sleeps := func(ctx context.Context, clk *clock.Fake, _ <-chan struct{}) { _ = clk.Sleep(ctx, time.Second) }
	awaits := func(ctx context.Context, clk *clock.Fake, done <-chan struct{}) { _ = clk.Await(ctx, done) }
	for name, c := range map[string]struct {
		wait    act
		release func(clk *clock.Fake, cancel func(), done chan<- struct{})
		again   bool // whether they wait a second time
	}{
		"ends their sleep":    {sleeps, func(clk *clock.Fake, _ func(), _ chan<- struct{}) { clk.Advance(time.Second) }, true},
		"cancels their sleep": {sleeps, func(_ *clock.Fake, cancel func(), _ chan<- struct{}) { cancel() }, false},
		"cancels their Await": {awaits, func(_ *clock.Fake, cancel func(), _ chan<- struct{}) { cancel() }, false},
		"closes the channel":  {awaits, func(_ *clock.Fake, _ func(), done chan<- struct{}) { close(done) }, true},
		"leaves it to a timer": {awaits, func(clk *clock.Fake, cancel func(), _ chan<- struct{}) {
			clk.AfterFunc(time.Second, cancel)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				var clk clock.Fake
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				var events []string
				waiter := func(i int) func() {
					return func() {
						for range 2 {
							c.wait(ctx, &clk, done)
							runtime.Gosched()
							events = append(events, strconv.Itoa(i))
						}
					}
				}
				clk.Run(waiter(0), waiter(1), waiter(2), func() {
					c.release(&clk, cancel, done)
					for range 5 {
						runtime.Gosched()
						events = append(events, "last")
					}
				})
				want := map[bool]string{true: "[last last last last last 0 1 2 0 1 2]", false: "[last last last last last 0 0 1 1 2 2]"}
				require.Equal(t, want[c.again], fmt.Sprint(events))
				cancel()
			}
		})
	}
}

// The functions write to one slice without a lock.
func TestFakeRunStartsATimerThatIsDueAtOnceWhenItsFunctionWaits(t *testing.T) {
	t.Parallel()
	for range 20 {
		var clk clock.Fake
		var events []string
		say := func(event string) func() { return func() { events = append(events, event) } }
		clk.Run(func() {
			clk.AfterFunc(0, say("timer"))
			clk.AfterFunc(-1, func() {
				say("other timer")()
				_ = clk.Sleep(t.Context(), time.Second)
				say("it has slept")()
			})
			for range 5 {
				runtime.Gosched()
			}
			say("first")()
		}, say("second"))
		require.Equal(t, []string{"first", "timer", "other timer", "second", "it has slept"}, events)
		require.Equal(t, time.Second, since(&clk))
	}
}

// deadline sleeps until the deadline of a context.
func deadline(ctx context.Context, clk *clock.Fake) {
	ctx, cancel := clk.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = clk.Sleep(ctx, time.Hour)
}

// A bubble reports goroutines that are left.
func TestFakeRunEndsWithAPanicOfItsFunction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		other := false
		require.PanicsWithValue(t, "on purpose", func() {
			clk.Run(func() {
				_ = clk.Sleep(t.Context(), time.Second)
				panic("on purpose")
			}, func() {
				_ = clk.Sleep(t.Context(), time.Hour)
				other = true
			})
		})
		require.True(t, other, "the others have returned")
		require.Equal(t, time.Hour, since(&clk))

		clk.Run(func() { _ = clk.Sleep(t.Context(), time.Hour) })
		require.Equal(t, 2*time.Hour, since(&clk))
	})
}

// A test that fails calls runtime.Goexit.
func TestFakeRunEndsWithItsGoroutine(t *testing.T) {
	t.Parallel()
	tests := map[string]func(clk *clock.Fake){
		"in the first function": func(clk *clock.Fake) {
			clk.Run(func() {
				_ = clk.Sleep(context.Background(), time.Second)
				runtime.Goexit()
			})
		},
		"in the first of two": func(clk *clock.Fake) {
			clk.Run(runtime.Goexit, func() { _ = clk.Sleep(context.Background(), time.Second) })
		},
		"in the second": func(clk *clock.Fake) {
			clk.Run(func() { _ = clk.Sleep(context.Background(), time.Second) }, runtime.Goexit)
		},
		"in the function of a timer": func(clk *clock.Fake) {
			clk.AfterFunc(1, runtime.Goexit)
			clk.Run(func() { _ = clk.Sleep(context.Background(), time.Second) })
		},
		"in that of a timer due at once": func(clk *clock.Fake) {
			clk.Run(func() {
				clk.AfterFunc(0, runtime.Goexit)
				_ = clk.Sleep(context.Background(), time.Second)
			})
		},
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clk clock.Fake
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					run(&clk)
				}()
				<-ended
				require.Equal(t, time.Second, since(&clk))
				clk.Run(func() { _ = clk.Sleep(t.Context(), time.Second) })
				require.Equal(t, 2*time.Second, since(&clk), "the clock is as good as before")
			})
		})
	}
}

func TestFakeRunRefusesAnotherRun(t *testing.T) {
	t.Parallel()
	const want = "clock: Fake.Run on a clock on which another Run is under way"
	var clk clock.Fake
	require.PanicsWithValue(t, want, func() {
		clk.Run(func() {
			clk.Run(func() { _ = clk.Sleep(t.Context(), time.Second) })
		})
	})
	clk.Run(func() {
		require.PanicsWithValue(t, want, func() { clk.Run(func() {}) })
		_ = clk.Sleep(t.Context(), time.Second)
	})
	require.Equal(t, time.Second, since(&clk), "the first goes on")

	var other clock.Fake
	clk.Run(func() { other.Run(func() { _ = other.Sleep(t.Context(), time.Minute) }) })
	require.Equal(t, time.Minute, since(&other))
	require.Equal(t, time.Second, since(&clk))
}

func TestFakeRunRefusesGoroutinesThatWaitAlready(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	ctx, cancel := context.WithCancel(t.Context())
	startSleep(ctx, t, &clk, time.Second)
	slept := startSleep(ctx, t, &clk, time.Second)

	require.PanicsWithValue(t, "clock: Fake.Run on a clock on which goroutines wait already: 2", func() { clk.Run(func() {}) })

	cancel()
	clk.Run(func() {}) // whether the sleepers know or not
	require.Equal(t, context.Canceled, <-slept)
}

func TestFakeRunSaysWhenMoreWaitThanItHasFunctions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		f    func(ctx context.Context, clk *clock.Fake)
		want string
	}{
		"at once": {
			func(ctx context.Context, clk *clock.Fake) {
				within, cancel := context.WithCancel(ctx)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = clk.Await(within, nil)
				}()
				_ = clk.BlockUntil(ctx, 1)
				_ = clk.Sleep(ctx, time.Second)
				cancel()
				<-ended
			},
			"clock: more waits at once than functions in Fake.Run: 1 more than 1",
		},
		"at the end": {
			func(ctx context.Context, clk *clock.Fake) {
				for range 2 {
					go func() { _ = clk.Await(ctx, nil) }()
				}
				_ = clk.BlockUntil(ctx, 2)
			},
			"clock: more waits at once than functions in Fake.Run: 2 more than 1",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			require.PanicsWithValue(t, tt.want, func() { clk.Run(func() { tt.f(ctx, &clk) }) })
		})
	}
}
