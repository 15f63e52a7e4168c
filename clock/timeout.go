package clock

import (
	"context"
	"time"
)

// WithTimeout is [context.WithTimeout] on the time of clk: the context is done d from now or when
// parent is done. After d its cause is [context.DeadlineExceeded]. If clk has a method WithTimeout
// of the same form, as [System] and [Fake] have, WithTimeout calls it, and the error is
// [context.DeadlineExceeded] too. Otherwise the timeout is a call of AfterFunc, the error is
// [context.Canceled], and Deadline is that of parent. Call cancel to release the context. With a d
// of zero or less the context is done from the start, or a moment later on a clock without the
// method.
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

// WithTimeout is [context.WithTimeout].
func (System) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}
