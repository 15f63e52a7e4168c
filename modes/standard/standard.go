package standard

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/backoff"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Strategy is the standard mode. Use New; it is safe for concurrent use.
type Strategy struct {
	config Config // with defaults
	tokens retry.Tokens[operation]
	quotas *scope.Registry[retry.ScopeKey, *ratelimit.QuotaLine]
}

// operation is what the strategy keeps of one operation.
type operation struct {
	quota *ratelimit.QuotaLine
	paid  int           // what the last granted retry cost
	owed  int           // what of it Wait has still to take from the quota
	delay time.Duration // the delay before it
}

var (
	_ retry.Strategy = (*Strategy)(nil)
	_ retry.Clocked  = (*Strategy)(nil)
)

// New returns a strategy, or what Config.Check says.
func New(config Config) (*Strategy, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	s := &Strategy{config: config.withDefaults()}
	s.tokens.Clock = s.config.Clock
	if s.config.MaxQuotaWait > 0 {
		s.tokens.Send = s.settle
	}
	start := s.config.Clock.Now()
	s.quotas = scope.New(s.config.MaxScopes, retry.OverflowKey(), func(retry.ScopeKey) *ratelimit.QuotaLine {
		quota := ratelimit.NewQuota(ratelimit.QuotaConfig{
			Capacity:        *s.config.QuotaCapacity,
			Initial:         *s.config.QuotaInitial,
			RefillPerSecond: s.config.QuotaRefill,
		}, start)
		return ratelimit.NewQuotaLine(quota, s.config.Clock)
	})
	return s, nil
}

// Clock returns the clock that the strategy waits on.
func (s *Strategy) Clock() clock.Clock { return s.config.Clock }

// MaxAttempts returns how many attempts an operation may have.
func (s *Strategy) MaxAttempts(op retry.Operation) int {
	switch {
	case op.MaxAttempts != 0:
		return max(op.MaxAttempts, 1)
	case s.config.MaxAttempts > 0:
		return s.config.MaxAttempts
	}
	return s.config.Behavior.defaults(s.service(op)).maxAttempts
}

// AcquireInitialToken begins an operation. It never fails: the quota is for
// retries, the first attempt is free.
func (s *Strategy) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	quota, created := s.quotas.Whole(), false
	if !op.Unscoped() {
		quota, created = s.quotas.Get(op.Key())
	}
	t, r := s.tokens.Open(ctx, &op)
	r.Data = operation{quota: quota}
	if created && s.config.Observer != nil {
		s.tell(r, retry.Event{Kind: retry.ScopeCreated, Attempt: t.Attempt()})
	}
	return t, nil
}

// RefreshRetryToken judges the failure with the classifier and decides.
func (s *Strategy) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
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
	verdict := s.Judge(r.Operation, t.Attempt(), failure)
	judged = true
	return s.decide(ctx, t, r, failure, verdict)
}

// RefreshJudged is RefreshRetryToken for a failure whose verdict is known.
func (s *Strategy) RefreshJudged(
	ctx context.Context, t retry.Token, failure error, verdict classify.Verdict,
) (retry.Token, error) {
	r, err := s.tokens.Take(t)
	if err != nil {
		return retry.Token{}, err
	}
	return s.decide(ctx, t, r, failure, verdict)
}

// Judge returns what the classifier says of a failure.
func (s *Strategy) Judge(op retry.Operation, attempt int, failure error) classify.Verdict {
	if failure == retry.ErrAborted { //nolint:errorlint // the loop's own, never wrapped
		return classify.Forbidden()
	}
	classifier := s.config.Classifier
	if op.Classifier != nil {
		classifier = op.Classifier
	}
	return classifier.Classify(classify.Outcome{
		Err: failure, Service: s.service(op), Operation: op.Name, Attempt: attempt,
	})
}

// RecordSuccess gives back to the quota: one token after a success on the first
// attempt, what the last retry cost after a later one.
func (s *Strategy) RecordSuccess(t retry.Token) error {
	r, err := s.tokens.Take(t)
	if err != nil {
		return err
	}
	back := r.Data.paid - r.Data.owed
	if t.Attempt() == 1 {
		back = firstTrySuccess
	}
	available := r.Data.quota.Refund(back)
	if s.config.Observer != nil {
		s.tell(r, retry.Event{Kind: retry.AttemptEnded, Attempt: t.Attempt(), Quota: available})
	}
	s.tokens.Close(r)
	return nil
}

// RecordFailure ends the operation. It gives nothing back.
func (s *Strategy) RecordFailure(t retry.Token, failure error) error {
	r, afterRefusal, err := s.tokens.TakeLast(t)
	if err != nil {
		return err
	}
	if s.config.Observer != nil && !afterRefusal && r.Sent() {
		s.tell(r, retry.Event{Kind: retry.AttemptEnded, Attempt: t.Attempt(), Err: failure, Quota: s.available(r)})
	}
	s.tokens.Close(r)
	return nil
}

// Snapshot returns the state of the quotas.
func (s *Strategy) Snapshot() retry.Snapshot {
	snapshot := retry.Snapshot{Mode: "standard", Overflowed: s.quotas.Overflowed()}
	now := s.config.Clock.Now()
	s.quotas.Each(func(key retry.ScopeKey, quota *ratelimit.QuotaLine) {
		snapshot.Scopes = append(snapshot.Scopes, retry.ScopeSnapshot{
			Scope: key.String(), Quota: quota.Available(now), QuotaCapacity: quota.Capacity(),
		})
	})
	slices.SortFunc(snapshot.Scopes, func(a, b retry.ScopeSnapshot) int { return strings.Compare(a.Scope, b.Scope) })
	return snapshot
}

func (s *Strategy) service(op retry.Operation) string {
	if op.Service != "" {
		return op.Service
	}
	return s.config.Service
}

// backoff returns the delay before the retry that follows a failure.
func (s *Strategy) backoff(r *retry.Record[operation], attempt int, verdict classify.Verdict) time.Duration {
	base := s.config.ThrottlingBase
	if verdict.Kind() != classify.Throttling {
		base = s.base(r.Operation)
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
func (s *Strategy) base(op retry.Operation) time.Duration {
	if s.config.Base > 0 {
		return s.config.Base
	}
	return s.config.Behavior.defaults(s.service(op)).base
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
