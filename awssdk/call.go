package awssdk

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// call is one call of an SDK client. It holds what the methods of the retryer need for the
// verbs of the strategy. It belongs to one goroutine at a time.
type call struct {
	input      any  // of the operation, if there are middlewares
	observed   bool // whether middlewares report how each attempt and the call ended
	unseekable bool // whether the body cannot be sent again

	failures  *failures // of the retryer
	key       error     // under which the call is in failures, if a middleware put it there
	strategy  retry.Strategy
	ctx       context.Context //nolint:containedctx // of the attempt; not every method of a retryer is given one
	start     time.Time
	limit     int // attempts that the loop of the SDK makes; 0 if not known
	phase     phase
	token     retry.Token
	denied    error // why there is no token
	err       error // of the last attempt, as one that can be compared
	previous  error // of the one before
	retryable bool  // whether the last failure is of a sort that is retried
	refusal   error // why there is no retry
}

var errUnseekable = errors.New("awssdk: the body of the request cannot be sent again")

// phase is how far a call is.
type phase uint8

const (
	idle    phase = iota // before the first attempt
	sent                 // an attempt is being made
	failed               // it has failed, and nothing is decided
	granted              // a retry is due, after a wait
	resting              // there is no retry, but a sleep before the call returns
	over                 // the strategy knows that the operation has ended
)

// begin starts the operation and returns when its first attempt may be made.
func (c *call) begin(ctx context.Context, s *shared, op retry.Operation) error {
	c.open(ctx, s, op)
	// Without a token the attempt is made all the same: a strategy decides about retries,
	// not about first attempts.
	if c.denied == nil {
		return c.wait(ctx)
	}
	if errors.Is(c.denied, retry.ErrNoStrategy) {
		c.phase = over
		return c.denied
	}
	if !op.NotAfter.IsZero() && s.strategy.Clock().Now().After(op.NotAfter) {
		c.phase = over
		return c.explain(ctx, &retry.Error{Reason: retry.ErrMaxElapsed, Detail: c.denied})
	}
	return nil
}

// open starts the operation for an attempt that is sent already.
func (c *call) open(ctx context.Context, s *shared, op retry.Operation) {
	c.strategy, c.failures = s.strategy, &s.failures
	c.ctx, c.start = ctx, s.strategy.Clock().Now()
	c.token, c.denied = c.strategy.AcquireInitialToken(ctx, op)
	c.phase = sent
}

// ended reports how the attempt went, once for each.
func (c *call) ended(err error) {
	if c.phase != sent {
		return // told already
	}
	c.previous, c.err, c.phase = c.err, toCompare(err), failed
	if err == nil {
		c.phase = over
		if c.denied == nil {
			_ = c.strategy.RecordSuccess(c.token)
		}
	}
}

// last reports whether the loop makes no attempt after the one of the token.
func (c *call) last() bool { return c.limit > 0 && c.token.Attempt() >= c.limit }

// decide lets the strategy decide about the attempt that failed, and reports whether such a
// failure is retried. Attempts or quota may be used up all the same. err is the error as the
// loop of the SDK sees it.
func (c *call) decide(err error) bool {
	if c.phase != failed {
		return c.retryable || err != c.err && isSkew(err) //nolint:errorlint // whether the loop has wrapped it
	}
	return c.refresh(failureOf(err, c.err))
}

// force is like decide, but treats the failure as retryable, since the loop of the SDK
// has decided so.
func (c *call) force(err error) {
	if c.phase == failed {
		c.refresh(forced(failureOf(err, c.err)))
	}
}

// overruled reports whether the strategy has ended the operation because the failure
// is not retryable. A retry that is asked for all the same begins another operation,
// unless the body cannot be sent again.
func (c *call) overruled() bool {
	return c.phase == over && c.denied == nil && !c.unseekable && isReason(c.refusal, retry.ErrNotRetryable)
}

func (c *call) refresh(failure error) bool {
	if c.denied != nil {
		c.refusal, c.phase = c.denied, over
		return false
	}
	if c.unseekable {
		failure = &classify.JudgedError{Verdict: classify.Forbidden(), Err: failure, Reason: errUnseekable}
	}
	next, refusal := c.strategy.RefreshRetryToken(c.ctx, c.token, failure)
	if next != (retry.Token{}) {
		c.token = next
	}
	c.refusal = refusal
	c.retryable = !isReason(refusal, retry.ErrNotRetryable) && !isReason(refusal, retry.ErrCanceled)
	switch {
	case refusal == nil:
		c.phase = granted
	case c.retryable && next.Delay() > 0:
		c.phase = resting
	default:
		c.fail(c.err)
	}
	return c.retryable
}

// again returns when the retry may be made, or why there is no retry.
func (c *call) again(ctx context.Context) error {
	if c.phase == granted {
		return c.wait(ctx)
	}
	if c.phase == resting {
		// A long poll sleeps before it is refused. The end of ctx changes nothing.
		_ = c.token.Wait(ctx)
		c.fail(c.err)
	}
	return c.explain(ctx, c.refusal)
}

// wait returns when the attempt of the token may be made.
func (c *call) wait(ctx context.Context) error {
	err := c.token.Wait(ctx)
	if err == nil {
		c.phase = sent
		return nil
	}
	c.fail(err)
	return c.explain(ctx, err)
}

// attempted is ended for a middleware. It returns the error as one that no other call has.
func (c *call) attempted(err error) error {
	c.forget() // the attempt before, if the loop has not asked about it
	c.ended(err)
	if err == nil {
		return nil
	}
	if !c.failures.add(err, c) {
		err = &uniqueError{err}
		c.err = err
		c.failures.add(err, c)
	}
	c.key = err
	return err
}

// close ends the operation if the loop has not ended it.
func (c *call) close() {
	c.forget()
	c.finish()
}

// forget takes the call out of failures, where attempted has put it.
func (c *call) forget() {
	if c.key != nil {
		c.failures.forget(c.key, c)
		c.key = nil
	}
}

// awaited reports whether the loop calls GetRetryToken after the decision.
func (c *call) awaited() bool { return c.retryable && (c.phase != over || !c.last()) }

// withLost adds to the error of the call what the service said before the caller's context
// ended, if the loop has lost that.
func (c *call) withLost(err error) error {
	var lost error
	switch {
	case c.phase == sent:
		lost = c.err // no attempt came of the retry that was granted
	case isReason(c.refusal, retry.ErrCanceled):
		lost = c.previous // the last attempt says only that the context has ended
	}
	if err == nil || lost == nil || errors.Is(err, lost) {
		return err
	}
	return errors.Join(err, lost)
}

// finish ends an operation for which the loop calls no further method.
func (c *call) finish() {
	switch c.phase {
	case idle, over:
	case sent:
		c.fail(retry.ErrAborted)
	default:
		c.fail(c.err)
	}
}

// fail ends the operation without success. The error of RecordFailure has no place to go: no
// method of a retryer could return it.
func (c *call) fail(err error) {
	c.phase = over
	if c.denied == nil {
		_ = c.strategy.RecordFailure(c.token, err)
	}
}

// explain completes a copy of the error of a strategy, which the SDK joins to that of
// the attempt. The end of the caller's context, and a deadline that leaves no room for a
// wait, is what the SDK makes of a context that ends while it waits.
func (c *call) explain(ctx context.Context, err error) error {
	own, ok := err.(*retry.Error) //nolint:errorlint // one that is wrapped is not the strategy's own
	if !ok {
		return err
	}
	refusal := *own
	refusal.Elapsed = c.strategy.Clock().Now().Sub(c.start)
	refusal = *refusal.Because(ctx)
	if c.err != nil && errors.Is(refusal.Last, c.err) {
		refusal.Last = nil // it is what this is joined to
	}
	if isReason(err, retry.ErrCanceled) || isReason(err, retry.ErrDeadline) {
		return &aws.RequestCanceledError{Err: &refusal}
	}
	return &refusal
}

// isReason reports whether err is the refusal of a strategy for that reason. The error of the
// service, which a refusal holds too, does not matter.
func isReason(err, reason error) bool {
	if refusal, ok := err.(*retry.Error); ok { //nolint:errorlint // one that is wrapped is the service's
		return errors.Is(refusal.Reason, reason)
	}
	return errors.Is(err, reason)
}
