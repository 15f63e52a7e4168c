package awssdk

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry/retry"
)

// sdkRetryer is what New returns.
type sdkRetryer struct {
	*shared
	service string // as the SDK spells it; empty if several
	scoped  string // as scopes spell it
	owner   *owner // of the credentials of the client; nil if not known
}

// shared is what the retryers of one strategy for all services have in common.
type shared struct {
	strategy  retry.Strategy
	operation operationFunc
	accounts  accounts
	failures  failures
	outputs   outputs
	timeout   retry.AttemptTimeout // or nil
	inputs    sync.Map             // of *inputPlan by reflect.Type
	requests  sync.Pool            // of *smithyhttp.Request, for attemptOf
}

var _ aws.RetryerV2 = (*sdkRetryer)(nil)

// New returns a retryer for a strategy. If the strategy is nil or wraps nil, the error is
// [retry.ErrNoStrategy]. operation changes what the strategy knows of each call, see [WithOperation];
// nil changes nothing. Retryers are safe for concurrent use, and clients may share one.
//
// The SDK's loop sleeps the backoff that RetryDelay returns, so a retryer around this one sees the
// backoff and may change it. Then GetAttemptToken waits for the send rate and the quota, on the
// clock of the strategy and with the context of the call. GetRetryToken refuses a backoff that would
// not end before the deadline of the call. The SDK joins an error of GetRetryToken to that of the
// service, so [errors.As] finds both.
//
// A retryer around this one must embed [aws.RetryerV2]. If it embeds [aws.Retryer] and there are no
// middlewares, the strategy neither delays nor sees first attempts.
//
// A retryer without the middlewares of [Install] and [LoadDefaultConfig] recognizes a call by the
// identity of its last error. It has these limits:
//
//   - Scopes are services, or operations where AWS counts by operation, in a region and in the
//     account of [WithAccount]; or names of [WithScope].
//   - A retry waits for the send rate and the quota in GetRetryToken, before its backoff. RetryDelay
//     returns the rest of the backoff.
//   - The strategy does not see attempts that panic, or throttles inside of a success.
//   - An observer gets the context of the first attempt. With a TracerProvider the span of that
//     context ends with the first attempt.
//   - If a call is canceled after its first attempt, its error does not include the error of the
//     attempt before.
//   - A loop inside an attempt does not know that it is inside another loop.
//
// A retryer around it has these effects:
//
//   - If it stops a retry, answers GetRetryToken itself, gives up in RetryDelay, or lengthens a backoff
//     during which the call is canceled, the strategy sees the end of the call, and the quota gets the
//     tokens of the retry back, only after many other failures.
//   - If it answers GetRetryToken itself, the strategy does not see the retries, and the delays have
//     full jitter from the second one on.
//   - If it shortens a backoff, and the call is canceled during the retry, the retry may count as not
//     made. A backoff that would not end before the deadline is refused, even if it would be shortened.
func New(strategy retry.Strategy, operation func(ctx context.Context, op retry.Operation, input any) retry.Operation) (aws.RetryerV2, error) {
	r, err := newRetryer(strategy, operation)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func newRetryer(strategy retry.Strategy, operation operationFunc) (*sdkRetryer, error) {
	if err := retry.CheckStrategy(strategy); err != nil {
		return nil, fmt.Errorf("awssdk: %w", err)
	}
	return &sdkRetryer{shared: &shared{strategy: strategy, operation: operation}}, nil
}

// StrategyOf returns the strategy of the clients made from cfg, whether it comes from [Install], [Load]
// or [New]. Its Snapshot shows the quotas and send rates of all scopes. StrategyOf reports false if cfg
// has no retryer, or one of another package. It calls the function in cfg.Retryer once.
func StrategyOf(cfg aws.Config) (retry.Strategy, bool) {
	if cfg.Retryer == nil {
		return nil, false
	}
	r, ok := cfg.Retryer().(*sdkRetryer)
	if !ok {
		return nil, false
	}
	return r.strategy, true
}

// forService returns the retryer for the clients of one service. It shares everything with r
// but has the defaults of the service.
func (r *sdkRetryer) forService(id string) *sdkRetryer {
	return &sdkRetryer{shared: r.shared, service: id, scoped: strings.ToLower(id)}
}

// MaxAttempts returns how many attempts a call may have: those of the service if [Install] has named
// it, else those of any service. RetryMaxAttempts of a client or of one call overrides it.
func (r *sdkRetryer) MaxAttempts() int {
	return r.strategy.Plan(retry.Operation{Service: r.scoped}).MaxAttempts
}

// GetAttemptToken waits until the attempt may be made; in adaptive mode it takes a send token. For a
// retry it is called after the backoff.
func (r *sdkRetryer) GetAttemptToken(ctx context.Context) (release func(error) error, err error) {
	if c := callFrom(ctx); c != nil {
		err := r.admit(ctx, c)
		c.ctx = ctx // that of the loop: what is inside of it may have given the attempt a deadline
		return released, err
	}
	if number, _ := r.attemptOf(ctx); number > 1 {
		return released, nil // GetRetryToken has waited
	}
	c := &call{}
	if err := r.admit(ctx, c); err != nil {
		return nil, err
	}
	return r.release(c), nil
}

// admit returns when the attempt of a call may be made. An attempt that the strategy has not granted
// is that of a retryer around ours, and begins another operation.
func (r *sdkRetryer) admit(ctx context.Context, c *call) (err error) {
	switch c.phase {
	case refused:
		err = c.refusal
	case sent: // it may be made already
	case granted:
		err = c.wait(ctx)
	default:
		c.finish()
		err = c.begin(ctx, r.shared, r.next(ctx, c))
	}
	return c.explain(ctx, err, nil)
}

// next describes what is left of the attempts of a call as an operation.
func (r *sdkRetryer) next(ctx context.Context, c *call) retry.Operation {
	number, limit := 1, r.MaxAttempts()
	if !c.direct || c.phase != idle {
		number, limit = r.attemptOf(ctx)
	}
	if limit > 0 {
		limit -= max(number-1, 0)
	}
	c.limit = limit
	return r.operationOf(ctx, c.input, limit)
}

// IsErrorRetryable lets the strategy decide about the attempt that ended with err, and reports
// whether the error is retried. The SDK's loop calls it once for each failed attempt. For any other
// error it assumes an unknown operation, where a context.DeadlineExceeded is the timeout of an attempt.
// GetRetryToken, which gets the context, refuses the retry if that has ended.
func (r *sdkRetryer) IsErrorRetryable(err error) bool {
	if err == nil {
		return false
	}
	c := r.failures.take(err)
	if c == nil {
		return r.strategy.Judge(retry.Operation{Service: r.scoped}, failureOf(err, nil, r.strategy.Clock().Now)).Retryable()
	}
	retryable := c.decide(err)
	if c.awaited() && !c.keep(c.token.Delay(), c.phase == granted || c.phase == resting) && !c.observed {
		c.finish() // another call has failed with the same value since
	}
	return retryable
}

// GetRetryToken returns a [*retry.Error] with the reason if there is no retry. If ctx has ended, or its
// deadline leaves no room for the wait, an [*aws.RequestCanceledError] wraps it.
//
// GetRetryToken assumes that the error is retryable, because clients such as that of STS wrap the
// retryer and decide about some errors themselves.
func (r *sdkRetryer) GetRetryToken(ctx context.Context, opErr error) (release func(error) error, err error) {
	c := callFrom(ctx)
	if c == nil || c.phase == idle {
		if c = r.failures.take(opErr); c == nil {
			c = &call{}
		}
	}
	if c.phase == idle || c.overruled() {
		c.open(ctx, r.shared, r.next(ctx, c))
		c.move(failing)
	}
	if !c.observed {
		c.ctx = ctx
	}
	c.force(opErr)
	if err := c.retry(ctx, opErr); err != nil {
		return nil, err
	}
	if c.observed {
		return released, nil
	}
	return r.release(c), nil
}

// RetryDelay returns the backoff that the strategy chose after err. If the response asks for at least
// that delay, the result is up to five seconds less, because the SDK's loop adds up to five seconds for
// the response, and the strategy has counted them already. The result is negative only if the response
// asks for more than the backoff and one of these is true:
//
//   - MaxHint or MaxBackoff of the strategy is less than five seconds, or the strategy ignores hints.
//   - There are no middlewares, and the wait for the send rate took a part of the backoff.
//   - There is no retry, and a long poll returns.
//
// For an error of an unknown call RetryDelay returns the usual backoff after that attempt, counted from
// 1, with full jitter.
func (r *sdkRetryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	if left, due := r.failures.ask(err); due {
		return forLoop(left, err), nil
	}
	return usualDelay(r.strategy.Plan(retry.Operation{Service: r.scoped}), attempt, err), nil
}

// GetInitialToken does nothing. The SDK's loop calls GetAttemptToken instead.
func (r *sdkRetryer) GetInitialToken() (release func(error) error) { return released }

// release returns the function with which the loop tells how an attempt ended. The loop calls
// the function of GetAttemptToken for the first attempt, and that of GetRetryToken for each
// further one.
func (r *sdkRetryer) release(c *call) func(error) error {
	return func(err error) error {
		if !c.resume() {
			return nil
		}
		c.ended(err)
		if err == nil || c.phase != failed {
			return nil
		}
		if c.last() {
			c.decide(err) // the loop may not ask any more
		}
		if c.key = err; !c.keep(0, false) {
			c.finish()
		}
		return nil
	}
}

func released(error) error { return nil }
