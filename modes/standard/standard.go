package standard

import (
	"context"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/backoff"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Strategy is the standard mode. Use New; it is safe for concurrent use. The verbs of
// the zero Strategy, and of a nil one, return retry.ErrNoStrategy.
type Strategy struct {
	config Config // with defaults
	usual  defaults
	dynamo defaults // for DynamoDB
	tokens retry.Tokens[operation]
	quotas *scope.Registry[retry.ScopeKey, *ratelimit.QuotaLine]
}

// account is the retry quota of a scope.
type account = scope.Entry[retry.ScopeKey, *ratelimit.QuotaLine]

// operation is what the strategy keeps of one operation.
type operation struct {
	scope *account
	paid  int           // what the last granted retry cost
	owed  int           // what of it Wait has still to take from the quota
	delay time.Duration // the delay before it
}

var _ retry.Strategy = (*Strategy)(nil)

// New returns a strategy, or what Config.Check says.
func New(config Config) (*Strategy, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	s := &Strategy{config: config.withDefaults()}
	s.usual, s.dynamo = s.config.Behavior.defaults(""), s.config.Behavior.defaults("dynamodb")
	s.tokens.Clock = s.config.Clock
	if s.config.MaxQuotaWait > 0 {
		s.tokens.Send = s.settle
	}
	if s.config.Observer != nil {
		s.tokens.Refused = s.tellRefused
	}
	start := s.config.Clock.Now()
	s.quotas = scope.New(scope.Config[retry.ScopeKey, *ratelimit.QuotaLine]{
		Limit:       s.config.MaxScopes,
		Idle:        s.config.ScopeIdle,
		OverflowKey: retry.OverflowKey(),
		Now:         s.config.Clock.Now,
		Create:      func(retry.ScopeKey) *ratelimit.QuotaLine { return s.newQuota(start) },
		Keep:        s.keeps,
		InFlight:    s.tokens.InFlight,
	})
	return s, nil
}

func (s *Strategy) newQuota(start time.Time) *ratelimit.QuotaLine {
	quota := ratelimit.NewQuota(ratelimit.QuotaConfig{
		Capacity:        *s.config.QuotaCapacity,
		Initial:         *s.config.QuotaInitial,
		RefillPerSecond: s.config.QuotaRefill,
	}, start)
	return ratelimit.NewQuotaLine(quota, s.config.Clock)
}

var errNotMade = fmt.Errorf(
	"standard: %w: a *standard.Strategy that was not made by standard.New: use what that returns", retry.ErrNoStrategy)

// made reports whether New has made the strategy.
func (s *Strategy) made() bool { return s != nil && s.quotas != nil }

// Clock returns the clock that the strategy waits on.
func (s *Strategy) Clock() clock.Clock {
	if !s.made() {
		return nil
	}
	return s.config.Clock
}

// MaxAttempts returns how many attempts an operation may have.
func (s *Strategy) MaxAttempts(op retry.Operation) int {
	if !s.made() {
		return 0
	}
	return s.maxAttempts(&op)
}

// maxAttempts and others take a pointer because an operation is large.
func (s *Strategy) maxAttempts(op *retry.Operation) int {
	switch {
	case op.MaxAttempts != 0:
		return max(op.MaxAttempts, 1)
	case s.config.MaxAttempts > 0:
		return s.config.MaxAttempts
	}
	return s.defaults(op).maxAttempts
}

// AcquireInitialToken begins an operation. It never fails: the quota is for
// retries, the first attempt is free.
func (s *Strategy) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	if !s.made() {
		return retry.Token{}, errNotMade
	}
	t, r := s.tokens.Open(ctx, &op)
	if s.config.QuotaScope == nil && op.Unscoped() {
		r.Hold(nil)
		r.Data = operation{scope: s.quotas.Whole()}
		return t, nil
	}
	s.enter(t, r)
	return t, nil
}

// RefreshRetryToken judges the failure with the classifier and decides.
func (s *Strategy) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	if !s.made() {
		return retry.Token{}, errNotMade
	}
	r, err := s.tokens.Take(t)
	if err != nil {
		return retry.Token{}, err
	}
	judged := false
	defer func() {
		if !judged {
			s.tokens.Restore(t, r)
		}
	}()
	verdict := s.judge(&r.Operation, t.Attempt(), failure)
	judged = true
	return s.decide(ctx, t, r, failed{failure, verdict, 0})
}

// RefreshJudged is RefreshRetryToken for a failure whose verdict is known, and a
// retry that will have to wait for longer than its delay: at least for floor.
func (s *Strategy) RefreshJudged(
	ctx context.Context, t retry.Token, failure error, verdict classify.Verdict, floor time.Duration,
) (retry.Token, error) {
	if !s.made() {
		return retry.Token{}, errNotMade
	}
	r, err := s.tokens.Take(t)
	if err != nil {
		return retry.Token{}, err
	}
	return s.decide(ctx, t, r, failed{failure, verdict, floor})
}

// Judge returns what the classifier says of a failure, or what a policy has said
// already.
func (s *Strategy) Judge(op retry.Operation, attempt int, failure error) classify.Verdict {
	return s.judge(&op, attempt, failure)
}

func (s *Strategy) judge(op *retry.Operation, attempt int, failure error) classify.Verdict {
	if failure == retry.ErrAborted { //nolint:errorlint // the loop's own, never wrapped
		return classify.Forbidden()
	}
	if verdict, ok := classify.Judgement(failure); ok {
		return verdict
	}
	return classify.Layered(s.config.Classifier, op.Classifier, classify.Outcome{
		Err: failure, Service: s.service(op), Operation: op.Name, Attempt: attempt,
	})
}

// RecordSuccess gives back to the quota: one token after a success on the first
// attempt, what the last retry cost after a later one.
func (s *Strategy) RecordSuccess(t retry.Token) error {
	if !s.made() {
		return errNotMade
	}
	r, err := s.tokens.TakeToEnd(t)
	if err != nil {
		return err
	}
	r.Data.scope.Touch()
	back := r.Data.paid - r.Data.owed
	if t.Attempt() == 1 {
		back = firstTrySuccess
	}
	available := r.Data.scope.Value.Refund(back)
	if s.config.Observer != nil {
		s.tell(r, retry.Event{Kind: retry.AttemptEnded, Attempt: t.Attempt(), Quota: available})
	}
	s.tokens.Close(r)
	return nil
}

// RecordFailure ends the operation. It gives nothing back, but for a retry that
// was granted and not made.
func (s *Strategy) RecordFailure(t retry.Token, failure error) error {
	if !s.made() {
		return errNotMade
	}
	r, afterRefusal, err := s.tokens.TakeLast(t)
	if err != nil {
		return err
	}
	s.fail(t, r, failure, afterRefusal, r.Sent())
	return nil
}

// RecordFailureOf is RecordFailure for a caller who waits for tokens of its own and
// knows whether the attempt was made.
func (s *Strategy) RecordFailureOf(t retry.Token, failure error, made bool) error {
	if !s.made() {
		return errNotMade
	}
	r, afterRefusal, err := s.tokens.TakeLast(t)
	if err != nil {
		return err
	}
	s.fail(t, r, failure, afterRefusal, made)
	return nil
}

func (s *Strategy) fail(t retry.Token, r *retry.Record[operation], failure error, afterRefusal, made bool) {
	r.Data.scope.Touch()
	switch {
	case afterRefusal:
	case made && s.config.Observer != nil:
		s.tell(r, retry.Event{Kind: retry.AttemptEnded, Attempt: t.Attempt(), Err: failure, Quota: s.available(r)})
	case !made:
		r.Data.scope.Value.Refund(r.Data.paid - r.Data.owed)
	}
	s.tokens.Close(r)
}

// defaults returns those for the service of an operation, which are the same for all services in V20.
func (s *Strategy) defaults(op *retry.Operation) *defaults {
	if s.config.Behavior == V21 && isDynamoDB(s.service(op)) {
		return &s.dynamo
	}
	return &s.usual
}

func (s *Strategy) service(op *retry.Operation) string {
	if op.Service != "" {
		return op.Service
	}
	return s.config.Service
}

// backoff returns the delay before the retry that follows a failure.
func (s *Strategy) backoff(r *retry.Record[operation], attempt int, verdict classify.Verdict) time.Duration {
	base := s.config.ThrottlingBase
	if verdict.Kind() != classify.Throttling {
		base = s.base(&r.Operation)
	}
	shape := backoff.Exponential{Max: s.config.MaxBackoff, Jitter: s.config.Jitter}
	delay := shape.Delay(attempt-1, base, r.Data.delay, s.config.Random())
	hint, hinted := verdict.Hint()
	switch {
	case !hinted:
		return delay
	case s.config.Behavior == V21:
		return backoff.HintInWindow(delay, hint)
	default:
		return backoff.HintAsFloor(delay, hint, s.config.MaxBackoff)
	}
}

// base is the delay before the first retry of an operation after anything but a
// throttle.
func (s *Strategy) base(op *retry.Operation) time.Duration {
	if s.config.Base > 0 {
		return s.config.Base
	}
	return s.defaults(op).base
}

func (s *Strategy) cost(kind classify.Kind) int {
	switch kind {
	case classify.Throttling:
		return s.config.ThrottlingCost
	case classify.Timeout:
		return s.config.TimeoutCost
	default:
		return s.config.RetryCost
	}
}
