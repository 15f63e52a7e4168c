package clock_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestFakeContextEnds(t *testing.T) {
	t.Parallel()
	errWhy := errors.New("why")
	type begun struct { // a context of 10 s below a parent
		clk          *clock.Fake
		cancel       context.CancelFunc
		cancelParent context.CancelCauseFunc
	}
	for name, c := range map[string]struct {
		act        func(b begun)
		err, cause error
	}{
		"not before its deadline": {func(b begun) { b.clk.Advance(10*time.Second - 1) }, nil, nil},
		"at its deadline":         {func(b begun) { b.clk.Advance(10 * time.Second) }, context.DeadlineExceeded, context.DeadlineExceeded},
		"when jumped over": {func(b begun) {
			b.clk.AfterFunc(time.Minute, func() {})
			b.clk.AdvanceToNext()
		}, context.DeadlineExceeded, context.DeadlineExceeded},
		"by its cancel":   {func(b begun) { b.cancel(); b.cancel() }, context.Canceled, context.Canceled},
		"with its parent": {func(b begun) { b.cancelParent(errWhy) }, context.Canceled, errWhy},
		"with its parent before the deadline": {func(b begun) {
			b.cancelParent(errWhy)
			b.clk.Advance(time.Hour)
		}, context.Canceled, errWhy},
		"by its cancel before the deadline and the parent": {func(b begun) {
			b.cancel()
			b.cancelParent(errWhy)
			b.clk.Advance(time.Hour)
		}, context.Canceled, context.Canceled},
		"at its deadline before the parent": {func(b begun) {
			b.clk.Advance(time.Hour)
			b.cancelParent(errWhy)
			b.cancel()
		}, context.DeadlineExceeded, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			parent, cancelParent := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
			defer cancelParent(nil)
			ctx, cancel := clk.WithTimeout(parent, 10*time.Second)
			defer cancel()
			done := ctx.Done()

			c.act(begun{&clk, cancel, cancelParent})

			// The cause comes first: it must not depend on a question for the error.
			require.Equal(t, c.cause, context.Cause(ctx))
			require.Equal(t, c.err, ctx.Err())
			require.Equal(t, "value", ctx.Value(key{}))
			require.Nil(t, ctx.Value("no such key"))
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.Equal(t, origin().Add(10*time.Second), deadline)
			require.Equal(t, c.err != nil, isClosed(done))
			require.Equal(t, c.err == nil, clk.PendingDeadlines() == 1, "the clock lets go")
		})
	}
}

func TestFakeContextDoneFromTheStart(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		parent context.Context //nolint:containedctx // the argument of a table case
		d      time.Duration
		want   error
	}{
		"the deadline is now":         {t.Context(), 0, context.DeadlineExceeded},
		"the deadline has passed":     {t.Context(), -time.Hour, context.DeadlineExceeded},
		"the parent is done":          {cancelled, time.Hour, context.Canceled},
		"the parent is done, as well": {cancelled, -time.Hour, context.Canceled},
	} {
		var clk clock.Fake
		ctx, cancel := clk.WithTimeout(c.parent, c.d)
		require.True(t, isClosed(ctx.Done()), name)
		require.Equal(t, c.want, ctx.Err(), name)
		require.Zero(t, clk.PendingDeadlines(), name)
		cancel()
		require.Equal(t, c.want, ctx.Err(), name)
	}
}

func TestFakeContextDeadlineIsTheEarlierOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ outer, inner time.Duration }{{60, 1}, {1, 60}, {1, 1}} {
		var clk clock.Fake
		outer, cancelOuter := clk.WithTimeout(t.Context(), c.outer)
		defer cancelOuter()
		inner, cancelInner := clk.WithDeadline(outer, origin().Add(c.inner))
		defer cancelInner()
		deadline, ok := inner.Deadline()
		require.True(t, ok)
		require.Equal(t, origin().Add(1), deadline)
		require.NoError(t, inner.Err())

		clk.Advance(1)

		require.Equal(t, context.DeadlineExceeded, inner.Err())
		require.Equal(t, context.DeadlineExceeded, context.Cause(inner))
	}
}

func TestFakeContextIsNoWaiter(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	_, cancel := clk.WithTimeout(t.Context(), time.Second)
	defer cancel()

	require.Zero(t, clk.Waiters())
	_, ok := clk.AdvanceToNext()
	require.False(t, ok)
	require.Equal(t, origin(), clk.Now())
	cancelled, cancelWait := context.WithCancel(t.Context())
	cancelWait()
	require.Error(t, clk.BlockUntil(cancelled, 1))
}

type key struct{}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

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

func TestFakeContextsConcurrentSafe(t *testing.T) {
	t.Parallel()
	const contexts = 300
	var clk clock.Fake
	parent, cancelParent := context.WithCancel(t.Context())
	var expired, cancelled, other atomic.Int64
	var work sync.WaitGroup
	started := make(chan struct{}, contexts)
	for i := range contexts {
		work.Go(func() {
			ctx, cancel := clk.WithTimeout(parent, time.Duration(1+i)*time.Millisecond)
			defer cancel()
			if i%3 == 0 {
				cancel()
			}
			started <- struct{}{}
			<-ctx.Done()
			switch err := ctx.Err(); {
			case err != context.Cause(ctx): //nolint:errorlint // the very same value
				other.Add(1)
			case err == context.DeadlineExceeded:
				expired.Add(1)
			case err == context.Canceled:
				cancelled.Add(1)
			}
		})
	}
	for range contexts {
		<-started
	}

	var racing sync.WaitGroup
	for range 4 {
		racing.Go(func() { clk.Advance(contexts / 8 * time.Millisecond) })
	}
	racing.Go(cancelParent)
	racing.Wait()
	work.Wait()

	require.EqualValues(t, contexts, expired.Load()+cancelled.Load())
	require.Zero(t, other.Load())
	require.Zero(t, clk.PendingDeadlines())
}
