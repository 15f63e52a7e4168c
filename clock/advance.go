package clock

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Advance moves the time forward by d and fires what is due on the way, that is
// waiters and deadlines, in order of time and for one instant in order of
// registration. While one fires, Now is the instant at which it was due. What
// the functions of timers register on the way fires too if it is due within d.
// A negative d panics.
//
// Calls add up: the time they move is the sum of their durations, whether they
// come from several goroutines or from a function that another call is running.
// Calls at the same time each fire a part of what is due: one may return
// while the other still runs a function, and that function may see Now move on.
// A call that a panic in such a function ended short leaves the rest of its
// way to the next.
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

// AdvanceToNext moves the time to the instant at which the next waiter is due,
// fires everything that is due until then and at that instant, and returns how
// far it moved. With no waiter that has an instant it returns false and does nothing:
// those of AddWaiters have none, and deadlines of contexts expire on the way to a
// waiter, but none is a place to go to. To reach one, use Advance.
func (c *Fake) AdvanceToNext() (time.Duration, bool) {
	c.mu.Lock()
	next := c.waiters.head()
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

// moveTo fires everything due until end, then makes end the time.
func (c *Fake) moveTo(end time.Time) {
	for {
		e := c.next(end)
		if e == nil {
			return
		}
		e.fire()
	}
}

// next takes out the next entry due until end and moves the time to it; nothing
// in a queue is due before now. With none left it moves the time to end, unless
// another goroutine is further already, and returns nil.
func (c *Fake) next(end time.Time) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.waiters
	e := q.head()
	if d := c.deadlines.head(); e == nil || d != nil && d.before(e) {
		q, e = &c.deadlines, d
	}
	if e == nil || e.due.After(end) {
		c.now = later(c.now, end)
		return nil
	}
	q.remove(e)
	c.now = e.due
	return e
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// watcher is a BlockUntil that waits.
type watcher struct {
	n       int
	reached chan struct{} // closed once there have been n waiters
}

// BlockUntil returns nil as soon as there are at least n waiters, at once if
// there are so many already, and otherwise an error that wraps ctx.Err() and
// says how many there were when ctx was done. What counts:
//
//   - a Sleep that has not ended;
//   - a timer of AfterFunc whose call is still to come;
//   - an operation of this module that waits for a send token or for retry quota, one
//     for each, also behind others: the first of a queue by the timer for it, those
//     behind it by AddWaiters;
//   - not the deadline of a context, see WithDeadline.
//
// The number is that of a moment: waiters may end before BlockUntil returns if another
// goroutine moves the time, cancels them or stops them.
func (c *Fake) BlockUntil(ctx context.Context, n int) error {
	c.mu.Lock()
	if c.waitingLocked() >= n {
		c.mu.Unlock()
		return nil
	}
	w := &watcher{n: n, reached: make(chan struct{})}
	c.watchers = append(c.watchers, w)
	c.mu.Unlock()
	select {
	case <-w.reached:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.watchers, w)
	if i < 0 {
		return nil // reached at the last moment
	}
	c.watchers = slices.Delete(c.watchers, i, i+1)
	return fmt.Errorf("clock: %d of %d waiters on the fake clock: %w", c.waitingLocked(), n, ctx.Err())
}

// addWaiterLocked registers a waiter due d from now.
func (c *Fake) addWaiterLocked(e *entry, d time.Duration) {
	e.due = c.nowLocked().Add(d)
	c.registered++
	e.seq = c.registered
	c.waiters.add(e)
	c.tellLocked()
}

// waitingLocked returns the number of waiters.
func (c *Fake) waitingLocked() int { return len(c.waiters) + c.others }

// tellLocked ends each BlockUntil whose waiters are there.
func (c *Fake) tellLocked() {
	c.watchers = slices.DeleteFunc(c.watchers, func(w *watcher) bool {
		reached := c.waitingLocked() >= w.n
		if reached {
			close(w.reached)
		}
		return reached
	})
}
