package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Attempt says which attempt of which loop a function of Do is called for.
type Attempt struct {
	// Number is the number of the attempt; the first is 1.
	Number int
	// Loops is how many Do calls are around the function: 1, or more if it runs in
	// the function of another Do, so that their attempts multiply.
	Loops int
}

// AttemptFrom returns the attempt that ctx, which Do gave to its function,
// belongs to. It reports false for any other context. A program that is about to
// retry in a loop of its own can ask whether somebody does already.
func AttemptFrom(ctx context.Context) (Attempt, bool) {
	a, ok := ctx.Value(attemptKey{}).(*attemptContext)
	if !ok {
		return Attempt{}, false
	}
	return a.attempt, true
}

type attemptKey struct{}

// attemptContext is the context of one attempt. It is a type of its own so that
// an attempt costs one allocation.
type attemptContext struct {
	context.Context //nolint:containedctx // it is a context
	attempt         Attempt
	deadline        time.Time // of the attempt alone; zero means none
}

// withAttempt returns the context of an attempt of a loop that got ctx.
func withAttempt(ctx context.Context, number, loopsAround int) *attemptContext {
	return &attemptContext{Context: ctx, attempt: Attempt{Number: number, Loops: loopsAround + 1}}
}

func (c *attemptContext) Value(key any) any {
	if _, ok := key.(attemptKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// Deadline is that of the attempt if it is sooner than the caller's.
func (c *attemptContext) Deadline() (time.Time, bool) {
	outer, ok := c.Context.Deadline()
	if c.deadline.IsZero() || ok && outer.Before(c.deadline) {
		return outer, ok
	}
	return c.deadline, true
}

// Err is context.DeadlineExceeded once the limit of the attempt has ended it.
func (c *attemptContext) Err() error {
	err := c.Context.Err()
	if _, ok := c.timeout(); err != nil && ok {
		return context.DeadlineExceeded
	}
	return err
}

// timeout returns the limit that has ended the attempt, if one has.
func (c *attemptContext) timeout() (*AttemptTimeoutError, bool) {
	if c.deadline.IsZero() {
		return nil, false
	}
	timeout, ok := context.Cause(c.Context).(*AttemptTimeoutError) //nolint:errorlint // its own, never wrapped
	return timeout, ok
}

// AttemptTimeoutError is the error of an attempt that WithAttemptTimeout ended.
// It is a timeout, so that it is retried as one. errors.As finds in it what the
// attempt returned; errors.Is does not, because the context error in there is not
// the caller's.
type AttemptTimeoutError struct {
	// After is how long the attempt was allowed to take.
	After time.Duration
	// Err is what the attempt returned; nil while it has not returned.
	Err error
}

// Error says how long the attempt was allowed to take and what it returned.
func (e *AttemptTimeoutError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("retry: attempt timed out after %v", e.After)
	}
	return fmt.Sprintf("retry: attempt timed out after %v: %v", e.After, e.Err)
}

// Timeout returns true.
func (e *AttemptTimeoutError) Timeout() bool { return true }

// As lets errors.As look into what the attempt returned.
func (e *AttemptTimeoutError) As(target any) bool { return errors.As(e.Err, target) }

// limit ends the context of an attempt d after now. stop ends the limit.
func (c *attemptContext) limit(clk clock.Clock, d time.Duration) (stop func()) {
	timeout := &AttemptTimeoutError{After: d}
	inner, cancel := context.WithCancelCause(c.Context)
	c.Context, c.deadline = inner, clk.Now().Add(d)
	timer := clk.AfterFunc(d, func() { cancel(timeout) })
	return func() {
		timer.Stop()
		cancel(nil)
	}
}

// timedOut returns err as an AttemptTimeoutError if the limit of the attempt, and
// not the caller, ended it.
func (c *attemptContext) timedOut(caller context.Context, err error) error {
	timeout, ok := c.timeout()
	if err == nil || !ok || caller.Err() != nil {
		return err
	}
	if cause, ok := errors.AsType[*AttemptTimeoutError](err); ok && cause == timeout {
		return err // net/http returns the cause of a context
	}
	return &AttemptTimeoutError{After: timeout.After, Err: err}
}
