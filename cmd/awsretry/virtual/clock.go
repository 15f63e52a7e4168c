// Package virtual has a clock for simulations with many tasks, such as the workers of a client that
// a service throttles. One task runs at a time, and the clock decides which one, so each run is the
// same, and only virtual time passes.
//
// A [clock.Fake] suits tests of a few functions: it uses the goroutines of the test, and if a
// deadline ends several waits at once, they all run at once.
package virtual

import (
	"cmp"
	"container/heap"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Clock is a clock whose time moves when all tasks wait. [Clock.Run] runs its tasks, which
// [Clock.Go] has added. Call its methods from the tasks, from timer functions, and before Run; it
// is not safe for concurrent use. Use [New].
//
// Waits must end in the order in which they began, as waits for the send tokens of one scope do: the clock looks at the first
// of them only. [Clock.Recheck] makes it look at all with a context that can end. A context ends a wait at the deadline of a
// WithTimeout of the waiting task, and not in another way.
type Clock struct {
	*loop
	ordered, limited []wait
	recheck          bool // until the next event
}

var _ clock.Clock = (*Clock)(nil)

// loop is the common part of clocks with the same time.
type loop struct {
	now     time.Time
	queue   queue
	armed   uint64 // timers ever armed; orders those that are due at the same instant
	current *task  // the task that runs, or nil
	tasks   map[*task]struct{}
	idle    []*task // that have returned, for functions to come: a new coroutine costs more than most of them
	added   uint64  // tasks ever added
	stopped bool
	ended   bool
}

// wait is a call of Await.
type wait struct {
	task *task
	done <-chan struct{}
}

// task is a function that [Clock.Go] has added. It is a coroutine.
type task struct {
	f      func()
	number uint64
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	alarm  *timer // wakes the task from a sleep
}

// New returns a clock that shows start.
func New(start time.Time) *Clock {
	return &Clock{loop: &loop{now: start, tasks: make(map[*task]struct{})}}
}

// Beside returns a clock with the same time. Its tasks must not end the waits of tasks of another
// clock, because after a task has run, only the waits of its own clock are checked. Clients, for
// example, do not end each other's waits.
func (c *Clock) Beside() *Clock { return &Clock{loop: c.loop} }

// Go adds a task, which begins when its turn comes. After the run it does nothing.
func (c *Clock) Go(f func()) {
	if c.ended {
		return
	}
	if len(c.idle) == 0 {
		c.idle = append(c.idle, c.newTask())
	}
	t := c.idle[len(c.idle)-1]
	c.idle = c.idle[:len(c.idle)-1]
	c.added++
	t.f, t.number, t.alarm.clock = f, c.added, c
	c.tasks[t] = struct{}{}
	t.alarm.Reset(0)
}

// newTask returns a coroutine that runs one function after another.
func (l *loop) newTask() *task {
	t := &task{}
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		for goes := true; goes; goes = yield(struct{}{}) {
			t.f()
			t.f = nil
		}
	})
	t.alarm = &timer{f: func() { l.turn(t) }, place: outside}
	return t
}

// turn runs a task until it waits or has returned.
func (l *loop) turn(t *task) {
	l.current = t
	t.resume()
	l.current = nil
	if t.f == nil {
		delete(l.tasks, t)
		l.idle = append(l.idle, t)
	}
}

// Recheck says that the running task is about to end waits in any order, as a send rate that is cut refuses calls whose
// turn would come too late.
func (c *Clock) Recheck() { c.recheck = true }

// Stop ends Run at the current time.
func (c *Clock) Stop() { c.stopped = true }

// Run returns when all tasks have returned, at until, or after [Clock.Stop]. What is due at until
// does not happen. At the end each wait and each later one fails with [context.Canceled],
// regardless of its context, and Run returns when all tasks have. The zero time means no end.
//
// Afterwards the clock shows until, or the instant at which the run ended if that was earlier. Run
// panics if a task panics.
func (c *Clock) Run(until time.Time) {
	defer c.end()
	for len(c.tasks) > 0 && len(c.queue) > 0 && !c.stopped {
		if !until.IsZero() && !c.queue[0].due.Before(until) {
			c.now = until
			break
		}
		next := heap.Pop(&c.queue).(*timer)
		c.now = next.due
		next.f()
		for t := next.clock.awaited(); t != nil; t = next.clock.awaited() {
			c.turn(t)
		}
		next.clock.recheck = false
	}
}

// end ends the remaining tasks, in the order in which they were added.
func (l *loop) end() {
	l.ended = true
	inOrder := func(a, b *task) int { return cmp.Compare(a.number, b.number) }
	for _, t := range slices.SortedFunc(maps.Keys(l.tasks), inOrder) {
		l.current = t
		t.stop()
	}
	l.current = nil
	clear(l.tasks)
	for _, t := range l.idle {
		t.stop()
	}
}

// awaited returns a task whose wait is over, and removes the wait; nil if there is none.
func (c *Clock) awaited() *task {
	if len(c.ordered) > 0 && c.ordered[0].over() {
		first := c.ordered[0]
		c.ordered = c.ordered[1:]
		return first.task
	}
	for i, w := range c.limited {
		if w.over() {
			c.limited = slices.Delete(c.limited, i, i+1)
			return w.task
		}
		if !c.recheck {
			break
		}
	}
	return nil
}

func (w *wait) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return c.now }

// Sleep waits until d has passed or ctx is done. Only tasks may call it.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); !c.ended && (err != nil || d <= 0) {
		return err
	}
	alarm := c.current.alarm
	alarm.Reset(d)
	defer alarm.Stop()
	return c.pause(ctx)
}

// Await waits until done is closed or ctx is done. Only tasks may call it. The strategies of this
// module use it to wait for send tokens and for retry quota.
func (c *Clock) Await(ctx context.Context, done <-chan struct{}) error {
	if err := ctx.Err(); !c.ended && err != nil {
		return err
	}
	w := wait{c.current, done}
	if ctx.Done() == nil {
		c.ordered = append(c.ordered, w)
		return c.pause(ctx)
	}
	c.limited = append(c.limited, w)
	err := c.pause(ctx)
	if err != nil {
		c.limited = slices.DeleteFunc(c.limited, func(other wait) bool { return other == w })
	}
	return err
}

// pause makes the running task wait. It fails if the run has ended, and after the deadline of a context.
func (c *Clock) pause(ctx context.Context) error {
	if d, ok := ctx.Value(deadlineKey{}).(*deadline); ok {
		d.waiter = c.current
		defer func() { d.waiter = nil }()
	}
	if c.ended || !c.current.yield(struct{}{}) {
		return context.Canceled
	}
	return ctx.Err()
}

// AfterFunc calls f when d has passed, in the goroutine of Run. f must not wait.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	armed := &timer{clock: c, f: f, place: outside}
	armed.Reset(d)
	return armed
}

// deadline is a context of WithTimeout.
type deadline struct {
	context.Context //nolint:containedctx // it is a context
	until           time.Time
	waiter          *task // that waits with this context, or nil
}

type deadlineKey struct{}

// WithTimeout is for [clock.WithTimeout]. A context that package context derives from the result
// has the error Canceled after the deadline.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	until := c.now.Add(d)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(until) {
		until = earlier
	}
	ctx, end := context.WithCancelCause(parent)
	limited := &deadline{Context: ctx, until: until}
	over := c.AfterFunc(until.Sub(c.now), func() {
		end(context.DeadlineExceeded)
		if limited.waiter != nil {
			c.turn(limited.waiter)
		}
	})
	return limited, func() {
		over.Stop()
		end(nil)
	}
}

func (d *deadline) Deadline() (time.Time, bool) { return d.until, true }

func (d *deadline) Err() error {
	err := d.Context.Err()
	if err != nil && context.Cause(d.Context) == context.DeadlineExceeded { //nolint:errorlint // compares the unwrapped cause
		return context.DeadlineExceeded
	}
	return err
}

func (d *deadline) Value(key any) any {
	if key == (deadlineKey{}) {
		return d
	}
	return d.Context.Value(key)
}
