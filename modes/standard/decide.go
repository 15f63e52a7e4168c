package standard

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// failed is what is known of a failed attempt.
type failed struct {
	failure error
	verdict classify.Verdict
	floor   time.Duration // how long a retry has to wait at least
}

// decide grants or refuses a retry: retryable at all, attempts left, caller still
// there, room for the wait, quota. The quota comes last, so that it is charged
// only for a retry that nothing else stands against. If it does not come to a
// decision, because a function of the user panics, t accepts RecordFailure.
func (s *Strategy) decide(
	ctx context.Context, t retry.Token, r *retry.Record[operation], f failed,
) (next retry.Token, err error) {
	decided := false
	defer func() {
		if !decided {
			s.tokens.Refuse(t, 0)
		}
	}()
	before := r.Last
	r.Last = f.failure
	if s.config.Observer != nil {
		s.tell(r, retry.Event{
			Kind: retry.AttemptEnded, Attempt: t.Attempt(), Err: f.failure, Verdict: f.verdict, Quota: s.available(r),
		})
	}
	delay, refusal := time.Duration(0), s.against(ctx, t, r, f, before)
	if refusal == nil {
		delay, refusal = s.charge(ctx, t, r, f)
	}
	if refusal != nil {
		s.tellRefused(t, r, refusal)
		next, err = s.tokens.Refuse(t, delay), refusal
	} else {
		next = s.tokens.Next(t, delay)
	}
	decided = true
	return next, err
}

// against returns what stands against a retry before the quota is asked.
func (s *Strategy) against(
	ctx context.Context, t retry.Token, r *retry.Record[operation], f failed, before error,
) *retry.Error {
	retryable := f.verdict.Action() == classify.Retry
	limit := s.maxAttempts(&r.Operation)
	switch {
	case !retryable && !endedWith(ctx, f.failure):
		return r.Refusal(retry.ErrNotRetryable, t.Attempt())
	case retryable && t.Attempt() >= limit:
		e := r.Refusal(retry.ErrAttemptsExhausted, t.Attempt())
		e.MaxAttempts = limit
		return e
	case ctx.Err() == nil:
		return nil
	}
	e := r.Refusal(retry.ErrCanceled, t.Attempt()).Because(ctx)
	if before != nil && endedWith(ctx, f.failure) {
		// The attempt says only that the caller is gone; the one before says what the
		// service thought.
		e.Last, e.Detail = before, f.failure
	}
	return e
}

// endedWith reports whether the failure is the end of ctx: then the operation was
// canceled, whatever a classifier thinks of such errors.
func endedWith(ctx context.Context, failure error) bool {
	return ctx.Err() != nil && (errors.Is(failure, ctx.Err()) || errors.Is(failure, context.Cause(ctx)))
}

// charge takes the cost of a retry from the quota and returns its delay, or why
// there is no retry and how long to sleep before the operation returns.
func (s *Strategy) charge(
	ctx context.Context, t retry.Token, r *retry.Record[operation], f failed,
) (time.Duration, *retry.Error) {
	op, quota, cost := &r.Operation, r.Data.scope.Value, s.cost(f.verdict.Kind())
	delay := s.backoff(r, t.Attempt(), f.verdict)
	now, wait := s.quotaTime(r), max(delay, f.floor)
	noRoom := retry.CheckWait(ctx, s.config.Clock, op.NotAfter, wait)
	available, granted, owed := 0, false, 0
	if noRoom == nil {
		available, granted = quota.Take(now, cost)
	} else {
		available = quota.Available(now)
	}
	switch {
	case granted:
	case noRoom != nil && available >= cost:
		return 0, r.Refusal(noRoom, t.Attempt()).ForWait(wait)
	case noRoom == nil && s.config.MaxQuotaWait > 0 && cost <= quota.Capacity():
		owed = cost
	default:
		if !s.sleepsWhenEmpty(op) {
			delay = 0
		}
		return delay, s.empty(r, t.Attempt(), available, cost)
	}
	r.Data.paid, r.Data.owed, r.Data.delay = cost, owed, delay
	if s.config.Observer != nil {
		s.tell(r, retry.Event{
			Kind: retry.RetryScheduled, Attempt: t.Attempt(), Err: f.failure, Verdict: f.verdict, Delay: delay, Quota: available,
		})
	}
	return delay, nil
}

// sleepsWhenEmpty reports whether an operation sleeps its delay before it is
// refused for want of quota.
func (s *Strategy) sleepsWhenEmpty(op *retry.Operation) bool {
	return s.config.BackoffWhenEmpty || op.LongPolling && s.config.Behavior == V21
}

// empty is the refusal for want of quota.
func (s *Strategy) empty(r *retry.Record[operation], attempts, available, needed int) *retry.Error {
	e := r.Refusal(retry.ErrQuotaExhausted, attempts)
	e.Available, e.Needed = available, needed
	return e
}

// settle waits for the tokens of a retry that the quota did not cover; it is the
// last part of Token.Wait.
func (s *Strategy) settle(ctx context.Context, t retry.Token, r *retry.Record[operation]) error {
	if r.Data.owed == 0 {
		return nil
	}
	limit, reason := s.config.MaxQuotaWait, retry.ErrQuotaExhausted
	if end := r.Operation.NotAfter; !end.IsZero() {
		if left := end.Sub(s.config.Clock.Now()); left < limit {
			limit, reason = left, retry.ErrMaxElapsed
		}
	}
	err := r.Data.scope.Value.Wait(ctx, r.Data.owed, limit)
	switch {
	case err == nil:
		r.Data.owed = 0
		return nil
	case ctx.Err() != nil:
		return r.Refusal(retry.ErrCanceled, t.RetryCount()).Because(ctx)
	default:
		e := s.empty(r, t.RetryCount(), s.available(r), r.Data.owed)
		e.Reason, e.Detail = reason, err
		return e
	}
}

// tellRefused tells of an attempt that is not made.
func (s *Strategy) tellRefused(t retry.Token, r *retry.Record[operation], e *retry.Error) {
	if s.config.Observer != nil {
		s.tell(r, retry.Event{
			Kind: retry.RetryRefused, Attempt: t.Attempt(), Err: e.Last, Reason: e.Reason, Delay: e.Wait, Quota: s.available(r),
		})
	}
}

// quotaTime is the time for a quota that refills; any other does not look at it.
func (s *Strategy) quotaTime(r *retry.Record[operation]) time.Time {
	if !r.Data.scope.Value.Refills() {
		return time.Time{}
	}
	return s.config.Clock.Now()
}

func (s *Strategy) available(r *retry.Record[operation]) int {
	return r.Data.scope.Value.Available(s.quotaTime(r))
}

// tell completes an event and passes it on.
func (s *Strategy) tell(r *retry.Record[operation], e retry.Event) {
	e.Time, e.Operation = s.config.Clock.Now(), r.Operation
	if e.Part == 0 {
		e.Scope = r.Scope
	}
	retry.Emit(r.Context, s.config.Observer, e)
}
