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
type Clock struct {
	*loop
	waits []*wait
	// sleeps are the tasks that sleep, by the channels of the contexts that end their sleep.
	sleeps map[*task]<-chan struct{}
	// first is true if waits end in the order in which they began, unless a context ends them.
	first bool
	// expired is true if a context of WithTimeout has ended by itself since the last wake, and recheck if Recheck says that
	// any wait may have ended.
	expired, recheck bool
}

var _ clock.Clock = (*Clock)(nil)

// loop is the common part of clocks with the same time.
type loop struct {
	now     time.Time
	queue   queue
	armed   uint64 // timers ever armed; orders those that are due at the same instant
	current *task  // the task that runs, or nil
	tasks   map[*task]struct{}
	added   uint64 // tasks ever added
	stopped bool
	ended   bool
}

// New returns a clock that shows start.
func New(start time.Time) *Clock {
	return &Clock{sleeps: map[*task]<-chan struct{}{}, loop: &loop{now: start, tasks: make(map[*task]struct{})}}
}

// Beside returns a clock with the same time. Its tasks must not end the waits of tasks of another
// clock, because after a task has run, only the waits of its own clock are checked. Clients, for
// example, do not end each other's waits. inOrder says that waits end in the order in which they
// began, as waits for the send tokens of one scope mostly do. Then only the first one is checked, or all of
// them after [Clock.Recheck] or when a context of WithTimeout has ended by itself; no other context may end then.
func (c *Clock) Beside(inOrder bool) *Clock {
	return &Clock{loop: c.loop, first: inOrder, sleeps: map[*task]<-chan struct{}{}}
}

// task is a function that [Clock.Go] has added. It is a coroutine.
type task struct {
	clock  *Clock
	number uint64
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	alarm  *timer // wakes the task from a sleep
}

// Go adds a task, which begins when its turn comes. After the run it does nothing.
func (c *Clock) Go(f func()) {
	if c.ended {
		return
	}
	c.added++
	t := &task{clock: c, number: c.added}
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		f()
	})
	t.alarm = &timer{clock: c, f: func() { c.turn(t) }, place: outside}
	c.tasks[t] = struct{}{}
	t.alarm.Reset(0)
}

// turn runs a task until it waits or has returned.
func (l *loop) turn(t *task) {
	l.current = t
	_, waits := t.resume()
	l.current = nil
	if !waits {
		delete(l.tasks, t)
	}
}

// pause makes the running task wait. It fails if the run has ended.
func (l *loop) pause() error {
	if !l.current.yield(struct{}{}) {
		return context.Canceled
	}
	return nil
}

// Recheck says that the running task is about to end waits in any order.
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
		next.clock.wake()
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
}

// wait is a call of Await.
type wait struct {
	task           *task
	done, canceled <-chan struct{}
}

// over asks one channel after the other: a select of both would lock them, which is most of what a simulation with
// deadlines costs.
func (w *wait) over(contexts bool) bool {
	select {
	case <-w.done:
		return true
	default:
	}
	if !contexts {
		return false
	}
	select {
	case <-w.canceled:
		return true
	default:
		return false
	}
}

// wake runs the tasks whose waits are over, in the order in which they began to wait, and then those whose sleep a
// context has ended.
func (c *Clock) wake() {
	contexts := !c.first || c.expired
	all := contexts || c.recheck
	c.expired, c.recheck = false, false
	c.wakeWaits(all, contexts)
	if !contexts || len(c.sleeps) == 0 {
		return
	}
	var ended []*task
	for t, done := range c.sleeps {
		select {
		case <-done:
			ended = append(ended, t)
		default:
		}
	}
	slices.SortFunc(ended, func(a, b *task) int { return cmp.Compare(a.number, b.number) })
	for _, t := range ended {
		if _, still := c.sleeps[t]; still {
			c.turn(t)
		}
	}
}

// wakeWaits looks at the first wait or at all, and at their contexts if these may have ended.
func (c *Clock) wakeWaits(all, contexts bool) {
	for i := 0; i < len(c.waits); {
		w := c.waits[i]
		switch {
		case w.over(contexts):
			if i == 0 {
				c.waits = c.waits[1:]
			} else {
				c.waits = append(c.waits[:i], c.waits[i+1:]...)
			}
			c.turn(w.task)
			i = 0 // the task may have ended a wait that began before
		case !all:
			return
		default:
			i++
		}
	}
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return c.now }

// Sleep waits until d has passed or ctx is done. Only tasks may call it.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if c.ended {
		return context.Canceled
	}
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	return c.Park(ctx, func(wake func(time.Duration)) { wake(d) })
}

// Await waits until done is closed or ctx is done. Only tasks may call it. The strategies of this
// module use it to wait for send tokens and for retry quota.
func (c *Clock) Await(ctx context.Context, done <-chan struct{}) error {
	if c.ended {
		return context.Canceled
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.waits = append(c.waits, &wait{task: c.current, done: done, canceled: ctx.Done()})
	if err := c.pause(); err != nil {
		return err
	}
	return ctx.Err()
}

// Park calls begin with a function wake, and waits until wake has been called and its time has passed, or until ctx
// is done. Only tasks may call it. With many waiting tasks it is faster than Await, which checks their channels.
func (c *Clock) Park(ctx context.Context, begin func(wake func(after time.Duration))) error {
	if c.ended {
		return context.Canceled
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t := c.current
	if done := ctx.Done(); done != nil {
		c.sleeps[t] = done
		defer func() {
			delete(c.sleeps, t)
			t.alarm.Stop()
		}()
	}
	begin(func(after time.Duration) { t.alarm.Reset(after) })
	if err := c.pause(); err != nil {
		return err
	}
	return ctx.Err()
}

// AfterFunc calls f when d has passed, in the goroutine of Run. f must not wait.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	armed := &timer{clock: c, f: f, place: outside}
	armed.Reset(d)
	return armed
}

// WithTimeout is for [clock.WithTimeout]. A context that package context derives from the result
// has the error Canceled after the deadline.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	until := c.now.Add(d)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(until) {
		until = earlier
	}
	ctx, end := context.WithCancelCause(parent)
	over := c.AfterFunc(d, func() {
		c.expired = true
		end(context.DeadlineExceeded)
	})
	return &deadline{ctx, until}, func() {
		over.Stop()
		end(nil)
	}
}

// deadline is a context of WithTimeout.
type deadline struct {
	context.Context //nolint:containedctx // it is a context
	until           time.Time
}

func (d *deadline) Deadline() (time.Time, bool) { return d.until, true }

func (d *deadline) Err() error {
	err := d.Context.Err()
	if err != nil && context.Cause(d.Context) == context.DeadlineExceeded { //nolint:errorlint // compares the unwrapped cause
		return context.DeadlineExceeded
	}
	return err
}
