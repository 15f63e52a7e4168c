package awssdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/retry"
)

// call is one call of an SDK client: a state machine that the middlewares and the methods of the retryer move. It lives
// in the context of the call, begins with the loop and ends with it, and belongs to one goroutine at a time.
//
//	idle ---> sent ---> failed ---> granted ---> sent
//	           |          |
//	           +-> over   +---> resting ---> over
//	                      +---> over
//
//	where                                    what moves
//	send, before the request                 idle or granted -> sent, after the wait for the send rate
//	HandleFinalize, after it                 sent -> over or failed
//	IsErrorRetryable                         failed -> granted, resting or over
//	GetRetryToken                            the same if IsErrorRetryable has not decided; resting -> over, after the rest
//	RetryDelay                               nothing: the loop of the SDK sleeps now
//	loopMiddleware, after the loop           any -> over
//
// A retryer around ours may keep its loop from calling any of these methods, and may make an attempt that the strategy has not
// granted. Such an attempt begins another operation.
type call struct {
	context.Context                            //nolint:containedctx // around the loop
	*calls                                     // of the stack
	*shared                                    // of the retryer that the loop has
	ctx             context.Context            //nolint:containedctx // for decisions: not every method of a retryer is given one
	next            middleware.FinalizeHandler // that makes an attempt
	signed          middleware.FinalizeHandler // that makes it once the credentials are there
	account         string                     // of the credentials of the last attempt, if they know it
	gate            atomic.Uint32              // gateOpen, gateClosed or gateAsked
	retryer         *sdkRetryer                // that the loop has called, or nil
	input           any                        // of the operation
	phase           phase
	polls           bool // whether the operation is a long poll
	unseekable      bool // whether the body cannot be sent again
	early           bool // whether the last attempt has ended on the way to its request, such as at its credentials
	retryable       bool // whether the last failure is of a sort that is retried
	deferred        bool // whether the strategy does not retry the last failure, but a retryer around ours may
	due             bool // whether RetryDelay returns delay
	delay           time.Duration
	attempt         attemptHeader // of the last attempt
	most            int           // attempts of the call, if the loop leaves them to the strategy; retries that others grant count too
	token           retry.Token
	present         token.Ref // of the attempt that is being made, for loops inside of it; guarded by mu
	denied          error     // why there is no token
	start           time.Time
	timed           *timed        // or nil
	refusal         error         // why there is no retry, or why the attempt that was due must not be made
	told            error         // what the loop was told of it
	last            *attemptError // of the last attempt
	previous        error         // of the one before
}

// timed is an operation whose attempts may have a timeout.
type timed struct {
	op      retry.Operation
	timeout retry.AttemptTimeout // or nil
}

// phase is how far a call is.
type phase uint8

const (
	idle    phase = iota // before the first attempt
	sent                 // an attempt is being made
	failed               // it has failed, and nothing is decided
	granted              // a retry is due, after a wait
	resting              // there is no retry, but a sleep before the call returns
	over                 // the operation has ended
	refused              // it has ended, and the attempt that was due must not be made
)

// attemptError carries a call to the methods of the retryer that get no context, in the error of its last attempt.
type attemptError struct {
	error
	call atomic.Pointer[call] // nil once the call knows of a later attempt or has ended
}

func (e *attemptError) Unwrap() error { return e.error }

// unwrapped returns the error of an attempt without the call.
func unwrapped(err error) error {
	if e, ok := err.(*attemptError); ok { //nolint:errorlint // only the outermost
		return e.error
	}
	return err
}

// callOf returns the call whose last attempt ended with err; nil if there is none.
func callOf(err error) *call {
	if e, ok := wire.As[*attemptError](err); ok {
		return e.call.Load()
	}
	return nil
}

var errUnseekable = errors.New("awssdk: the body of the request cannot be sent again")

// between reports whether the loop of the call is between two attempts. In an attempt another loop may have this context: that of
// a client which gets the credentials, or which the HTTP client calls.
func (c *call) between() bool { return c.phase != sent && c.gate.Load() == gateOpen }

// admit returns when the attempt of ctx may be made: in adaptive mode it takes a send token. The loop has slept the backoff.
func (c *call) admit(ctx context.Context) (err error) {
	switch c.phase {
	case refused:
		err = c.refusal
	case granted:
		err = c.wait(ctx)
	default:
		c.finish()
		err = c.begin(ctx)
	}
	return c.held(ctx, err)
}

// begin starts an operation for what is left of the attempts of the call, and returns when its first attempt may be made.
func (c *call) begin(ctx context.Context) (err error) {
	op := c.retryer.operationOf(c.Context, c.input, c.attempt, c.account)
	if c.attempt.limit == openLimit {
		c.most = cmp.Or(c.most, op.MaxAttempts, c.retryer.attempts(op.Service))
		if op.MaxAttempts = c.most - (c.attempt.number - 1); op.MaxAttempts <= 0 && c.last != nil {
			return c.refuse(&retry.Error{Reason: retry.ErrAttemptsExhausted, MaxAttempts: c.most, Attempts: c.most, Last: c.last.error})
		}
	}
	c.phase, c.start, c.polls, c.timed = sent, c.strategy.Clock().Now(), op.LongPolling, nil
	if c.timesOut(&op) {
		c.timed = &timed{op: op}
		c.timed.timeout, err = retry.TimeoutOf(c.timeout, op)
	}
	switch {
	case err != nil:
		c.denied = fmt.Errorf("awssdk: WithAttemptTimeout: %w", err)
		return c.refuse(c.denied)
	case op.MaxAttempts < 0:
		c.denied = fmt.Errorf("awssdk: WithOperation: MaxAttempts %d of %q in scope %q: must not be negative", op.MaxAttempts, op.Name, op.Key())
		return c.refuse(c.denied)
	}
	c.token, c.denied = c.strategy.AcquireInitialToken(c.Context, op)
	switch {
	case c.denied == nil:
		return c.wait(ctx)
	case wire.Is(c.denied, retry.ErrNoStrategy):
		return c.refuse(c.denied)
	case !op.NotAfter.IsZero() && c.strategy.Clock().Now().After(op.NotAfter):
		return c.refuse(&retry.Error{Reason: retry.ErrMaxElapsed, Detail: c.denied})
	}
	// Without a token the attempt is made all the same: a strategy decides about retries, not about first attempts.
	return nil
}

func (c *call) wait(ctx context.Context) error {
	if err := c.token.WithoutDelay().Wait(ctx); err != nil {
		return c.refuse(err)
	}
	c.phase = sent
	return nil
}

// attempted takes the outcome of an attempt, and returns its error as one that carries the call.
func (c *call) attempted(result retry.Result, err error) error {
	if c.last != nil {
		c.previous = c.last.error
	}
	c.forget()
	if err == nil {
		if c.phase == sent && c.denied == nil {
			_ = c.strategy.RecordSuccess(c.token, result)
		}
		c.phase = over
		return nil
	}
	if c.phase == sent {
		c.phase = failed
	}
	c.last = &attemptError{error: err}
	c.last.call.Store(c)
	return c.last
}

// decide lets the strategy decide about an attempt that failed with err, as the loop sees it, and reports whether such a
// failure is retried, even if no attempts or quota are left. If not, a retryer around ours may ask for a retry before the end.
func (c *call) decide(err error) bool {
	if c.phase == failed {
		failure := c.failureOf(err)
		if _, wrapped := c.ctx.(endless); wrapped && !c.strategy.Judge(c.retryer.operationOf(c.ctx, c.input, c.attempt, c.account), failure).Retryable() {
			c.deferred = true
			return false
		}
		c.refresh(failure)
	}
	return c.retryable
}

// grant returns nil if there is a retry, and else why there is none. The loop, or a retryer around ours, has asked for it.
func (c *call) grant(ctx context.Context, err error) error {
	if c.phase == failed {
		c.refresh(forced(failureOf(err, c.strategy.Clock().Now)))
	}
	if c.phase == resting {
		_ = c.token.Wait(ctx) // the end of ctx changes nothing
		c.finish()
	}
	if c.refusal != nil {
		c.delay, c.due = 0, c.polls // the loop asks how long to sleep before a long poll returns
	}
	if c.refusal == nil {
		return nil
	}
	c.told = c.explain(ctx, c.refusal)
	return c.told
}

func (c *call) refresh(failure error) {
	if c.refusal = c.denied; c.denied != nil {
		c.finish()
		return
	}
	if c.unseekable {
		failure = &classify.JudgedError{Verdict: classify.Forbidden(), Err: failure, Reason: errUnseekable}
	}
	var next retry.Token
	next, c.refusal = c.strategy.RefreshRetryToken(c.ctx, c.token, failure)
	if next != (retry.Token{}) {
		c.token = next
	}
	c.retryable = !isReason(c.refusal, retry.ErrNotRetryable) && (!isReason(c.refusal, retry.ErrCanceled) || !endsWith(c.ctx, failure))
	switch {
	case c.refusal == nil:
		c.phase = granted
	case c.retryable && next.Delay() > 0:
		c.phase = resting
	default:
		c.finish()
		return
	}
	c.delay, c.due = c.token.Delay(), true
}

// endsWith reports whether a failure is that ctx has ended, and no answer of the service.
func endsWith(ctx context.Context, failure error) bool {
	return wire.Is(failure, ended(ctx)) || wire.Is(failure, context.Cause(ctx))
}

// close ends the operation if the loop has not, and returns the error of the call.
func (c *call) close(err error) error {
	defer c.finish()
	if _, used := err.(*sdkretry.MaxAttemptsError); c.phase == failed && (used || c.deferred) { //nolint:errorlint // the loop's own
		failure := c.failureOf(c.last.error)
		if used { // a retryer around ours has asked for a retry
			failure = forced(failure)
		}
		c.refresh(failure)
	}
	return c.answerTo(unwrapped(err))
}

// refuse ends an operation whose next attempt must not be made. A retryer around ours may ask for the attempt all the same.
func (c *call) refuse(err error) error {
	c.finishWith(err)
	c.phase, c.refusal, c.retryable = refused, err, false
	return err
}

// forget takes the call out of the error of its last attempt.
func (c *call) forget() {
	if c.last != nil {
		c.last.call.Store(nil)
	}
	c.due, c.deferred = false, false
}

// finish ends an operation for which the loop calls no further method.
func (c *call) finish() {
	switch {
	case c.phase == sent:
		c.finishWith(retry.ErrAborted)
	case c.last != nil:
		c.finishWith(c.last.error)
	default:
		c.finishWith(nil)
	}
}

// finishWith ends the operation without success, unless it has ended. The error of RecordFailure has no place to go: no method
// of a retryer could return it.
func (c *call) finishWith(err error) {
	if c.phase == idle || c.phase >= over {
		return
	}
	c.phase = over
	if c.denied == nil {
		_ = c.strategy.RecordFailure(c.token, err)
	}
}
