package clock_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

var blocked = flag.String("blocked", "", "block so in a Run, for a test that starts the program")

// blocks are functions that do not come back from a wait for something else than the clock.
func blocks(clk *clock.Fake) map[string]func(ctx context.Context) {
	return map[string]func(ctx context.Context){
		"by a channel": func(context.Context) { <-make(chan int) },
		"by a context of the real time": func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-ctx.Done()
		},
		"after a wait": func(ctx context.Context) {
			_ = clk.Sleep(ctx, time.Second)
			select {}
		},
		"by the function of a timer": func(ctx context.Context) {
			clk.AfterFunc(1, func() { select {} })
			_ = clk.Sleep(ctx, time.Second)
		},
	}
}

func TestFakeRunSaysThatAFunctionIsBlockedOutsideOfTheClock(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{MaxBlocked: 20 * time.Millisecond}
	if f := blocks(clk)[*blocked]; f != nil {
		clk.Run(func() { _ = clk.Sleep(t.Context(), time.Hour) }, func() { f(t.Context()) })
	}
	name := t.Name()
	for how := range blocks(clk) {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			program, err := os.Executable()
			require.NoError(t, err)
			out, err := exec.CommandContext(t.Context(), program, "-test.run=^"+name+"$",
				"-test.timeout=1m", "-blocked="+how).CombinedOutput()
			require.EqualError(t, err, "exit status 2")
			for _, text := range []string{
				"panic: clock: for 20ms of real time a function of Fake.Run has neither waited on the clock nor returned",
				"http.Client.Timeout", "the sleeps of an SDK client", "context.WithTimeout", "testing/synctest",
				"run_blocked_test.go", // where it is blocked
			} {
				require.Contains(t, string(out), text)
			}
		})
	}
}

func TestFakeRunAllowsFiveSecondsUnlessItIsTold(t *testing.T) {
	t.Parallel()
	for limit, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Hour: time.Hour, -1: 0} {
		clk := &clock.Fake{MaxBlocked: limit}
		require.Equal(t, want, clk.BlockedLimit())
	}
}

// The time of a bubble is not the real time, and it passes while a function waits for it.
func TestFakeRunHasNoLimitInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		began := time.Now()
		clk.Run(func() { _ = clock.System{}.Sleep(t.Context(), time.Hour) })
		require.Equal(t, time.Hour, time.Since(began))
	})
}

// A bubble that is moved past the beginning of real times stands for these.
func TestFakeRunCountsTheTimeAnewAfterEachWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_ = clock.System{}.Sleep(t.Context(), 30*365*24*time.Hour)
		clk := &clock.Fake{MaxBlocked: time.Second}
		began := time.Now()
		clk.Run(func() {
			clk.AfterFunc(1500, func() { _ = clock.System{}.Sleep(t.Context(), 900*time.Millisecond) })
			for range 10 {
				_ = clock.System{}.Sleep(t.Context(), 900*time.Millisecond)
				_ = clk.Sleep(t.Context(), 1000)
			}
		})
		require.Equal(t, 11*900*time.Millisecond, time.Since(began))
		_ = clock.System{}.Sleep(t.Context(), time.Hour) // nothing is left
	})
}
