package awssdk

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/retry"
)

// call is one call of an SDK client. It holds what the methods of the retryer need for the
// verbs of the strategy. It belongs to one goroutine at a time.
type call struct {
	phase phase
	*shared
	key       error // under which the call is in failures, or nil
	token     retry.Token
	denied    error           // why there is no token
	ctx       context.Context //nolint:containedctx // for decisions; not every method of a retryer is given one
	start     time.Time
	limit     int   // attempts that the loop of the SDK makes at most; 0 outside of such a loop
	polls     bool  // whether the operation is a long poll
	retryable bool  // whether the last failure is of a sort that is retried
	err       error // of the last attempt, as one that can be compared
	previous  error // of the one before
	refusal   error // why there is no retry, or why the attempt that was due must not be made

	// With middlewares only.
	observed   bool             // whether there are any
	input      any              // of the operation
	outer      context.Context  //nolint:containedctx // of the call
	direct     bool             // whether the loop has our retryer, and none around it
	unseekable bool             // whether the body cannot be sent again
	throttled  int              // entries of an output
	entries    int              // of the output
	limited    *retry.Operation // whose attempts have a timeout, or nil

	// Without them only.
	stop func() bool // keeps the end of ctx from ending a retry that is due
}

var errUnseekable = errors.New("awssdk: the body of the request cannot be sent again")

// move changes the phase and reports whether the event means anything in this one.
func (c *call) move(e event) (ok bool) {
	c.phase, ok = c.phase.after(e)
	return ok
}

// begin starts the operation and returns when its first attempt may be made. Its error is not
// explained.
func (c *call) begin(ctx context.Context, s *shared, op retry.Operation) error {
	c.open(ctx, s, op)
	switch {
	case c.denied == nil:
		return c.wait(ctx)
	case errtree.Is(c.denied, retry.ErrNoStrategy):
		return c.refuse(c.denied)
	case !op.NotAfter.IsZero() && c.strategy.Clock().Now().After(op.NotAfter):
		return c.refuse(&retry.Error{Reason: retry.ErrMaxElapsed, Detail: c.denied})
	}
	// Without a token the attempt is made all the same: a strategy decides about retries,
	// not about first attempts.
	return nil
}

// open starts the operation for an attempt that is sent already.
func (c *call) open(ctx context.Context, s *shared, op retry.Operation) {
	c.shared, c.ctx, c.start, c.polls = s, ctx, s.strategy.Clock().Now(), op.LongPolling
	// The context of an attempt may have a span that ends with the attempt.
	c.token, c.denied = c.strategy.AcquireInitialToken(cmp.Or(c.outer, ctx), op)
	c.move(begun)
	if c.limited = nil; s.limits(&op) {
		c.limited = new(op)
	}
}

// wait returns when the attempt of the token may be made. The SDK has slept its backoff, or sleeps
// what is left of it afterwards if there are no middlewares.
func (c *call) wait(ctx context.Context) error {
	token := c.token.WithoutDelay()
	if !c.observed {
		token = c.token.WithDelayAfter()
	}
	if err := token.Wait(ctx); err != nil {
		return c.refuse(err)
	}
	c.move(admitted)
	return nil
}

// ended reports how the attempt went, once for each.
func (c *call) ended(err error) {
	if err == nil {
		if c.move(succeeded) && c.denied == nil {
			_ = c.strategy.RecordSuccess(c.token.WithEntries(c.throttled, c.entries))
		}
		return
	}
	if c.move(failing) {
		c.previous, c.err = c.err, toCompare(err)
	}
}

// attempted is ended for a middleware. It returns the error as one that no other call has.
func (c *call) attempted(err error) error {
	c.forget() // the attempt before, if the loop has not asked about it
	c.ended(err)
	if err == nil {
		return nil
	}
	if c.key = err; !c.keep(0, false) {
		c.err = &uniqueError{err}
		c.key = c.err
		c.keep(0, false)
	}
	return c.key
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
	return c.refresh(failureOf(err, c.err, c.strategy.Clock().Now))
}

// force is like decide, but treats the failure as retryable, since the loop of the SDK
// has decided so.
func (c *call) force(err error) {
	if c.phase == failed {
		c.refresh(forced(failureOf(err, c.err, c.strategy.Clock().Now)))
	}
}

// overruled reports whether the strategy has ended the operation because the failure
// is not retryable. A retry that is asked for all the same begins another operation,
// unless the body cannot be sent again.
func (c *call) overruled() bool {
	return c.phase == over && c.denied == nil && !c.unseekable && isReason(c.refusal, retry.ErrNotRetryable)
}

func (c *call) refresh(failure error) bool {
	if c.refusal = c.denied; c.denied != nil {
		c.finish()
		return false
	}
	if c.unseekable {
		failure = &classify.JudgedError{Verdict: classify.Forbidden(), Err: failure, Reason: errUnseekable}
	}
	var next retry.Token
	next, c.refusal = c.strategy.RefreshRetryToken(c.ctx, c.token, failure)
	if next != (retry.Token{}) {
		c.token = next
	}
	c.retryable = !isReason(c.refusal, retry.ErrNotRetryable) && !isReason(c.refusal, retry.ErrCanceled)
	switch {
	case c.refusal == nil:
		c.move(again)
	case c.retryable && next.Delay() > 0:
		c.move(rests)
	default:
		c.finish()
	}
	return c.retryable
}

// retry returns nil if there is a retry, which RetryDelay and wait delay, and else why there is
// none. A long poll that is refused rests here.
func (c *call) retry(ctx context.Context, failure error) error {
	left := time.Duration(0)
	switch {
	case c.phase == resting:
		_ = c.token.Wait(ctx) // the end of ctx changes nothing
		c.finish()
	case c.phase == granted && c.observed:
		left = c.token.Delay()
	case c.phase == granted:
		began := c.strategy.Clock().Now()
		if err := c.wait(ctx); err == nil {
			left = max(c.token.Delay()-c.strategy.Clock().Now().Sub(began), 0)
		}
	}
	if c.refusal != nil && !c.polls { // the loop asks how long to sleep before a long poll returns
		return c.explain(ctx, c.refusal, c.err)
	}
	c.key = cmp.Or(c.key, failure)
	if c.phase == sent {
		c.stop = context.AfterFunc(ctx, c.canceled(c.key, left))
	}
	// Without middlewares a call that is in failures can end at any time.
	if !c.keep(left, true) && c.stop != nil {
		c.stop()
		c.stop = nil
	}
	return c.explain(ctx, c.refusal, c.err)
}

// canceled returns the function that ends a call whose context ends while the SDK sleeps. Without
// middlewares the loop calls no method for such a call.
func (c *call) canceled(key error, sleep time.Duration) func() {
	failures, wakes := &c.failures, clock.System{}.Now().Add(sleep)
	return func() {
		if now := (clock.System{}).Now(); !now.After(wakes) && failures.withdraw(key, c) {
			c.fail(retry.ErrCanceled)
		}
	}
}

// resume takes a call without middlewares out of failures after its retry. It reports false if the
// call has ended meanwhile, with its context or because failures has dropped it.
func (c *call) resume() bool {
	if c.stop == nil {
		return true
	}
	c.stop()
	if !c.failures.withdraw(c.key, c) {
		return false
	}
	c.key, c.stop = nil, nil
	return true
}

// drop ends a call without middlewares for which the loop probably calls no further method. A retry
// that was granted counts as not made.
func (c *call) drop() {
	if c.stop != nil {
		c.stop()
	}
	if c.phase == sent {
		c.fail(retry.ErrCanceled)
	}
	c.finish()
}

// keep puts the call into failures under its key, with what RetryDelay returns if it is due. It
// reports false if the error cannot be told from that of another call.
func (c *call) keep(left time.Duration, due bool) bool {
	return c.failures.put(c.key, failure{call: c, left: left, due: due, busy: c.stop != nil})
}

// forget takes the call out of failures.
func (c *call) forget() {
	if c.key != nil {
		c.failures.withdraw(c.key, c)
		c.key = nil
	}
}

// awaited reports whether the loop calls GetRetryToken after the decision.
func (c *call) awaited() bool { return c.retryable && (c.phase != over || !c.last()) }

// close ends the operation for a middleware, if the loop has not ended it. It adds to the error of
// the call what the loop has not told: what the service said before the caller's context ended,
// and that the strategy has given up.
func (c *call) close(err error) error {
	defer c.finish()
	switch {
	case c.phase == granted && c.ctx.Err() != nil:
		return errors.Join(err, c.complete(c.ctx, c.wait(c.ctx)))
	case c.phase == granted, c.phase == sent:
		return withLost(err, c.err) // no attempt came of the retry that was granted
	case isReason(c.refusal, retry.ErrCanceled):
		return withLost(err, c.previous) // the last attempt says only that the context has ended
	}
	return err
}

func withLost(err, lost error) error {
	if err == nil || lost == nil || errtree.Is(err, lost) {
		return err
	}
	return errors.Join(err, lost)
}

// refuse ends an operation whose next attempt must not be made. A retryer around ours may ask for
// the attempt all the same.
func (c *call) refuse(err error) error {
	c.conclude(forbidden, err)
	c.refusal, c.retryable = err, false
	return err
}

// finish ends an operation for which the loop calls no further method.
func (c *call) finish() {
	if c.phase == sent {
		c.fail(retry.ErrAborted)
	}
	c.fail(c.err)
}

func (c *call) fail(err error) { c.conclude(ended, err) }

// conclude ends the operation without success. The error of RecordFailure has no place to go: no
// method of a retryer could return it.
func (c *call) conclude(e event, err error) {
	if c.move(e) && c.denied == nil {
		_ = c.strategy.RecordFailure(c.token, err)
	}
}

// complete returns a copy of the error of a strategy with what only the call knows.
func (c *call) complete(ctx context.Context, err error) error {
	own, ok := err.(*retry.Error) //nolint:errorlint // one that is wrapped is not the strategy's own
	if !ok {
		return err
	}
	refusal := *own
	refusal.Elapsed = c.strategy.Clock().Now().Sub(c.start)
	return refusal.Because(ctx)
}

// explain completes the error of a strategy for the SDK, which joins it to the error that beside
// is. The end of the caller's context, and a deadline that leaves no room for a wait, is what the
// SDK makes of a context that ends while it waits.
func (c *call) explain(ctx context.Context, err, beside error) error {
	refusal, ok := c.complete(ctx, err).(*retry.Error) //nolint:errorlint // as in complete
	if !ok {
		return err
	}
	if beside != nil && errtree.Is(refusal.Last, beside) {
		refusal.Last = nil
	}
	if isReason(err, retry.ErrCanceled) || isReason(err, retry.ErrDeadline) {
		return &aws.RequestCanceledError{Err: refusal}
	}
	return refusal
}

// isReason reports whether err is the refusal of a strategy for that reason. The error of the
// service, which a refusal holds too, does not matter.
func isReason(err, reason error) bool {
	if refusal, ok := err.(*retry.Error); ok { //nolint:errorlint // one that is wrapped is the service's
		return errtree.Is(refusal.Reason, reason)
	}
	return errtree.Is(err, reason)
}
