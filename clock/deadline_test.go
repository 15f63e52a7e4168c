package clock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// counting is a context that counts the questions it is asked.
type counting struct {
	context.Context //nolint:containedctx // this type is a context
	asked           *atomic.Int64
}

func (c counting) Done() <-chan struct{} {
	c.asked.Add(1)
	return c.Context.Done()
}

func (c counting) Err() error {
	c.asked.Add(1)
	return c.Context.Err()
}

func (c counting) Value(key any) any {
	c.asked.Add(1)
	return c.Context.Value(key)
}

// nest returns deadlines inside one another with a counting context between each
// two, and the function that cancels every one of them, the innermost first.
func nest(clk *clock.Fake, root context.Context, depth int, asked *atomic.Int64) (context.Context, context.CancelFunc) {
	ctx, cancelAll := root, func() {}
	for range depth {
		var cancel context.CancelFunc
		outer := cancelAll
		ctx, cancel = clk.WithTimeout(counting{ctx, asked}, time.Hour) //nolint:fatcontext // nesting is the test
		cancelAll = func() {
			cancel()
			outer()
		}
	}
	return ctx, cancelAll
}

// A question that each level passes on twice costs 2^depth.
func TestFakeContextsNestedDeepCostNoMoreThanTheirDepth(t *testing.T) {
	t.Parallel()
	const depth = 14
	states := map[string]func(clk *clock.Fake, cancelRoot, cancelAll context.CancelFunc){
		"not done":                      func(*clock.Fake, context.CancelFunc, context.CancelFunc) {},
		"expired":                       func(clk *clock.Fake, _, _ context.CancelFunc) { clk.Advance(time.Hour) },
		"done with the root":            func(_ *clock.Fake, cancelRoot, _ context.CancelFunc) { cancelRoot() },
		"cancelled from the inside out": func(_ *clock.Fake, _, cancelAll context.CancelFunc) { cancelAll() },
	}
	questions := map[string]func(clk *clock.Fake, ctx context.Context){
		"done":  func(_ *clock.Fake, ctx context.Context) { ctx.Done() },
		"err":   func(_ *clock.Fake, ctx context.Context) { _ = ctx.Err() },
		"value": func(_ *clock.Fake, ctx context.Context) { ctx.Value(key{}) },
		"cause": func(_ *clock.Fake, ctx context.Context) { _ = context.Cause(ctx) },
		"sleep": func(clk *clock.Fake, ctx context.Context) { _ = clk.Sleep(ctx, 0) },
		"derive": func(clk *clock.Fake, ctx context.Context) {
			_, cancel := clk.WithTimeout(ctx, time.Second)
			cancel()
		},
	}
	for state, reach := range states {
		for question, ask := range questions {
			t.Run(state+"/"+question, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var clk clock.Fake
					var asked atomic.Int64
					root, cancelRoot := context.WithCancel(t.Context())
					defer cancelRoot()
					ctx, cancelAll := nest(&clk, root, depth, &asked)
					defer cancelAll()

					reach(&clk, cancelRoot, cancelAll)
					ask(&clk, ctx)

					synctest.Wait()
					require.LessOrEqual(t, asked.Load(), int64(40*depth*depth), "each of them asks those above it")
					asked.Store(0)
					ask(&clk, ctx)
					require.LessOrEqual(t, asked.Load(), int64(25*depth))
				})
			})
		}
	}
}

func TestFakeContextKeepsTheZoneOfTheClock(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	var asked time.Time
	parent := asking{t.Context(), func(any) { asked = clk.Now() }}
	_, cancel := clk.WithDeadline(parent, origin().Add(time.Second).In(time.FixedZone("far", 3600)))
	defer cancel()

	clk.Advance(time.Minute)

	require.Equal(t, origin().Add(time.Second), asked)
}

// The parent is done between the expiry and the question for a cause, which
// package context asks with a key that is a pointer.
func TestFakeContextCauseIsOfItsOwnDeadline(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	expiring := false
	root, cancelRoot := context.WithCancelCause(t.Context())
	parent := asking{root, func(key any) {
		if _, pointer := key.(*int); pointer && expiring {
			cancelRoot(errors.New("too late"))
		}
	}}
	ctx, cancel := clk.WithTimeout(parent, time.Second)
	defer cancel()

	expiring = true
	clk.Advance(time.Second)
	expiring = false
	cancelRoot(errors.New("too late"))

	require.Equal(t, context.DeadlineExceeded, ctx.Err())
	require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
}

// asking is a context that calls ask with each key it is asked for.
type asking struct {
	context.Context //nolint:containedctx // this type is a context
	ask             func(key any)
}

func (a asking) Value(key any) any {
	a.ask(key)
	return a.Context.Value(key)
}
