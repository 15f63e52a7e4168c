package clock

import (
	"context"
	"fmt"
	"slices"
)

// wait is a call of Sleep or Await that waits.
type wait struct {
	ctx  *ctxEnd         // the end of its context; nil if that never ends
	done <-chan struct{} // of an Await
	over bool            // it has left, or come to its end
	turn chan struct{}   // closed when the function may go on; nil outside of Run
}

// released reports whether nothing keeps the wait but its turn. The lock of the clock is held.
func (w *wait) released() bool {
	return w.over || w.ctx != nil && w.ctx.ended || w.done != nil && isClosed(w.done)
}

// ctxEnd is the end of the contexts of some waits, which share a Done channel. Each move of the time
// first asks whether a context has ended, because the goroutine that waits for it may be late;
// ctxEnd lets it ask once for all waits with the same end.
type ctxEnd struct {
	ctx    context.Context //nolint:containedctx // that of calls that have not returned
	done   <-chan struct{}
	waits  int // that are not over
	ended  bool
	follow bool // a context of a Fake is among those that ctx is derived from
	index  int  // in Fake.ends
}

// wait registers a caller with startLocked and returns when done is closed or ctx is done. It calls
// leaveLocked at the end.
func (c *Fake) wait(ctx context.Context, w *wait, done <-chan struct{}, startLocked, leaveLocked func()) error {
	ctxDone, follow := ctx.Done(), ctx.Value(catchUpKey{}) != nil
	c.mu.Lock()
	if ctxDone != nil {
		w.ctx = c.endLocked(ctx, ctxDone, follow)
		w.ctx.waits++
	}
	c.live++
	if c.run != nil {
		w.turn = make(chan struct{})
		c.run.waits = append(c.run.waits, w)
	}
	startLocked()
	c.signalLocked()
	c.mu.Unlock()
	select {
	case <-done:
	case <-ctxDone:
	}
	c.mu.Lock()
	c.overLocked(w)
	leaveLocked()
	c.signalLocked()
	c.mu.Unlock()
	if w.turn != nil {
		<-w.turn
	}
	return currentErr(ctx)
}

// endLocked returns the end of a context.
func (c *Fake) endLocked(ctx context.Context, done <-chan struct{}, follow bool) *ctxEnd {
	e := c.endOf[done]
	if e == nil {
		if c.endOf == nil {
			c.endOf = make(map[<-chan struct{}]*ctxEnd)
		}
		e = &ctxEnd{ctx: ctx, done: done, follow: follow, index: len(c.ends)}
		c.endOf[done] = e
		c.ends = append(c.ends, e)
	}
	return e
}

// overLocked marks a wait as over, unless it is already.
func (c *Fake) overLocked(w *wait) {
	if w.over || w.ctx != nil && w.ctx.ended {
		return
	}
	w.over = true
	c.live--
	if w.ctx != nil {
		if w.ctx.waits--; w.ctx.waits == 0 {
			c.forgetLocked(w.ctx)
		}
	}
}

// endedLocked notes that a context has ended. All that wait for it go on.
func (c *Fake) endedLocked(e *ctxEnd) {
	if !e.ended && e.waits > 0 {
		e.ended = true
		c.live -= e.waits
		c.forgetLocked(e)
	}
}

// forgetLocked removes an end that no call waits for any more.
func (c *Fake) forgetLocked(e *ctxEnd) {
	delete(c.endOf, e.done)
	last := len(c.ends) - 1
	c.ends[e.index] = c.ends[last]
	c.ends[e.index].index = e.index
	c.ends[last] = nil
	c.ends = c.ends[:last]
}

// isClosed reports whether a channel that gets no values is closed.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Waiters returns the number of waiters; [Fake.BlockUntil] says what counts.
func (c *Fake) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitersLocked()
}

func (c *Fake) waitersLocked() int { return max(len(c.queue), c.waitsLocked()) }

// waitsLocked returns how many waits are not over. It does not look at contexts, which are the
// user's code.
func (c *Fake) waitsLocked() int {
	waits := c.live
	for w := range c.awaits {
		if (w.ctx == nil || !w.ctx.ended) && isClosed(w.done) {
			waits--
		}
	}
	return waits
}

// watcher is a BlockUntil that waits.
type watcher struct {
	n       int
	reached chan struct{} // closed once there have been n waiters
}

// BlockUntil returns nil as soon as there are at least n waiters, or at once if there already are.
// If ctx is done first, it returns an error that wraps ctx.Err() and says how many waiters there
// were. What counts:
//
//   - a Sleep that has not ended;
//   - pending timers of AfterFunc, or Awaits that have not ended, whichever are more, because an
//     Await waits for a timer function;
//   - so an operation of this module that waits for a send token or for retry quota is one waiter,
//     even behind others in a queue;
//   - not the deadline of a context, see [Fake.WithDeadline].
//
// The number may be outdated when BlockUntil returns, if another goroutine moves the time or
// cancels or stops waiters.
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

// signalLocked ends each BlockUntil that has enough waiters, and makes Run check whether its
// functions wait.
func (c *Fake) signalLocked() {
	c.run.signal()
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
