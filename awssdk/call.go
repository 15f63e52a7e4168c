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
	input      any             // of the operation, if there are middlewares
	around     context.Context //nolint:containedctx // of the call, if there are middlewares
	observed   bool            // whether middlewares report how each attempt and the call ended
	unseekable bool            // whether the body cannot be sent again

	failures  *failures   // of the retryer
	key       error       // under which the call is in failures, or nil
	stop      func() bool // keeps the end of ctx from ending the retry; nil with middlewares
	polls     bool        // whether the operation is a long poll
	strategy  retry.Strategy
	ctx       context.Context //nolint:containedctx // for decisions; not every method of a retryer is given one
	start     time.Time
	limit     int // attempts that the loop of the SDK makes at most; 0 outside of such a loop
	phase     phase
	token     retry.Token
	denied    error // why there is no token
	err       error // of the last attempt, as one that can be compared
	previous  error // of the one before
	retryable bool  // whether the last failure is of a sort that is retried
	refusal   error // why there is no retry
	barred    error // why the next attempt must not be made, although it was due
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

// begin starts the operation and returns when its first attempt may be made. Its error is not
// explained.
func (c *call) begin(ctx context.Context, s *shared, op retry.Operation) error {
	c.open(ctx, s, op)
	// Without a token the attempt is made all the same: a strategy decides about retries,
	// not about first attempts.
	if c.denied == nil {
		return c.wait(ctx)
	}
	switch {
	case errtree.Is(c.denied, retry.ErrNoStrategy):
		c.bar(c.denied)
	case !op.NotAfter.IsZero() && s.strategy.Clock().Now().After(op.NotAfter):
		c.bar(&retry.Error{Reason: retry.ErrMaxElapsed, Detail: c.denied})
	}
	return c.barred
}

// open starts the operation for an attempt that is sent already.
func (c *call) open(ctx context.Context, s *shared, op retry.Operation) {
	c.strategy, c.failures = s.strategy, &s.failures
	c.ctx, c.start, c.polls = ctx, s.strategy.Clock().Now(), op.LongPolling
	// The context of an attempt may have a span that ends with the attempt.
	c.token, c.denied = c.strategy.AcquireInitialToken(cmp.Or(c.around, ctx), op)
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

// due returns what there is to sleep after the decision.
func (c *call) due() (w wait, ok bool) {
	if c.phase != granted && c.phase != resting {
		return wait{}, false
	}
	return wait{left: c.token.Delay()}, true
}

// again returns nil if there is a retry, which RetryDelay and wait delay, and else why there is
// none.
func (c *call) again(ctx context.Context, failure error) error {
	w, due := c.due()
	if !due && !c.polls { // the loop asks how long to sleep before a long poll returns
		return c.explain(ctx, c.refusal, c.err)
	}
	if !c.observed {
		left, err := c.waitBefore(ctx, w.left)
		if err != nil {
			return c.explain(ctx, err, c.err)
		}
		w.left = left
	}
	var refusal error
	if c.refusal != nil {
		refusal = c.explain(ctx, c.refusal, c.err)
	}
	key := cmp.Or(c.key, toCompare(failure))
	if c.key = key; c.phase == sent {
		c.stop = context.AfterFunc(ctx, func() { c.cancel(key) })
	}
	// Without middlewares a call that is in failures can end at any time.
	if !c.failures.grant(key, c, w) {
		c.leave()
		c.key, c.stop = nil, nil
	}
	return refusal
}

// leave undoes that the end of its context ends the call.
func (c *call) leave() {
	if c.stop != nil {
		c.stop()
	}
}

// drop ends a call without middlewares for which the loop probably calls no further method. A retry
// that was granted counts as not made.
func (c *call) drop() {
	c.leave()
	if c.phase == sent {
		c.fail(retry.ErrCanceled)
	}
	c.finish()
}

// waitBefore waits before the sleep of the SDK for what comes after it, because without
// middlewares nothing that is called after the sleep knows the call. It returns what is left to
// sleep. A long poll that is refused rests here.
func (c *call) waitBefore(ctx context.Context, delay time.Duration) (left time.Duration, err error) {
	if c.phase == resting {
		c.rest(ctx)
	}
	if c.phase != granted {
		return 0, nil
	}
	began := c.strategy.Clock().Now()
	err = c.wait(ctx)
	return max(delay-c.strategy.Clock().Now().Sub(began), 0), err
}

// cancel ends a call whose context has ended while the SDK sleeps. Without middlewares the loop
// calls no method for such a call.
func (c *call) cancel(key error) {
	now := clock.System{}.Now()
	if c.failures.withdraw(key, c, func(f failure) bool { return !now.After(f.wait.until) }) {
		c.fail(retry.ErrCanceled)
	}
}

// resume takes the call out of failures after its retry. It reports false if the call has ended
// meanwhile, with its context or because failures has dropped it.
func (c *call) resume() bool {
	if c.stop == nil {
		return true
	}
	c.leave()
	if !c.failures.withdraw(c.key, c, func(failure) bool { return true }) {
		return false
	}
	c.key, c.stop = nil, nil
	return true
}

// wait returns when the attempt of the token may be made. The SDK has slept its backoff, or sleeps
// what is left of it afterwards if there are no middlewares.
func (c *call) wait(ctx context.Context) error {
	token := c.token.WithoutDelay()
	if !c.observed {
		token = c.token.WithDelayAfter()
	}
	if err := token.Wait(ctx); err != nil {
		c.bar(err)
		return err
	}
	c.phase = sent
	return nil
}

// bar ends an operation whose next attempt must not be made. A retryer around ours may ask for
// the attempt all the same.
func (c *call) bar(err error) {
	c.fail(err)
	c.barred, c.refusal, c.retryable = err, err, false
}

// rest sleeps before a long poll returns. The end of ctx changes nothing.
func (c *call) rest(ctx context.Context) {
	_ = c.token.Wait(ctx)
	c.fail(c.err)
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

// forget takes the call out of failures. It reports whether RetryDelay was asked since the
// attempt.
func (c *call) forget() (asked bool) {
	if c.key != nil {
		asked = c.failures.forget(c.key, c)
		c.key = nil
	}
	return asked
}

// end ends the operation for a middleware, if the loop has not ended it. It adds to the error of
// the call what the loop has not told: what the service said before the caller's context ended,
// and that the strategy has given up.
func (c *call) end(ctx context.Context, err error) error {
	asked := c.forget()
	switch {
	case c.phase == resting:
		if !asked {
			c.rest(ctx)
		}
		return withLost(err, ctx.Err())
	case c.phase == granted && ctx.Err() != nil:
		return errors.Join(err, c.complete(ctx, c.wait(ctx)))
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

// awaited reports whether the loop calls GetRetryToken after the decision.
func (c *call) awaited() bool { return c.retryable && (c.phase != over || !c.last()) }

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
