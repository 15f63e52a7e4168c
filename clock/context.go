package clock

import (
	"context"
	"time"
)

// WithTimeout is [Fake.WithDeadline] for the instant d from now. With a d of zero or less
// the context is done from the start.
func (c *Fake) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.WithDeadline(parent, c.Now().Add(d))
}

// WithDeadline is [context.WithDeadline] on the time of c. The context is done when
// that time reaches t, with context.DeadlineExceeded as its error and cause,
// when parent is done, with the error and the cause of parent, or when cancel is
// called. Its Deadline is t or that of parent, whichever is earlier. If t has
// passed, it is done from the start. Call cancel to release it.
//
// A deadline is not a waiter: [Fake.BlockUntil] and [Fake.Waiters] do not count it, and
// [Fake.AdvanceToNext] does not stop at it, though it expires when the time passes it.
// A deadline says how long work may take, not that the work waits; if it counted, a move
// to the next waiter would expire work that is still running. [Fake.Run] stops at
// deadlines, because it moves the time only while all work waits.
//
// When the deadline expires or cancel is called, all contexts that package context has derived from
// this one are done at once. When parent is done, this context is done at once too, and so is a
// Sleep on c with this context or with a derived one. A derived context itself may be done a moment
// later, because package context watches a context of another package from a goroutine.
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

// deadlineContext is what WithDeadline returns: a context of the standard library below a
// deadlineSource. The inner context manages derived contexts and the cause. Package context
// recognizes it by its Done channel and its answer to Value, which deadlineContext passes on
// unchanged.
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

// Value asks the contexts above once, as each of them does, so that the cost is linear in the
// depth. It follows parent only if the answer is the inner context, which package context asks for
// to find the cause: no other answer depends on whether parent is done.
func (c *deadlineContext) Value(key any) any {
	if key == (catchUpKey{}) {
		c.source.follow()
		return key
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

// catchUpKey has itself as its value below a context of a Fake, and nil elsewhere: the first
// deadlineContext that is asked for it catches up with its parent, and asks the parent too.
type catchUpKey struct{}

// currentErr returns ctx.Err() after all contexts of a Fake from which ctx is
// derived have caught up with their parents.
func currentErr(ctx context.Context) error {
	_ = ctx.Value(catchUpKey{})
	return ctx.Err()
}
