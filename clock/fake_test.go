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
	zone := time.FixedZone("somewhere", 3600)
	machine := clock.System{}.Now()
	tests := map[string]struct {
		clk  *clock.Fake
		want time.Time
	}{
		"the documented instant if zero":      {new(clock.Fake), origin()},
		"a given instant":                     {clock.NewFake(time.Unix(1, 2).UTC()), time.Unix(1, 2).UTC()},
		"a given instant in its zone":         {clock.NewFake(origin().In(zone)), origin().In(zone)},
		"an instant without monotonic clock":  {clock.NewFake(machine), machine.Round(0)},
		"the zero time if that is asked for":  {clock.NewFake(time.Time{}), time.Time{}},
		"an instant before the zero time too": {clock.NewFake(time.Time{}.Add(-time.Hour)), time.Time{}.Add(-time.Hour)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.clk.Now())
			require.Equal(t, tt.want, tt.clk.Now(), "it stands still")

			tt.clk.Advance(90 * time.Minute)

			require.Equal(t, tt.want.Add(90*time.Minute), tt.clk.Now())
		})
	}
}

func TestFakeSleepEndsWhenTheTimeHasPassed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		advances []time.Duration
	}{
		"in one step":     {[]time.Duration{time.Second}},
		"in several":      {[]time.Duration{time.Second - 1, 0, 1}},
		"after too much":  {[]time.Duration{time.Hour}},
		"after very much": {[]time.Duration{1<<63 - 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake
			done := startSleep(t.Context(), t, &clk, time.Second)

			for _, d := range tt.advances {
				require.Equal(t, 1, clk.Waiters())
				clk.Advance(d)
			}

			require.Zero(t, clk.Waiters(), "released by the time Advance returns")
			require.NoError(t, <-done)
		})
	}
}

func TestFakeSleepThatDoesNotWait(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx     context.Context //nolint:containedctx // the argument of a table case
		d       time.Duration
		wantErr error
	}{
		"zero":                   {t.Context(), 0, nil},
		"negative":               {t.Context(), -time.Second, nil},
		"context done":           {cancelled, time.Second, context.Canceled},
		"context done, zero":     {cancelled, 0, context.Canceled},
		"context done, negative": {cancelled, -1, context.Canceled},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk clock.Fake

			err := clk.Sleep(tt.ctx, tt.d)

			require.ErrorIs(t, err, tt.wantErr)
			require.Zero(t, clk.Waiters())
			require.Nil(t, clk.Waits())
		})
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
