package clock

import (
	"context"
	"fmt"
	"slices"
)

// wait is a call of Sleep or Await that waits.
type wait struct {
	ctx  context.Context //nolint:containedctx // that of the call, which has not returned
	done <-chan struct{}
}

// over reports whether the wait has come to its end in time.
func (w *wait) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// wait registers the caller and returns when done is closed or ctx is done. It calls
// leaveLocked at the end.
func (c *Fake) wait(ctx context.Context, done <-chan struct{}, leaveLocked func()) error {
	w := &wait{ctx, done}
	c.mu.Lock()
	if c.waiting == nil {
		c.waiting = make(map[*wait]struct{})
	}
	c.waiting[w] = struct{}{}
	c.tellLocked()
	c.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	delete(c.waiting, w)
	leaveLocked()
	c.mu.Unlock()
	return settledErr(ctx)
}

// Waiters returns the number of waiters; [Fake.BlockUntil] says what counts.
func (c *Fake) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitersLocked()
}

func (c *Fake) waitersLocked() int { return max(len(c.queue), len(c.waitsLocked())) }

// waitsLocked returns the waits that are not over. It does not look at contexts,
// which are the user's code.
func (c *Fake) waitsLocked() []*wait {
	var waits []*wait
	for w := range c.waiting {
		if !w.over() {
			waits = append(waits, w)
		}
	}
	return waits
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
//   - a timer of AfterFunc whose call is still to come, or an Await that has not ended:
//     the number of timers or that of Awaits, whichever is larger, because an Await
//     waits for the function of a timer;
//   - so an operation of this module that waits for a send token or for retry quota is
//     one waiter, also when it stands in a queue behind others;
//   - not the deadline of a context, see [Fake.WithDeadline].
//
// The number is that of a moment: waiters may end before BlockUntil returns if another
// goroutine moves the time, cancels them or stops them.
func (c *Fake) BlockUntil(ctx context.Context, n int) error {
	c.mu.Lock()
	if c.waitersLocked() >= n {
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
	return fmt.Errorf("clock: too few waiters on the fake clock: %w: %d of %d", ctx.Err(), c.waitersLocked(), n)
}

// tellLocked ends each BlockUntil whose waiters are there, and lets Run look whether
// its functions wait.
func (c *Fake) tellLocked() {
	c.run.tell()
	if len(c.watchers) == 0 {
		return
	}
	waiters := c.waitersLocked()
	c.watchers = slices.DeleteFunc(c.watchers, func(w *watcher) bool {
		reached := waiters >= w.n
		if reached {
			close(w.reached)
		}
		return reached
	})
}
