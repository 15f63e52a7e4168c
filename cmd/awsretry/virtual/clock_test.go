package virtual_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/cmd/awsretry/virtual"
)

func start() time.Time { return time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC) }

// notes are what tasks have done, with the second at which they did it.
type notes struct {
	clk  *virtual.Clock
	list []string
}

func (n *notes) add(format string, args ...any) {
	n.list = append(n.list, fmt.Sprintf("%v ", n.clk.Now().Sub(start()))+fmt.Sprintf(format, args...))
}

func newNotes() (*virtual.Clock, *notes) {
	clk := virtual.New(start())
	return clk, &notes{clk: clk}
}

func TestTasksTakeTurnsInTheOrderOfTheirInstants(t *testing.T) {
	t.Parallel()
	clk, notes := newNotes()
	for i, pause := range []time.Duration{2 * time.Second, time.Second, 2 * time.Second} {
		clk.Go(func() {
			for range 2 {
				notes.add("task %d", i)
				_ = clk.Sleep(t.Context(), pause)
			}
		})
	}

	clk.Run(time.Time{})

	require.Equal(t, []string{
		"0s task 0", "0s task 1", "0s task 2", "1s task 1", "2s task 0", "2s task 2",
	}, notes.list)
	require.Equal(t, 4*time.Second, clk.Now().Sub(start()))
}

func TestRunEndsTheWaitsOfAllTasksInTheirOrder(t *testing.T) {
	t.Parallel()
	clk, notes := newNotes()
	never := make(chan struct{})
	waits := []func() error{
		func() error { return clk.Sleep(context.Background(), time.Hour) },
		func() error { return clk.Sleep(t.Context(), time.Hour) },
		func() error { return clk.Await(t.Context(), never) },
		func() error { return clk.Sleep(t.Context(), time.Minute) }, // due at the end, which is too late
	}
	for i, wait := range waits {
		clk.Go(func() {
			notes.add("task %d: %v", i, wait())
			notes.add("then: %v, %v", clk.Sleep(t.Context(), 0), clk.Await(t.Context(), never))
		})
	}
	clk.AfterFunc(30*time.Second, func() { clk.Go(func() { notes.add("added") }) })

	clk.Run(start().Add(time.Minute))

	want := []string{"30s added"}
	for i := range waits {
		want = append(want, fmt.Sprintf("1m0s task %d: context canceled", i), "1m0s then: context canceled, context canceled")
	}
	require.Equal(t, want, notes.list)
}

func TestRunEndsWithoutTimersAndWhenItIsStopped(t *testing.T) {
	t.Parallel()
	clk, notes := newNotes()
	clk.Go(func() { notes.add("%v", clk.Await(t.Context(), make(chan struct{}))) }) // It waits for ever.
	clk.Run(time.Time{})
	require.Equal(t, []string{"0s context canceled"}, notes.list)

	clk, notes = newNotes()
	clk.AfterFunc(time.Second, clk.Stop)
	for range 2 {
		clk.Go(func() { notes.add("%v", clk.Sleep(t.Context(), time.Hour)) })
	}
	clk.Run(time.Time{})
	require.Equal(t, []string{"1s context canceled", "1s context canceled"}, notes.list)
}

func TestTimersFireUnlessTheyAreStopped(t *testing.T) {
	t.Parallel()
	clk, notes := newNotes()
	done := make(chan struct{})
	clk.AfterFunc(3*time.Second, func() { close(done) })
	stopped := clk.AfterFunc(time.Second, func() { notes.add("stopped") })
	moved := clk.AfterFunc(time.Second, func() { notes.add("moved") })
	clk.Go(func() {
		require.True(t, stopped.Stop())
		require.False(t, stopped.Stop())
		require.True(t, moved.Reset(2*time.Second))
		require.NoError(t, clk.Await(t.Context(), done))
		notes.add("awaited")
		require.False(t, moved.Reset(-time.Second))
	})

	clk.Run(time.Time{})

	require.Equal(t, []string{"2s moved", "3s awaited"}, notes.list, "Run ends with its tasks, before the last timer")
}

func TestDeadlineEndsTheWaitsOfItsContext(t *testing.T) {
	t.Parallel()
	clk, notes := newNotes()
	clk.Go(func() {
		ctx, cancel := clock.WithTimeout(t.Context(), clk, 2*time.Second)
		defer cancel()
		inner, stop := clk.WithTimeout(ctx, time.Hour)
		defer stop()
		until, _ := inner.Deadline()
		require.Equal(t, start().Add(2*time.Second), until)
		notes.add("%v", clk.Sleep(inner, time.Second))
		notes.add("%v, %v", clk.Sleep(ctx, time.Minute), ctx.Err())
		require.Equal(t, context.DeadlineExceeded, clk.Sleep(ctx, time.Second))
		require.Equal(t, context.DeadlineExceeded, clk.Await(ctx, make(chan struct{})))
	})

	clk.Run(time.Time{})

	require.Equal(t, []string{"1s <nil>", "2s context deadline exceeded, context deadline exceeded"}, notes.list)
}

func TestWaitsEndInOrderUnlessTheClockRechecksThoseWhoseContextsCanEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limited, recheck bool
		want             []string
	}{
		{false, true, []string{"3s wait 0", "3s wait 1", "4s wait 2"}},
		{true, false, []string{"3s wait 0", "3s wait 1", "4s wait 2"}},
		{true, true, []string{"2s wait 1", "3s wait 0", "4s wait 2"}},
	} {
		clk, notes := newNotes()
		beside := clk.Beside()
		ctx := context.Background()
		if c.limited {
			ctx, _ = beside.WithTimeout(ctx, time.Hour)
		}
		var doors [3]chan struct{}
		for i := range doors {
			doors[i] = make(chan struct{})
			beside.Go(func() {
				_ = beside.Await(ctx, doors[i])
				notes.add("wait %d", i)
			})
		}
		beside.Go(func() {
			_ = beside.Sleep(t.Context(), 2*time.Second)
			for _, i := range []int{1, 0, 2} {
				if c.recheck {
					beside.Recheck()
				}
				close(doors[i])
				_ = beside.Sleep(t.Context(), time.Second)
			}
		})

		clk.Run(time.Time{})

		require.Equal(t, c.want, notes.list)
	}
}

func TestPanicOfATaskIsThatOfRun(t *testing.T) {
	t.Parallel()
	clk, _ := newNotes()
	clk.Go(func() {
		_ = clk.Sleep(t.Context(), time.Second)
		panic("on purpose")
	})
	ended := false
	clk.Go(func() { ended = clk.Sleep(t.Context(), time.Hour) != nil })
	require.PanicsWithValue(t, "on purpose", func() { clk.Run(time.Time{}) })
	require.True(t, ended, "no task is left behind")
	clk.Go(func() { t.Error("a task began after the end") })
}

func TestDeadlinesEndWaitsBehindOthers(t *testing.T) {
	t.Parallel()
	clk, notes := newNotes()
	door := make(chan struct{})
	clk.Go(func() { notes.add("first: %v", clk.Await(context.Background(), make(chan struct{}))) })
	for i, limit := range []time.Duration{3 * time.Second, 2 * time.Second, 9 * time.Second} {
		clk.Go(func() {
			ctx, cancel := clock.WithTimeout(context.Background(), clk, limit)
			defer cancel()
			notes.add("wait %d: %v", i, clk.Await(ctx, door))
		})
	}
	clk.Go(func() {
		outer, cancel := clock.WithTimeout(context.Background(), clk, time.Second)
		defer cancel()
		inner, stop := clock.WithTimeout(outer, clk, time.Hour)
		defer stop()
		notes.add("sleep: %v", clk.Sleep(inner, time.Hour))
	})
	clk.AfterFunc(4*time.Second, func() { close(door) })

	clk.Run(time.Time{})

	require.Equal(t, []string{
		"1s sleep: context deadline exceeded", "2s wait 1: context deadline exceeded", "3s wait 0: context deadline exceeded",
		"4s wait 2: <nil>", "4s first: context canceled",
	}, notes.list)
}
