package clock

import (
	"fmt"
	"time"
)

// Advance moves the time forward by d and fires what is due on the way: sleeps, timers and
// deadlines of contexts, in order of time, and at one instant in order of registration. While one
// fires, Now is the instant at which it was due. What timer functions register on the way fires too
// if it is due within d. A negative d panics.
//
// Calls add up: together they move the time by the sum of their durations, even if they come from
// several goroutines or from a timer function that another call runs. Concurrent calls share the
// work: one may return while another still runs a timer function, and that function may see Now
// move on. If a timer function panics, so does Advance, and the next call moves the rest of the
// way.
func (c *Fake) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("clock: Fake.Advance by the negative duration %v", d))
	}
	c.mu.Lock()
	c.nowLocked()
	c.target = c.target.Add(d)
	end := c.target
	c.mu.Unlock()
	c.moveTo(end)
}

// AdvanceToNext moves the time to the instant at which the next Sleep or timer is due, fires
// everything due up to and including that instant, and returns how far it moved. With no Sleep and
// no timer it does nothing and returns false. Deadlines of contexts expire on the way, but
// AdvanceToNext does not stop at one: use [Fake.Advance] to reach a deadline.
func (c *Fake) AdvanceToNext() (time.Duration, bool) {
	c.mu.Lock()
	next := c.queue.head()
	if next == nil {
		c.mu.Unlock()
		return 0, false
	}
	now, end := c.nowLocked(), next.due
	c.target = later(c.target, end)
	c.mu.Unlock()
	c.moveTo(end)
	return end.Sub(now), true
}

// moveTo fires all that is due until end, then makes end the time.
func (c *Fake) moveTo(end time.Time) {
	for {
		e := c.next(end)
		if e == nil {
			return
		}
		e.fire()
	}
}

// next removes the next entry due until end and moves the time to it; nothing in a queue is due
// before now. If there is none, it moves the time to end, unless another goroutine has moved it
// further, and returns nil.
func (c *Fake) next(end time.Time) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	q, e := c.headLocked()
	if e == nil || e.due.After(end) {
		c.now = later(c.now, end)
		return nil
	}
	q.remove(e)
	c.now = e.due
	return e
}

// headLocked returns what is due next and the queue that it is in; nil if there is
// nothing.
func (c *Fake) headLocked() (*queue, *entry) {
	e, d := c.queue.head(), c.deadlines.head()
	if e == nil || d != nil && d.before(e) {
		return &c.deadlines, d
	}
	return &c.queue, e
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
