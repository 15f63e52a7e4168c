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

// New returns a retryer for a strategy, or an error, which is [retry.ErrNoStrategy], if the
// strategy is nil or a wrapper around nil. operation changes what the strategy is
// told about each call; nil changes nothing.
//
// The retryers of New, [Load] and [Install] ask a strategy. They are safe for concurrent use, and
// clients may share one.
//
// The loop of the SDK sleeps the backoff that RetryDelay returns, so that a retryer around this
// one sees the backoff and may change it. GetAttemptToken then waits for the send rate and the
// quota, on the clock of the strategy and with the context of the call. GetRetryToken refuses a
// backoff that would not end before the deadline of the call. The SDK joins an error of
// GetRetryToken to that of the service, so that [errors.As] finds both.
//
// A retryer around this one embeds [aws.RetryerV2]. If it embeds [aws.Retryer] and there are no
// middlewares, a first attempt is neither delayed nor heard of.
//
// Without the middlewares of [Install] and [LoadDefaultConfig] the identity of an error tells which
// call the error belongs to. This has consequences:
//
//   - A retry waits for the send rate and the quota in GetRetryToken, before its backoff.
//     RetryDelay returns what is left of the backoff.
//   - If a retryer around this one does not let an error be retried, answers GetRetryToken itself,
//     gives up in RetryDelay, or lengthens a backoff during which the call is canceled, the strategy
//     hears of the end of the call only after many other failures. Only then does the quota get back
//     what a retry took.
//   - If a retryer around this one answers GetRetryToken itself, the strategy does not hear of the
//     retries, and the delays have full jitter from the second one on.
//   - If a retryer around this one shortens a backoff, and the call is canceled during its retry,
//     the retry may count as not made. A backoff that would not end before the deadline of the call
//     is refused, also where such a retryer would shorten it.
//   - The strategy does not hear of an attempt that panicked, nor of throttles inside of a success.
//   - The context that an observer gets is that of the first attempt. With a TracerProvider the span of
//     the context ends with that attempt, and later events find it ended.
//   - The error of a call that is canceled after its first attempt does not tell of the attempt
//     before.
//   - The scope of a call is its service, or its operation where AWS counts by operation, in a
//     region and in the account of [WithAccount]; or it is the name of [WithScope].
//   - A loop inside an attempt does not know of the loop around it.
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

// StrategyOf returns the strategy of the clients that are made from cfg: the one that
// [Install] gave to cfg, or that of a retryer of [Load] or [New] in cfg. Its Snapshot shows
// the quotas and send rates of all scopes. StrategyOf reports false if cfg has no retryer, or
// one of another package. It calls the function in cfg.Retryer once.
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

// MaxAttempts returns how many attempts a call may have: what the strategy says of the service
// if [Install] has named it, and else of any service. RetryMaxAttempts of a client or of one
// call overrides it.
func (r *sdkRetryer) MaxAttempts() int {
	return r.strategy.Plan(retry.Operation{Service: r.scoped}).MaxAttempts
}

// GetAttemptToken returns when the attempt may be made: with a send token in adaptive mode. For
// a retry it is called after the backoff.
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
	case barred:
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
	number, limit := r.attemptOf(ctx)
	if limit > 0 {
		limit -= max(number-1, 0)
	}
	c.limit = limit
	return r.operationOf(ctx, c.input, limit)
}

// IsErrorRetryable lets the strategy decide about the attempt that ended with err, and reports
// whether such an error is retried. The loop of the SDK calls it once for each attempt that
// failed. For any other error it reports what holds for an operation of which nothing is
// known: a context.DeadlineExceeded is then the timeout of an attempt. GetRetryToken, which gets
// the context, refuses the retry if the caller has gone.
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

// GetRetryToken returns an error if there is no retry: a [*retry.Error] with the reason. An
// [*aws.RequestCanceledError] is around it if ctx has ended or its deadline leaves no room for
// the wait.
//
// It takes the error for retryable, because clients such as that of STS wrap the retryer and
// decide about some errors themselves.
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

// RetryDelay returns the backoff that the strategy has chosen after err. Where the response of err
// asks for at least that, the result is up to five seconds less: the loop of the SDK adds up to five
// seconds for the response, which the strategy has counted already. The result is below zero only
// where the response asks for more than the backoff, and one of these holds:
//
//   - MaxHint or MaxBackoff of the strategy is less than five seconds, or the strategy does not take
//     what the service asks for.
//   - Without middlewares the wait for the send rate has taken a part of the backoff.
//   - There is no retry, and a long poll returns.
//
// For an error of no known call RetryDelay returns the usual backoff after the attempt of that
// number, the first being 1, with full jitter.
func (r *sdkRetryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	if left, due := r.failures.ask(err); due {
		return forLoop(left, err), nil
	}
	return usualDelay(r.strategy.Plan(retry.Operation{Service: r.scoped}), attempt, err), nil
}

// GetInitialToken does nothing. The loop of the SDK calls GetAttemptToken instead.
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
