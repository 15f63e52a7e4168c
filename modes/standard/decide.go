package standard

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// decide grants or refuses a retry: retryable at all, attempts left, caller still
// there, room for the delay, quota. The quota comes last, so that it is charged
// only for a retry that nothing else stands against.
func (s *Strategy) decide(
	ctx context.Context, t retry.Token, r *retry.Record[operation], failure error, verdict classify.Verdict,
) (retry.Token, error) {
	before := r.Last
	r.Last = failure
	if s.config.Observer != nil {
		s.tell(r, retry.Event{
			Kind: retry.AttemptEnded, Attempt: t.Attempt(), Err: failure, Verdict: verdict, Quota: s.available(r),
		})
	}
	if verdict.Action() != classify.Retry && !endedWith(ctx, failure) {
		return s.refuse(t, r, 0, r.Refusal(retry.ErrNotRetryable, t.Attempt()))
	}
	if limit := s.MaxAttempts(r.Operation); verdict.Action() == classify.Retry && t.Attempt() >= limit {
		e := r.Refusal(retry.ErrAttemptsExhausted, t.Attempt())
		e.MaxAttempts = limit
		return s.refuse(t, r, 0, e)
	}
	if ctx.Err() != nil {
		e := r.Refusal(retry.ErrCanceled, t.Attempt()).Because(ctx)
		if before != nil {
			e.Last = errors.Join(before, failure)
		}
		return s.refuse(t, r, 0, e)
	}
	return s.charge(ctx, t, r, verdict)
}

// endedWith reports whether the failure is the end of ctx: then the operation was
// canceled, whatever a classifier thinks of such errors.
func endedWith(ctx context.Context, failure error) bool {
	return ctx.Err() != nil && (errors.Is(failure, ctx.Err()) || errors.Is(failure, context.Cause(ctx)))
}

func (s *Strategy) charge(
	ctx context.Context, t retry.Token, r *retry.Record[operation], verdict classify.Verdict,
) (retry.Token, error) {
	op, quota, cost := r.Operation, r.Data.quota, s.cost(verdict.Kind())
	delay := s.backoff(r, t.Attempt(), verdict)
	now := s.quotaTime(r)
	noRoom := retry.CheckWait(ctx, s.config.Clock, op, delay)
	available, granted, owed := 0, false, 0
	if noRoom == nil {
		available, granted = quota.Take(now, cost)
	} else {
		available = quota.Available(now)
	}
	switch {
	case granted:
	case noRoom != nil && available >= cost:
		return s.refuse(t, r, 0, r.Refusal(noRoom, t.Attempt()).ForWait(delay))
	case noRoom == nil && s.config.MaxQuotaWait > 0 && cost <= quota.Capacity():
		owed = cost
	default:
		if !s.sleepsWhenEmpty(op) {
			delay = 0
		}
		return s.refuse(t, r, delay, s.empty(r, t.Attempt(), available, cost))
	}
	r.Data.owed = owed
	r.Data.paid, r.Data.delay = cost, delay
	if s.config.Observer != nil {
		s.tell(r, retry.Event{
			Kind: retry.RetryScheduled, Attempt: t.Attempt(), Err: r.Last, Verdict: verdict, Delay: delay, Quota: available,
		})
	}
	return s.tokens.Next(t, delay), nil
}

// sleepsWhenEmpty reports whether an operation sleeps its delay before it is
// refused for want of quota.
func (s *Strategy) sleepsWhenEmpty(op retry.Operation) bool {
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
	err := r.Data.quota.Wait(ctx, r.Data.owed, s.config.MaxQuotaWait)
	switch {
	case err == nil:
		r.Data.owed = 0
		return nil
	case ctx.Err() != nil:
		return r.Refusal(retry.ErrCanceled, t.RetryCount()).Because(ctx)
	default:
		e := s.empty(r, t.RetryCount(), s.available(r), r.Data.owed)
		e.Detail = err
		return e
	}
}

func (s *Strategy) refuse(
	t retry.Token, r *retry.Record[operation], delay time.Duration, e *retry.Error,
) (retry.Token, error) {
	if s.config.Observer != nil {
		s.tell(r, retry.Event{
			Kind: retry.RetryRefused, Attempt: t.Attempt(), Err: r.Last, Reason: e.Reason, Delay: delay, Quota: s.available(r),
		})
	}
	return s.tokens.Refuse(t, delay), e
}

// quotaTime is the time for a quota that refills; any other does not look at it.
func (s *Strategy) quotaTime(r *retry.Record[operation]) time.Time {
	if !r.Data.quota.Refills() {
		return time.Time{}
	}
	return s.config.Clock.Now()
}

func (s *Strategy) available(r *retry.Record[operation]) int {
	return r.Data.quota.Available(s.quotaTime(r))
}

// tell completes an event and passes it on.
func (s *Strategy) tell(r *retry.Record[operation], e retry.Event) {
	e.Time, e.Operation = s.config.Clock.Now(), r.Operation
	retry.Emit(r.Context, s.config.Observer, e)
}
