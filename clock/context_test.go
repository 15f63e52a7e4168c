package clock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestFakeContextEnds(t *testing.T) {
	t.Parallel()
	errWhy := errors.New("why")
	// Each case acts on a context of 10 s below a parent.
	tests := map[string]struct {
		act                func(clk *clock.Fake, cancel context.CancelFunc, cancelParent context.CancelCauseFunc)
		wantErr, wantCause error
	}{
		"not before its deadline": {
			act: func(clk *clock.Fake, _ context.CancelFunc, _ context.CancelCauseFunc) {
				clk.Advance(10*time.Second - 1)
			},
		},
		"at its deadline": {
			act: func(clk *clock.Fake, _ context.CancelFunc, _ context.CancelCauseFunc) {
				clk.Advance(10 * time.Second)
			},
			wantErr: context.DeadlineExceeded, wantCause: context.DeadlineExceeded,
		},
		"when jumped over": {
			act: func(clk *clock.Fake, _ context.CancelFunc, _ context.CancelCauseFunc) {
				clk.AfterFunc(time.Minute, func() {})
				clk.AdvanceToNext()
			},
			wantErr: context.DeadlineExceeded, wantCause: context.DeadlineExceeded,
		},
		"by its cancel": {
			act: func(_ *clock.Fake, cancel context.CancelFunc, _ context.CancelCauseFunc) {
				cancel()
				cancel()
			},
			wantErr: context.Canceled, wantCause: context.Canceled,
		},
		"with its parent": {
			act: func(_ *clock.Fake, _ context.CancelFunc, cancelParent context.CancelCauseFunc) {
				cancelParent(errWhy)
			},
			wantErr: context.Canceled, wantCause: errWhy,
		},
		"with its parent before the deadline": {
			act: func(clk *clock.Fake, _ context.CancelFunc, cancelParent context.CancelCauseFunc) {
				cancelParent(errWhy)
				clk.Advance(time.Hour)
			},
			wantErr: context.Canceled, wantCause: errWhy,
		},
		"by its cancel before the deadline and the parent": {
			act: func(clk *clock.Fake, cancel context.CancelFunc, cancelParent context.CancelCauseFunc) {
				cancel()
				cancelParent(errWhy)
				clk.Advance(time.Hour)
			},
			wantErr: context.Canceled, wantCause: context.Canceled,
		},
		"at its deadline before the parent": {
			act: func(clk *clock.Fake, cancel context.CancelFunc, cancelParent context.CancelCauseFunc) {
				clk.Advance(time.Hour)
				cancelParent(errWhy)
				cancel()
			},
			wantErr: context.DeadlineExceeded, wantCause: context.DeadlineExceeded,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			parent, cancelParent := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
			defer cancelParent(nil)
			ctx, cancel := clk.WithTimeout(parent, 10*time.Second)
			defer cancel()
			done := ctx.Done()

			tt.act(&clk, cancel, cancelParent)

			// The cause comes first: it must not depend on a question for the error.
			require.Equal(t, tt.wantCause, context.Cause(ctx))
			require.Equal(t, tt.wantErr, ctx.Err())
			require.Equal(t, "value", ctx.Value(key{}))
			require.Nil(t, ctx.Value("no such key"))
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.Equal(t, origin().Add(10*time.Second), deadline)
			if tt.wantErr == nil {
				require.False(t, isClosed(done))
				require.Equal(t, 1, clk.PendingDeadlines())
				return
			}
			require.True(t, isClosed(done))
			require.Zero(t, clk.PendingDeadlines(), "the clock lets go")
		})
	}
}

func TestFakeContextDoneFromTheStart(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		parent  context.Context //nolint:containedctx // the argument of a table case
		d       time.Duration
		wantErr error
	}{
		"the deadline is now":         {t.Context(), 0, context.DeadlineExceeded},
		"the deadline has passed":     {t.Context(), -time.Hour, context.DeadlineExceeded},
		"the parent is done":          {cancelled, time.Hour, context.Canceled},
		"the parent is done, as well": {cancelled, -time.Hour, context.Canceled},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake

			ctx, cancel := clk.WithTimeout(tt.parent, tt.d)

			require.True(t, isClosed(ctx.Done()))
			require.Equal(t, tt.wantErr, ctx.Err())
			require.Zero(t, clk.PendingDeadlines())
			cancel()
			require.Equal(t, tt.wantErr, ctx.Err())
		})
	}
}

func TestFakeContextDeadlineIsTheEarlierOne(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		outer, inner, want time.Duration
	}{
		"its own":         {outer: time.Minute, inner: time.Second, want: time.Second},
		"of the parent":   {outer: time.Second, inner: time.Minute, want: time.Second},
		"of both at once": {outer: time.Second, inner: time.Second, want: time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			outer, cancelOuter := clk.WithTimeout(t.Context(), tt.outer)
			defer cancelOuter()
			inner, cancelInner := clk.WithDeadline(outer, origin().Add(tt.inner))
			defer cancelInner()

			deadline, ok := inner.Deadline()
			require.True(t, ok)
			require.Equal(t, origin().Add(tt.want), deadline)
			require.NoError(t, inner.Err())

			clk.Advance(tt.want)

			require.Equal(t, context.DeadlineExceeded, inner.Err())
			require.Equal(t, context.DeadlineExceeded, context.Cause(inner))
		})
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

// asking is a context that calls ask with each key it is asked for.
type asking struct {
	context.Context //nolint:containedctx // this type is a context
	ask             func(key any)
}

func (a asking) Value(key any) any {
	a.ask(key)
	return a.Context.Value(key)
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
