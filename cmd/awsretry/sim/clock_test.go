package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

func start() time.Time { return time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC) }

// notes are what tasks have done, with the second at which they did it.
type notes struct {
	*sim.Clock
	list []string
}

func (n *notes) add(format string, args ...any) {
	n.list = append(n.list, fmt.Sprintf("%v ", n.Now().Sub(start()))+fmt.Sprintf(format, args...))
}

// For these tasks nothing but a deadline ends a wait, or the end of the run.
func TestTasksTakeTurnsAndWaitUntilTheRunEnds(t *testing.T) {
	t.Parallel()
	all, never := context.Background(), make(chan struct{})
	for _, c := range []struct {
		name  string
		until time.Duration
		begin func(n *notes)
		want  []string
	}{
		{"in the order of their instants, then of their beginnings", 0, func(n *notes) {
			for i, pause := range []time.Duration{2 * time.Second, time.Second, 2 * time.Second} {
				n.Go(func() {
					for range 2 {
						n.add("task %d", i)
						_ = n.Sleep(t.Context(), pause)
					}
				})
			}
		}, []string{"0s task 0", "0s task 1", "0s task 2", "1s task 1", "2s task 0", "2s task 2"}},
		{"until what is due at the end, which is too late", time.Minute, func(n *notes) {
			for i, wait := range []func() error{
				func() error { return n.Sleep(all, time.Hour) },
				func() error { return n.Await(t.Context(), never) },
				func() error { return n.Sleep(t.Context(), time.Minute) },
			} {
				n.Go(func() {
					n.add("task %d: %v", i, wait())
					n.add("then: %v, %v", n.Sleep(t.Context(), 0), n.Await(t.Context(), never))
				})
			}
			n.AfterFunc(30*time.Second, func() { n.Go(func() { n.add("added") }) })
		}, []string{
			"30s added", "1m0s task 0: context canceled", "1m0s then: context canceled, context canceled",
			"1m0s task 1: context canceled", "1m0s then: context canceled, context canceled",
			"1m0s task 2: context canceled", "1m0s then: context canceled, context canceled",
		}},
		{"for ever, without timers", 0, func(n *notes) { n.Go(func() { n.add("%v", n.Await(t.Context(), never)) }) }, []string{"0s context canceled"}},
		{"until it is stopped", 0, func(n *notes) {
			n.AfterFunc(time.Second, n.Stop)
			for range 2 {
				n.Go(func() { n.add("%v", n.Sleep(t.Context(), time.Hour)) })
			}
		}, []string{"1s context canceled", "1s context canceled"}},
		{"with timers that fire unless they are stopped, and no later than the last task", 0, func(n *notes) {
			done := make(chan struct{})
			n.AfterFunc(3*time.Second, func() { close(done) })
			stopped := n.AfterFunc(time.Second, func() { n.add("stopped") })
			moved := n.AfterFunc(time.Second, func() { n.add("moved") })
			n.Go(func() {
				n.add("%v %v %v", stopped.Stop(), stopped.Stop(), moved.Reset(2*time.Second))
				n.add("awaited: %v", n.Await(t.Context(), done))
				n.add("%v", moved.Reset(-time.Second))
			})
		}, []string{"0s true false true", "2s moved", "3s awaited: <nil>", "3s false"}},
		{"with one deadline", 0, func(n *notes) {
			n.Go(func() {
				ctx, cancel := clock.WithTimeout(t.Context(), n.Clock, 2*time.Second)
				defer cancel()
				inner, stop := n.WithTimeout(ctx, time.Hour)
				defer stop()
				until, _ := inner.Deadline()
				n.add("%v: %v", until.Sub(start()), n.Sleep(inner, time.Second))
				n.add("%v, %v", n.Sleep(ctx, time.Minute), ctx.Err())
				n.add("%v, %v", n.Sleep(ctx, time.Second), n.Await(ctx, never))
			})
		}, []string{
			"1s 2s: <nil>", "2s context deadline exceeded, context deadline exceeded",
			"2s context deadline exceeded, context deadline exceeded",
		}},
		{"with deadlines behind other waits", 0, func(n *notes) {
			door := make(chan struct{})
			n.Go(func() { n.add("first: %v", n.Await(all, never)) })
			for i, limit := range []time.Duration{3 * time.Second, 2 * time.Second, 9 * time.Second} {
				n.Go(func() {
					ctx, cancel := clock.WithTimeout(all, n.Clock, limit)
					defer cancel()
					n.add("wait %d: %v", i, n.Await(ctx, door))
				})
			}
			n.Go(func() {
				outer, cancel := clock.WithTimeout(all, n.Clock, time.Second)
				defer cancel()
				inner, stop := clock.WithTimeout(outer, n.Clock, time.Hour)
				defer stop()
				n.add("sleep: %v", n.Sleep(inner, time.Hour))
			})
			n.AfterFunc(4*time.Second, func() { close(door) })
		}, []string{
			"1s sleep: context deadline exceeded", "2s wait 1: context deadline exceeded", "3s wait 0: context deadline exceeded",
			"4s wait 2: <nil>", "4s first: context canceled",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := &notes{Clock: sim.NewClock(start())}
			c.begin(n)
			until := time.Time{}
			if c.until > 0 {
				until = start().Add(c.until)
			}
			n.Run(until)
			require.Equal(t, c.want, n.list)
		})
	}
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
		n := &notes{Clock: sim.NewClock(start())}
		beside, ctx := n.Beside(), context.Background()
		if c.limited {
			ctx, _ = beside.WithTimeout(ctx, time.Hour)
		}
		var doors [3]chan struct{}
		for i := range doors {
			doors[i] = make(chan struct{})
			beside.Go(func() {
				_ = beside.Await(ctx, doors[i])
				n.add("wait %d", i)
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

		n.Run(time.Time{})

		require.Equal(t, c.want, n.list)
	}
}

func TestPanicOfATaskIsThatOfRun(t *testing.T) {
	t.Parallel()
	clk, ended := sim.NewClock(start()), false
	clk.Go(func() {
		_ = clk.Sleep(t.Context(), time.Second)
		panic("on purpose")
	})
	clk.Go(func() { ended = clk.Sleep(t.Context(), time.Hour) != nil })
	require.PanicsWithValue(t, "on purpose", func() { clk.Run(time.Time{}) })
	require.True(t, ended, "no task is left behind")
	clk.Go(func() { t.Error("a task began after the end") })
}
