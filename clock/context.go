package clock

import (
	"context"
	"time"
)

// WithTimeout is WithDeadline for the instant d from now. With a d of zero or less
// the context is done from the start.
func (c *Fake) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.WithDeadline(parent, c.Now().Add(d))
}

// WithDeadline is context.WithDeadline on the time of c. The context is done when
// that time reaches t, with context.DeadlineExceeded as its error and cause,
// when parent is done, with the error and the cause of parent, or when cancel is
// called. Its Deadline is t or that of parent, whichever is earlier. If t has
// passed, it is done from the start. Call cancel to release it.
//
// A deadline is not a waiter: BlockUntil and Waiters do not count it and
// AdvanceToNext does not stop at it, though it expires when the time passes it.
// A deadline says how long somebody may take, not that somebody waits; if it
// counted, jumping to the next waiter would expire work that is still running.
//
// When the deadline expires or cancel is called, all contexts derived from this
// one with package context are done at once. When parent is done, this context
// says so at once too, and so does a Sleep on c that gets it or one derived from
// it; a derived one by itself may take a moment, since package context tells
// other packages only by starting a goroutine.
func (c *Fake) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	s := &deadlineSource{clock: c, parent: parent, parentDone: parent.Done(), deadline: t, done: make(chan struct{})}
	if outer, ok := parent.Deadline(); ok && outer.Before(t) {
		s.deadline = outer
	}
	s.entry = newEntry(s.expire)
	inner, cancel := context.WithCancel(s)
	s.start(t)
	return &deadlineContext{Context: inner, source: s}, cancel
}

// deadlineContext is what WithDeadline returns: a context of the standard
// library below a deadlineSource. Being the standard library's own, the inner
// context looks after derived contexts and the cause; its Done channel and its
// answer to Value are passed on unchanged, by which package context knows it.
type deadlineContext struct {
	context.Context //nolint:containedctx // this type is a context
	source          *deadlineSource
}

func (c *deadlineContext) Done() <-chan struct{} {
	c.source.follow()
	return c.Context.Done()
}

func (c *deadlineContext) Err() error {
	c.source.follow()
	return c.Context.Err()
}

// Value asks the contexts above once, as each of them does, so that a question costs
// as much as the contexts are deep. It follows parent only for the inner context
// itself, which package context asks for where it wants the cause: no other answer
// depends on whether parent is done.
func (c *deadlineContext) Value(key any) any {
	if key == (settleKey{}) {
		c.source.follow()
		return nil
	}
	v := c.Context.Value(key)
	switch {
	case v == any(c.Context):
		c.source.follow()
	case v == nil && c.source.expired.Load():
		return c.source.parent.Value(key)
	}
	return v
}

// settleKey is asked for, never found: the first deadlineContext that the question
// comes by catches up with its parent, for which it asks that in turn.
type settleKey struct{}

// settledErr returns ctx.Err() after all contexts of a Fake from which ctx is
// derived have caught up with their parents.
func settledErr(ctx context.Context) error {
	_ = ctx.Value(settleKey{})
	return ctx.Err()
}
