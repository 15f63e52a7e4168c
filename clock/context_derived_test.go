package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestFakeContextsDerivedFromIt(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	ctx, cancel := clk.WithTimeout(t.Context(), time.Second)
	defer cancel()
	child, cancelChild := context.WithCancel(context.WithValue(ctx, key{}, "value"))
	defer cancelChild()
	apart := context.WithoutCancel(ctx)
	called := make(chan error, 2)
	context.AfterFunc(child, func() { called <- child.Err() })
	stop := context.AfterFunc(ctx, func() { called <- errors.New("stopped, but called") })
	require.True(t, stop())
	deadline, _ := child.Deadline()
	require.Equal(t, origin().Add(time.Second), deadline)

	clk.Advance(time.Second)

	require.True(t, isClosed(child.Done()), "at once, not by a goroutine")
	require.Equal(t, context.DeadlineExceeded, child.Err())
	require.Equal(t, context.DeadlineExceeded, context.Cause(child))
	require.Equal(t, "value", child.Value(key{}))
	require.NoError(t, apart.Err())
	require.Equal(t, context.DeadlineExceeded, <-called)
	require.Empty(t, called)
}

// A Sleep must not depend on how fast the goroutines of package context are: the
// cancellation has several such steps to go here, the sleep none.
func TestFakeSleepSeesTheEndOfADistantParent(t *testing.T) {
	t.Parallel()
	for range 100 {
		var clk clock.Fake
		root, cancelRoot := context.WithCancel(t.Context())
		ctx := root
		for range 3 {
			var cancel context.CancelFunc
			ctx, cancel = clk.WithTimeout(ctx, time.Hour) //nolint:fatcontext // nesting is the test
			defer cancel()
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
		}
		slept := startSleep(ctx, t, &clk, time.Second)

		cancelRoot()
		clk.Advance(time.Second)

		require.Equal(t, context.Canceled, <-slept)
		require.Equal(t, context.Canceled, clk.Sleep(ctx, time.Second))
	}
}

func TestFakeSleepAtTheDeadlineOfItsContext(t *testing.T) {
	t.Parallel()
	for range 100 {
		var clk clock.Fake
		ctx, cancel := clk.WithTimeout(t.Context(), time.Second)
		slept := startSleep(ctx, t, &clk, time.Second)

		clk.Advance(time.Second)

		require.Equal(t, context.DeadlineExceeded, <-slept)
		cancel()
	}
}

// A bubble reports goroutines that are left when its test has ended.
func TestFakeContextLeavesNoGoroutine(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(clk *clock.Fake, cancel context.CancelFunc){
		"expired":   func(clk *clock.Fake, _ context.CancelFunc) { clk.Advance(time.Hour) },
		"cancelled": func(_ *clock.Fake, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clk clock.Fake
				parent := foreign{context.Background(), make(chan struct{})}
				ctx, cancel := clk.WithTimeout(parent, time.Second)
				child, cancelChild := context.WithCancel(ctx)
				context.AfterFunc(child, func() {})

				end(&clk, cancel)

				require.Error(t, child.Err())
				synctest.Wait()
				cancelChild()
			})
		})
	}
}

// foreign is a context that package context has to watch with a goroutine.
type foreign struct {
	context.Context //nolint:containedctx // this type is a context
	done            chan struct{}
}

func (f foreign) Done() <-chan struct{} { return f.done }
