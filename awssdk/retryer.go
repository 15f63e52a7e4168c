package awssdk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdklimit "github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// sdkRetryer is the retryer of the clients of a config. With the middlewares its methods move the [call] that they are
// called for. Without them, such as in a client of another config, it is the SDK's standard retryer with the numbers and
// verdicts of the strategy.
type sdkRetryer struct {
	*shared
	service string                    // as the SDK spells it; empty if several
	scoped  string                    // as scopes spell it
	plain   func() *sdkretry.Standard // for what belongs to no call
	most    int                       // attempts of a call, or zero for those of the strategy
	// Of a retryer for all services: the generation whose built-in attempts a client has that sets none; empty for those of
	// the strategy.
	unset retry.Behavior
	// Of a retryer for all services, which a program has put into one of its own: the client that uses it.
	client atomic.Pointer[sdkRetryer]
	open   atomic.Bool // whether clients with other attempts use it too
}

// shared is what the retryers of one strategy for all services have in common.
type shared struct {
	strategy retry.Strategy
	mark     awsmiddleware.UserAgentFeature // of the mode of the strategy
	before   aws.Config                     // as Install found it
	inForce  values                         // in the config since
	// The fields of the SDK's loop that holds its retryer, and of credentials that holds the account. Looked up by name each would
	// cost a call an allocation.
	retryerField, accountField []int
	operation                  func(context.Context, retry.Operation, any) retry.Operation
	accounts                   accounts
	timeout                    retry.AttemptTimeout // or nil
	inputs                     sync.Map             // of the indices of fields, []int, by reflect.Type
}

var _ aws.RetryerV2 = (*sdkRetryer)(nil)

// newRetryer returns a retryer for all services. A nil strategy stands for standard mode with the built-in defaults.
func newRetryer(strategy retry.Strategy, o options) (*sdkRetryer, error) {
	if strategy == nil {
		strategy, _ = standard.New(standard.Config{})
	}
	if err := retry.CheckStrategy(strategy); err != nil {
		return nil, fmt.Errorf("awssdk: %w", err)
	}
	retryer, _ := reflect.TypeFor[sdkretry.Attempt]().FieldByName("retryer")
	account, _ := reflect.TypeFor[aws.Credentials]().FieldByName("AccountID")
	common := &shared{retryerField: retryer.Index, accountField: account.Index, operation: o.operation, timeout: o.timeout}
	common.accounts.given = o.account
	r := &sdkRetryer{shared: common}
	r.use(strategy)
	return r, nil
}

// use sets the strategy. It comes before the first call that the settings are known for.
func (r *sdkRetryer) use(strategy retry.Strategy) {
	r.strategy, r.mark = strategy, awsmiddleware.UserAgentFeatureRetryModeStandard
	if strategy.Snapshot().Mode == "adaptive" {
		r.mark = awsmiddleware.UserAgentFeatureRetryModeAdaptive
	}
	r.plain = sync.OnceValue(r.standard)
}

// forAll returns another retryer for all services.
func (r *sdkRetryer) forAll(unset retry.Behavior) *sdkRetryer {
	return &sdkRetryer{shared: r.shared, plain: r.plain, unset: unset}
}

// forService returns the retryer for the clients of one service. It shares everything with r
// but has the defaults of the service.
func (r *sdkRetryer) forService(id string) *sdkRetryer {
	named := &sdkRetryer{shared: r.shared, service: id, scoped: strings.ToLower(id)}
	named.plain = sync.OnceValue(named.standard)
	return named
}

// in returns the retryer for a call of a client: that of the client in place of one for all services. Several clients with
// different attempts may use one for all services, which then leaves it to the strategy when to end a call.
func (r *sdkRetryer) in(client *sdkRetryer) *sdkRetryer {
	if r.service != "" || client.service == "" || r.shared != client.shared {
		return r
	}
	if first := r.client.Load(); first != client && !r.client.CompareAndSwap(nil, client) &&
		r.client.Load().MaxAttempts() != client.MaxAttempts() {
		r.open.Store(true)
	}
	return client
}

// StrategyOf returns the strategy of the clients made from cfg. Its Snapshot shows the quotas and send rates of all scopes.
// StrategyOf reports false if cfg has no retryer, or one of another package. It calls the function in cfg.Retryer once.
func StrategyOf(cfg aws.Config) (retry.Strategy, bool) {
	r, ok := retryerOf(cfg)
	if !ok {
		return nil, false
	}
	return r.strategy, true
}

func retryerOf(cfg aws.Config) (r *sdkRetryer, ok bool) {
	if cfg.Retryer != nil {
		r, ok = cfg.Retryer().(*sdkRetryer)
	}
	return r, ok
}

// MaxAttempts returns how many attempts a call may have: those of the service if [Install] has named
// it, else those of any service. RetryMaxAttempts of a client or of one call overrides it. In a client with
// [WithOperation] it is 2^31-1, because the function decides for each call.
func (r *sdkRetryer) MaxAttempts() int {
	if client := r.client.Load(); client != nil && !r.open.Load() {
		return client.MaxAttempts()
	}
	if r.open.Load() || r.operation != nil && r.service != "" {
		return openLimit
	}
	return r.attempts(r.scoped)
}

// attempts returns how many attempts a call of a service may have if nothing else limits them.
func (r *sdkRetryer) attempts(service string) int {
	if r.most != 0 {
		return r.most
	}
	return r.strategy.Plan(retry.Operation{Service: service}).MaxAttempts
}

// GetAttemptToken tells the call that its loop has this retryer. The attempt waits for the send rate in the middleware, where
// the limit of the loop is known.
func (r *sdkRetryer) GetAttemptToken(ctx context.Context) (release func(error) error, err error) {
	if c := callFrom(ctx); c != nil && c.between() {
		c.retryer, c.ctx = r.in(c.installed), ctx
		return released, nil
	}
	return r.plain().GetAttemptToken(ctx)
}

// IsErrorRetryable lets the strategy decide about the attempt that ended with err, and reports
// whether the error is retried. The SDK's loop calls it once for each failed attempt.
func (r *sdkRetryer) IsErrorRetryable(err error) bool {
	if c := callOf(err); c != nil {
		return c.decide(err)
	}
	return r.plain().IsErrorRetryable(err)
}

// GetRetryToken returns a [*retry.Error] with the reason if there is no retry. If ctx has ended, or its
// deadline leaves no room for the wait, an [*aws.RequestCanceledError] wraps it.
//
// GetRetryToken assumes that the error is retryable, because clients such as that of STS wrap the
// retryer and decide about some errors themselves.
func (r *sdkRetryer) GetRetryToken(ctx context.Context, opErr error) (release func(error) error, err error) {
	if c := callFrom(ctx); c != nil && c.phase > sent && c.between() {
		return released, c.grant(ctx, opErr)
	}
	return r.plain().GetRetryToken(ctx, opErr)
}

// RetryDelay returns the backoff that the strategy chose after err. If the response asks for at least
// that delay, the result is up to five seconds less, because the SDK's loop adds up to five seconds for
// the response, and the strategy has counted them already. The result is negative only if the response asks for more than
// the backoff, and MaxHint or MaxBackoff is less than five seconds, the strategy ignores hints, or a long poll returns.
func (r *sdkRetryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	switch c := callOf(err); {
	case c == nil:
	case c.attempt.limit == openLimit && c.attempt.number >= c.most: // and the loop would go on
		return 0, &sdkretry.MaxAttemptsError{Attempt: c.attempt.number, Err: err}
	case c.due:
		return forLoop(c.delay, err), nil
	}
	return r.plain().RetryDelay(attempt, err)
}

// GetInitialToken is for loops that know no GetAttemptToken.
func (r *sdkRetryer) GetInitialToken() (release func(error) error) {
	return r.plain().GetInitialToken() //nolint:staticcheck // it is what older loops call
}

func released(error) error { return nil }

// standard returns the SDK's standard retryer with the numbers and verdicts of the strategy.
func (r *sdkRetryer) standard() *sdkretry.Standard {
	op := retry.Operation{Service: r.scoped}
	plan := r.strategy.Plan(op)
	plan.MaxAttempts = r.attempts(r.scoped)
	judge := func(err error) classify.Verdict {
		return r.strategy.Judge(op, failureOf(err, r.strategy.Clock().Now))
	}
	return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = plan.MaxAttempts, plan.MaxBackoff
		o.RateLimiter = sdklimit.NewTokenRateLimit(uint(plan.QuotaCapacity))
		o.RetryCost, o.ThrottlingRetryCost = uint(plan.RetryCost), uint(plan.ThrottlingCost)
		o.Retryables = []sdkretry.IsErrorRetryable{sdkretry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			return aws.BoolTernary(judge(err).Retryable())
		})}
		o.Throttles = []sdkretry.IsErrorThrottle{sdkretry.IsErrorThrottleFunc(func(err error) aws.Ternary {
			return aws.BoolTernary(judge(err).Kind() == classify.Throttling)
		})}
		o.Backoff = sdkretry.BackoffDelayerFunc(func(attempt int, err error) (time.Duration, error) {
			if plan.Backoff != nil {
				return plan.Backoff(attempt, err), nil
			}
			base := plan.Base
			if throttles(err) {
				base = plan.ThrottlingBase
			}
			delay := backoff.Exponential{Max: plan.MaxBackoff}.Delay(attempt-1, base, 0, rand.Float64()) //nolint:gosec // jitter
			return max(delay, plan.MinDelay), nil
		})
	})
}
