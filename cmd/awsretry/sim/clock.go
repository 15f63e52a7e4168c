package sim

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Clock is a [clock.Fake] for many tasks, such as the workers of a client that a service throttles. One task runs at a time,
// and the clock decides which one, so each run is the same. [Clock.Run] runs the tasks that [Clock.Go] has added. Call its
// methods from the tasks, from timer functions, and before Run; it is not safe for concurrent use. Use [NewClock].
//
// [clock.Fake.Run] has a goroutine for each function, and looks at every wait at each step. Here a task is a coroutine, and waits
// have to end in the order in which they began, as waits for the send tokens of one scope do: the clock looks at the first of
// them only. [Clock.Recheck] makes it look at all with a context that can end. A context ends a wait at its deadline on this
// clock, and not in another way.
type Clock struct {
	*loop
	ordered, limited []wait
	recheck          bool // until the next event
}

var _ clock.Clock = (*Clock)(nil)

// loop is the common part of clocks with the same time.
type loop struct {
	*clock.Fake
	current *task // the task that runs, or nil
	begun   []*task
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
	clock  *Clock
	f      func()
	number uint64
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	alarm  clock.Timer // wakes the task from a sleep
}

// NewClock returns a clock that shows start.
func NewClock(start time.Time) *Clock {
	return &Clock{loop: &loop{Fake: clock.NewFake(start), tasks: make(map[*task]struct{})}}
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
	t.clock, t.f, t.number = c, f, c.added
	c.tasks[t] = struct{}{}
	c.begun = append(c.begun, t)
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
	t.alarm = timer{l.AfterFunc(never, func() { t.clock.happen(func() { l.turn(t) }) })}
	t.alarm.Stop()
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

// happen does what is due, and then runs each task that it lets begin or go on.
func (c *Clock) happen(due func()) {
	if c.stopped {
		return
	}
	due()
	for {
		for t := c.awaited(); t != nil; t = c.awaited() {
			c.turn(t)
		}
		c.recheck = false
		if len(c.begun) == 0 {
			return
		}
		t := c.begun[0]
		c.begun = c.begun[1:]
		c = t.clock
		c.turn(t)
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
	if !until.IsZero() {
		c.Fake.AfterFunc(until.Sub(c.Now()), c.Stop)
	}
	c.happen(func() {})
	for goes := true; goes && len(c.tasks) > 0 && !c.stopped; {
		_, goes = c.AdvanceToNext()
	}
}

// end ends the remaining tasks, in the order in which they were added.
func (l *loop) end() {
	l.stopped, l.ended = true, true
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

// Sleep waits until d has passed or ctx is done. Only tasks may call it.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); !c.ended && (err != nil || d <= 0) {
		return err
	}
	return c.pause(ctx, d)
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
		return c.pause(ctx, never)
	}
	c.limited = append(c.limited, w)
	err := c.pause(ctx, never)
	if err != nil {
		c.limited = slices.DeleteFunc(c.limited, func(other wait) bool { return other == w })
	}
	return err
}

// never is the time of a pause without an end.
const never = time.Duration(1<<63 - 1)

// pause makes the running task wait, at most to the deadline of its context. It fails if the run has ended.
func (c *Clock) pause(ctx context.Context, d time.Duration) error {
	if c.ended {
		return context.Canceled
	}
	if until, limited := ctx.Deadline(); limited {
		d = min(d, until.Sub(c.Now()))
	}
	if d < never {
		alarm := c.current.alarm
		alarm.Reset(d)
		defer alarm.Stop()
	}
	if !c.current.yield(struct{}{}) {
		return context.Canceled
	}
	return ctx.Err()
}

// AfterFunc calls f when d has passed, in the goroutine of Run. f must not wait.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return timer{c.Fake.AfterFunc(max(d, 1), func() { c.happen(f) })}
}

// timer is due after a nanosecond where that of a [clock.Fake] begins a goroutine.
type timer struct{ clock.Timer }

func (t timer) Reset(d time.Duration) bool { return t.Timer.Reset(max(d, 1)) }
