package clock

import (
	"context"
	"time"
)

// WithTimeout is context.WithTimeout on the time of clk: the context is done d
// from now, with context.DeadlineExceeded as its cause, and as its error on a
// System or a Fake, or when parent is done. For other clocks it asks their method
// of this name if they have one; without it, the timeout is a call of AfterFunc,
// the error is context.Canceled and Deadline is that of parent. Call cancel to
// release it.
func WithTimeout(parent context.Context, clk Clock, d time.Duration) (ctx context.Context, cancel context.CancelFunc) {
	if own, ok := clk.(interface {
		WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc)
	}); ok {
		return own.WithTimeout(parent, d)
	}
	ctx, end := context.WithCancelCause(parent)
	timer := clk.AfterFunc(d, func() { end(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		end(nil)
	}
}

// WithTimeout is context.WithTimeout.
func (System) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}
