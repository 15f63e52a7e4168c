package adaptive

import (
	"context"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Strategy is the adaptive mode. Use New; it is safe for concurrent use. The verbs of
// the zero Strategy, and of a nil one, return retry.ErrNoStrategy.
//
// Its scopes count time from when the strategy was built, whenever they are first
// used.
//
// It calls the standard strategy that it wraps for everything but the send rate,
// and tells the limiter of the scope about every attempt that was made, exactly
// once, whether or not another one follows.
type Strategy struct {
	config   Config
	standard *standard.Strategy
	tokens   retry.Tokens[operation]
	limiters *scope.Registry[retry.ScopeKey, limiterOr]
}

// operation is what the strategy keeps of one operation.
type operation struct {
	inner retry.Token // of the standard strategy
	scope *sendScope
	sent  time.Time // when the present attempt got its send token
	told  error     // the refusal that the standard strategy has told the observer of
}

var (
	_ retry.Strategy = (*Strategy)(nil)
	_ Limiter        = (*ratelimit.Limiter)(nil)
)

// New returns a strategy, or what Config.Check says.
func New(config Config) (*Strategy, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	if config.SendScope != nil && config.Standard.QuotaScope == nil {
		// Only this strategy's tokens are waited for, so that one of the standard
		// strategy counts as in flight only if the scope of the quota was looked up.
		config.Standard.QuotaScope = retry.Operation.Key
	}
	s := &Strategy{config: config}
	config.Standard.KeepScope = s.keepsQuota
	inner, err := standard.New(config.Standard)
	if err != nil {
		return nil, err
	}
	s.standard = inner
	s.tokens.Clock = inner.Clock()
	s.tokens.Send = s.send
	if config.Standard.Observer != nil {
		s.tokens.Refused = s.tellRefused
	}
	if s.limiters, err = s.newScopes(); err != nil {
		return nil, err
	}
	return s, nil
}

var errNotMade = fmt.Errorf(
	"adaptive: %w: an *adaptive.Strategy that was not made by adaptive.New: use what that returns", retry.ErrNoStrategy)

// made reports whether New has made the strategy.
func (s *Strategy) made() bool { return s != nil && s.standard != nil }

// Clock returns the clock that the strategy waits on.
func (s *Strategy) Clock() clock.Clock {
	if !s.made() {
		return nil
	}
	return s.standard.Clock()
}

// Plan returns the numbers for an operation, which are those of the standard mode.
func (s *Strategy) Plan(op retry.Operation) standard.Plan {
	if !s.made() {
		return standard.Plan{}
	}
	return s.standard.Plan(op)
}

// MaxAttempts returns how many attempts an operation may have.
func (s *Strategy) MaxAttempts(op retry.Operation) int {
	if !s.made() {
		return 0
	}
	return s.standard.MaxAttempts(op)
}

// AcquireInitialToken begins an operation. It does not wait; the token's Wait
// does. It fails only if Config.SendLimit says something impossible of the scope.
func (s *Strategy) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	if !s.made() {
		return retry.Token{}, errNotMade
	}
	t, r := s.tokens.Open(ctx, &op)
	if s.config.SendScope == nil && op.Unscoped() {
		r.Hold(nil)
		r.Data.scope = s.limiters.Whole()
	} else if err := s.enter(t, r); err != nil {
		s.tokens.Close(r)
		return retry.Token{}, err
	}
	r.Data.inner, _ = s.standard.AcquireInitialToken(ctx, op) // never fails
	return t, nil
}

// RefreshRetryToken judges the failure, tells the limiter, and lets the standard
// strategy decide.
func (s *Strategy) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (next retry.Token, err error) {
	if !s.made() {
		return retry.Token{}, errNotMade
	}
	r, err := s.tokens.Take(t)
	if err != nil {
		return retry.Token{}, err
	}
	verdict := s.judge(t, r, failure)
	r.Last = failure
	decided := false
	defer func() {
		if !decided {
			s.tokens.Refuse(t, 0) // a function of the user panicked; the attempt has been reported
		}
	}()
	change := s.report(r, verdict)
	inner, err := s.standard.RefreshJudged(ctx, r.Data.inner, failure, verdict, s.expected(ctx, r))
	r.Data.inner = inner // refused or granted, it is what RecordFailure ends
	s.tellChange(t, r, change)
	if err != nil {
		next = s.tokens.Refuse(t, inner.Delay())
	} else {
		next = s.tokens.Next(t, inner.Delay())
	}
	decided = true
	return next, err
}

// expected is how long the next attempt has to wait for its send token, as far as
// that can be foreseen. It matters only to an operation whose time is limited.
func (s *Strategy) expected(ctx context.Context, r *retry.Record[operation]) time.Duration {
	if _, limited := ctx.Deadline(); !limited && r.Operation.NotAfter.IsZero() {
		return 0
	}
	return r.Data.scope.Value.limiter.Expected(s.config.SendCost)
}

// judge asks the classifier. If that panics, t is good for RecordFailure still.
func (s *Strategy) judge(t retry.Token, r *retry.Record[operation], failure error) classify.Verdict {
	judged := false
	defer func() {
		if !judged {
			s.tokens.Restore(t, r)
		}
	}()
	verdict := s.standard.Judge(r.Operation, t.Attempt(), failure)
	judged = true
	return verdict
}

// RecordSuccess tells the limiter and the standard strategy.
func (s *Strategy) RecordSuccess(t retry.Token) error {
	if !s.made() {
		return errNotMade
	}
	r, err := s.tokens.TakeToEnd(t)
	if err != nil {
		return err
	}
	r.Data.scope.Touch()
	change := s.report(r, classify.None())
	err = s.standard.RecordSuccess(r.Data.inner)
	s.tellChange(t, r, change)
	s.tokens.Close(r)
	return err
}

// RecordFailure ends the operation. The limiter hears of the attempt unless a
// refused refresh has told it.
func (s *Strategy) RecordFailure(t retry.Token, failure error) error {
	if !s.made() {
		return errNotMade
	}
	r, afterRefusal, err := s.tokens.TakeLast(t)
	if err != nil {
		return err
	}
	r.Data.scope.Touch()
	var change ratelimit.Change
	if !afterRefusal && r.Sent() {
		change = s.report(r, s.judge(t, r, failure))
	}
	err = s.standard.RecordFailureOf(r.Data.inner, failure, r.Sent())
	s.tellChange(t, r, change)
	s.tokens.Close(r)
	return err
}

// report tells the limiter of an attempt, if it was made.
func (s *Strategy) report(r *retry.Record[operation], verdict classify.Verdict) ratelimit.Change {
	if !r.Sent() {
		return ratelimit.Change{}
	}
	return r.Data.scope.Value.limiter.Report(ratelimit.Response{
		Sent:      r.Data.sent,
		Throttled: verdict.Kind() == classify.Throttling,
	})
}

func (s *Strategy) tellChange(t retry.Token, r *retry.Record[operation], c ratelimit.Change) {
	if !c.Limited || c.From == c.To || s.config.Standard.Observer == nil {
		return
	}
	s.tell(r, retry.Event{
		Kind: retry.SendRateChanged, Attempt: t.Attempt(), Rate: float64(c.To), RateBefore: float64(c.From),
	})
}

// tellRefused tells of an attempt whose Wait failed, unless the standard strategy has.
func (s *Strategy) tellRefused(t retry.Token, r *retry.Record[operation], e *retry.Error) {
	told := r.Data.told
	r.Data.told = nil
	if told == error(e) { //nolint:errorlint // the same value
		return
	}
	s.tell(r, retry.Event{
		Kind: retry.RetryRefused, Attempt: t.Attempt(), Err: e.Last, Reason: e.Reason, Delay: e.Wait,
	})
}

// tell completes an event and passes it on.
func (s *Strategy) tell(r *retry.Record[operation], e retry.Event) {
	e.Time, e.Operation = s.Clock().Now(), r.Operation
	if e.Part == 0 {
		e.Scope = r.Scope
	}
	retry.Emit(r.Context, s.config.Standard.Observer, e)
}
