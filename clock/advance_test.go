package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestFakeAdvanceFiresInOrderOfTimeThenOfRegistration(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	type firing struct {
		name string
		at   time.Duration
	}
	var fired []firing
	arm := func(name string, d time.Duration) clock.Timer {
		return clk.AfterFunc(d, func() { fired = append(fired, firing{name, clk.Now().Sub(origin())}) })
	}
	arm("c", 3*time.Second)
	moved := arm("a2", time.Hour)
	arm("b", 2*time.Second)
	arm("a1", time.Second)
	moved.Reset(time.Second) // due with a1, and registered after it
	arm("never", 5*time.Second)
	arm("a3", time.Second)

	clk.Advance(4 * time.Second)

	require.Equal(t, []firing{
		{"a1", time.Second},
		{"a2", time.Second},
		{"a3", time.Second},
		{"b", 2 * time.Second},
		{"c", 3 * time.Second},
	}, fired)
	require.Equal(t, origin().Add(4*time.Second), clk.Now())
	require.Equal(t, 1, clk.Waiters())
}

func TestFakeAdvanceFiresWhatIsArmedOnTheWay(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	ticks := 0
	var tick func()
	tick = func() {
		ticks++
		clk.AfterFunc(time.Second, tick)
	}
	clk.AfterFunc(time.Second, tick)

	clk.Advance(10 * time.Second)

	require.Equal(t, 10, ticks)
	require.Equal(t, 1, clk.Waiters(), "the next tick")
}

func TestFakeAdvanceFromAFunctionAddsUp(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	var ran []time.Duration
	note := func() { ran = append(ran, clk.Now().Sub(origin())) }
	clk.AfterFunc(time.Second, func() {
		clk.Advance(time.Minute)
		note()
	})
	clk.AfterFunc(30*time.Second, note)

	clk.Advance(10 * time.Second)

	require.Equal(t, []time.Duration{30 * time.Second, 70 * time.Second}, ran)
	require.Equal(t, origin().Add(70*time.Second), clk.Now())
}

func TestFakeAdvanceAfterAPanickingFunction(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	clk.AfterFunc(time.Second, func() { panic("on purpose") })

	require.PanicsWithValue(t, "on purpose", func() { clk.Advance(10 * time.Second) })
	require.Equal(t, origin().Add(time.Second), clk.Now())

	clk.Advance(0)
	require.Equal(t, origin().Add(10*time.Second), clk.Now())
}

func TestFakeAdvanceRefusesToGoBack(t *testing.T) {
	t.Parallel()
	var clk clock.Fake

	require.PanicsWithValue(t, "clock: Fake.Advance by the negative duration -1s", func() { clk.Advance(-time.Second) })

	require.Equal(t, origin(), clk.Now())
}

func TestFakeAdvanceToNext(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	fired := 0
	for _, d := range []time.Duration{5 * time.Second, 2 * time.Second, 5 * time.Second} {
		clk.AfterFunc(d, func() { fired++ })
	}
	sleep := startSleep(t.Context(), t, &clk, 5*time.Second)
	steps := []struct {
		want      time.Duration
		wantOK    bool
		wantFired int
	}{
		{2 * time.Second, true, 1},
		{3 * time.Second, true, 3},
		{0, false, 3},
	}
	for _, step := range steps {
		d, ok := clk.AdvanceToNext()
		require.Equal(t, step.want, d)
		require.Equal(t, step.wantOK, ok)
		require.Equal(t, step.wantFired, fired)
	}
	require.NoError(t, <-sleep)
	require.Equal(t, origin().Add(5*time.Second), clk.Now())

	clk.Advance(time.Second)
	require.Equal(t, origin().Add(6*time.Second), clk.Now())
}

func TestFakeAdvanceToNextStopsBeforeWhatIsArmedOnTheWay(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	fired := 0
	clk.AfterFunc(time.Second, func() {
		clk.AfterFunc(1, func() { fired++ })
	})

	d, ok := clk.AdvanceToNext()
	require.True(t, ok)
	require.Equal(t, time.Second, d)
	require.Zero(t, fired)

	d, ok = clk.AdvanceToNext()
	require.True(t, ok)
	require.Equal(t, time.Duration(1), d)
	require.Equal(t, 1, fired)
}

func TestFakeBlockUntil(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, clk.BlockUntil(cancelled, 0), "reached, whatever the context")
	require.NoError(t, clk.BlockUntil(cancelled, -1))
	clk.AfterFunc(time.Second, func() {})
	require.NoError(t, clk.BlockUntil(cancelled, 1))

	err := clk.BlockUntil(cancelled, 3)

	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "clock: too few waiters on the fake clock: context canceled: 1 of 3")
	require.Zero(t, clk.Watchers(), "nothing stays behind")
}

func TestFakeBlockUntilWaits(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	reached := make(chan int, 3)
	ctx, cancel := context.WithCancel(t.Context())
	for _, n := range []int{1, 2, 3} {
		go func() {
			if clk.BlockUntil(ctx, n) != nil {
				n = -n
			}
			reached <- n
		}()
	}

	timer := clk.AfterFunc(time.Second, func() {})
	require.Equal(t, 1, <-reached)
	timer.Reset(time.Minute) // the same waiter
	startSleep(t.Context(), t, &clk, time.Second)
	require.Equal(t, 2, <-reached)
	cancel()
	require.Equal(t, -3, <-reached)

	require.Zero(t, clk.Watchers())
	clk.Advance(time.Second)
}

func TestFakeAwait(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	closed := make(chan struct{})
	close(closed)
	tests := map[string]struct {
		ctx  context.Context //nolint:containedctx // the argument of a table case
		done chan struct{}
		act  func(clk *clock.Fake, done chan struct{}, cancel context.CancelFunc)
		want error
	}{
		"closed beforehand":              {ctx: t.Context(), done: closed},
		"context done beforehand":        {ctx: cancelled, done: make(chan struct{}), want: context.Canceled},
		"context done beforehand, first": {ctx: cancelled, done: closed, want: context.Canceled},
		"closed by a timer": {
			ctx: t.Context(), done: make(chan struct{}),
			act: func(clk *clock.Fake, done chan struct{}, _ context.CancelFunc) {
				clk.AfterFunc(time.Second, func() { close(done) })
				clk.AdvanceToNext()
			},
		},
		"cancelled": {
			ctx: t.Context(),
			act: func(_ *clock.Fake, _ chan struct{}, cancel context.CancelFunc) { cancel() }, want: context.Canceled,
		},
		"closed and cancelled": {
			ctx: t.Context(), done: make(chan struct{}),
			act: func(_ *clock.Fake, done chan struct{}, cancel context.CancelFunc) {
				cancel()
				close(done)
			},
			want: context.Canceled,
		},
		"at the deadline of its context": {
			ctx:  t.Context(),
			act:  func(clk *clock.Fake, _ chan struct{}, _ context.CancelFunc) { clk.Advance(time.Hour) },
			want: context.DeadlineExceeded,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			ctx, cancel := clk.WithTimeout(tt.ctx, time.Hour)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- clk.Await(ctx, tt.done) }()

			if tt.act != nil {
				require.NoError(t, clk.BlockUntil(t.Context(), 1))
				tt.act(&clk, tt.done, cancel)
			}

			require.Equal(t, tt.want, <-ended)
			require.Zero(t, clk.Waiters())
			require.Nil(t, clk.Waits(), "it is no sleep")
		})
	}
}

func TestFakeCountsAwaitsTogetherWithTheirTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		woken := make(chan struct{})
		clk.AfterFunc(time.Second, func() { close(woken) })
		reached := false
		go func() { reached = clk.BlockUntil(t.Context(), 3) == nil }()
		await := func() {
			go func() { _ = clk.Await(t.Context(), woken) }()
			synctest.Wait()
		}
		for range 2 {
			await()
		}
		require.False(t, reached)
		require.Equal(t, 2, clk.Waiters())

		await()

		require.True(t, reached)
		require.Equal(t, 3, clk.Waiters())
		startSleep(t.Context(), t, &clk, time.Minute)
		require.Equal(t, 4, clk.Waiters())
		moved, ok := clk.AdvanceToNext()
		require.True(t, ok)
		require.Equal(t, time.Second, moved)
		require.Equal(t, 1, clk.Waiters(), "the timer has ended the other waits")
		clk.AdvanceToNext()
	})
}

func TestFakeAdvanceToNextWithoutAnInstant(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- clk.Await(ctx, nil) }()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))

	_, ok := clk.AdvanceToNext()

	require.False(t, ok)
	cancel()
	require.Equal(t, context.Canceled, <-ended)
}
