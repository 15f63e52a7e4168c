package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// origin is the instant that a zero Fake shows.
func origin() time.Time { return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) }

func TestFakeStartsAt(t *testing.T) {
	t.Parallel()
	machine, elsewhere := clock.System{}.Now(), origin().In(time.FixedZone("somewhere", 3600))
	for name, c := range map[string]struct {
		clk  *clock.Fake
		want time.Time
	}{
		"the documented instant if zero":      {new(clock.Fake), origin()},
		"a given instant in its zone":         {clock.NewFake(elsewhere), elsewhere},
		"an instant without monotonic clock":  {clock.NewFake(machine), machine.Round(0)},
		"the zero time if that is asked for":  {clock.NewFake(time.Time{}), time.Time{}},
		"an instant before the zero time too": {clock.NewFake(time.Time{}.Add(-time.Hour)), time.Time{}.Add(-time.Hour)},
	} {
		require.Equal(t, c.want, c.clk.Now(), name)
		require.Equal(t, c.want, c.clk.Now(), "%s: it stands still", name)
		c.clk.Advance(90 * time.Minute)
		require.Equal(t, c.want.Add(90*time.Minute), c.clk.Now(), name)
	}
}

func TestFakeSleepEndsWhenTheTimeHasPassed(t *testing.T) {
	t.Parallel()
	for name, advances := range map[string][]time.Duration{
		"in one step":     {time.Second},
		"in several":      {time.Second - 1, 0, 1},
		"after too much":  {time.Hour},
		"after very much": {1<<63 - 1},
	} {
		var clk clock.Fake
		done := startSleep(t.Context(), t, &clk, time.Second)
		for _, d := range advances {
			require.Equal(t, 1, clk.Waiters(), name)
			clk.Advance(d)
		}
		require.Zero(t, clk.Waiters(), "%s: released by the time Advance returns", name)
		require.NoError(t, <-done, name)
	}
}

func TestFakeSleepCancelledFreesTheWaiter(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	ctx, cancel := context.WithCancel(t.Context())
	done := startSleep(ctx, t, &clk, time.Second)

	cancel()

	require.ErrorIs(t, <-done, context.Canceled)
	require.Zero(t, clk.Waiters())
	_, ok := clk.AdvanceToNext()
	require.False(t, ok)
}

// A select with both channels ready takes either, so one round proves little.
func TestFakeSleepPrefersTheContext(t *testing.T) {
	t.Parallel()
	for range 100 {
		var clk clock.Fake
		ctx, cancel := context.WithCancel(t.Context())
		done := startSleep(ctx, t, &clk, 2*time.Second)
		clk.AfterFunc(time.Second, cancel)

		clk.Advance(2 * time.Second)

		require.ErrorIs(t, <-done, context.Canceled)
	}
}

func TestFakeWaitsRecordsEverySleepInOrder(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	ctx, cancel := context.WithCancel(t.Context())
	var sleeps []<-chan error
	for _, d := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
		sleeps = append(sleeps, startSleep(ctx, t, &clk, d))
	}
	clk.AfterFunc(time.Hour, func() {})
	clk.Advance(time.Second)
	require.NoError(t, <-sleeps[1])
	cancel()
	require.ErrorIs(t, <-sleeps[0], context.Canceled)
	want := []time.Duration{3 * time.Second, time.Second, 2 * time.Second}

	got := clk.Waits()
	require.Equal(t, want, got)

	got[0] = 0
	require.Equal(t, want, clk.Waits(), "a copy")
}

// startSleep sleeps in a goroutine of its own and returns when that is a waiter.
func startSleep(ctx context.Context, t *testing.T, clk *clock.Fake, d time.Duration) <-chan error {
	t.Helper()
	before := clk.Waiters()
	done := make(chan error, 1)
	go func() { done <- clk.Sleep(ctx, d) }()
	require.NoError(t, clk.BlockUntil(t.Context(), before+1))
	return done
}

func TestFakeAwait(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context //nolint:containedctx // the argument of a table case
		closed bool
		act    func(clk *clock.Fake, done chan struct{}, cancel context.CancelFunc)
		want   error
	}{
		"closed beforehand":              {ctx: t.Context(), closed: true},
		"context done beforehand":        {ctx: cancelled, want: context.Canceled},
		"context done beforehand, first": {ctx: cancelled, closed: true, want: context.Canceled},
		"closed by a timer": {ctx: t.Context(), act: func(clk *clock.Fake, done chan struct{}, _ context.CancelFunc) {
			clk.AfterFunc(time.Second, func() { close(done) })
			clk.AdvanceToNext()
		}},
		"cancelled": {ctx: t.Context(), act: func(_ *clock.Fake, _ chan struct{}, cancel context.CancelFunc) {
			cancel()
		}, want: context.Canceled},
		"closed and cancelled": {ctx: t.Context(), act: func(_ *clock.Fake, done chan struct{}, cancel context.CancelFunc) {
			cancel()
			close(done)
		}, want: context.Canceled},
		"at the deadline of its context": {ctx: t.Context(), act: func(clk *clock.Fake, _ chan struct{}, _ context.CancelFunc) {
			clk.Advance(time.Hour)
		}, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			ctx, cancel := clk.WithTimeout(c.ctx, time.Hour)
			defer cancel()
			done, ended := make(chan struct{}), make(chan error, 1)
			if c.closed {
				close(done)
			}
			go func() { ended <- clk.Await(ctx, done) }()
			if c.act != nil {
				require.NoError(t, clk.BlockUntil(t.Context(), 1))
				c.act(&clk, done, cancel)
			}
			require.Equal(t, c.want, <-ended)
			require.Zero(t, clk.Waiters())
			require.Nil(t, clk.Waits(), "it is no sleep")
		})
	}
}

func TestFakeWaitsBeginAnewAfterAReset(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	clk.ResetWaits()
	for _, d := range []time.Duration{time.Second, time.Minute} {
		clk.Run(func() { _ = clk.Sleep(t.Context(), d) })
		require.Equal(t, []time.Duration{d}, clk.Waits())
		clk.ResetWaits()
		require.Nil(t, clk.Waits())
	}
}
