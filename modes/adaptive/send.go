package adaptive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// send takes the send token of an attempt; it is the last part of Token.Wait. The
// backoff is over by then, but the standard strategy may have to wait for quota.
func (s *Strategy) send(ctx context.Context, t retry.Token, r *retry.Record[operation]) error {
	if s.config.Standard.MaxQuotaWait > 0 {
		// It has waited already if an earlier Wait got that far.
		err := r.Data.inner.WithoutDelay().Wait(ctx)
		if err != nil && !errors.Is(err, retry.ErrTokenUsed) {
			if s.config.Standard.Observer != nil {
				r.Data.told = err
			}
			return err
		}
	}
	request := ratelimit.Request{
		Cost:     s.config.SendCost,
		NoWait:   s.config.NoSendWait,
		MaxWait:  s.config.MaxSendWait,
		MaxQueue: s.config.MaxSendQueue,
		NotAfter: r.Operation.NotAfter,
	}
	if s.config.Standard.Observer == nil {
		sent, err := r.Data.scope.Value.limiter.Acquire(ctx, request)
		return s.sent(ctx, t, r, sent, err)
	}
	return s.sendObserved(ctx, t, r, request)
}

// sendObserved is send with events around a wait.
func (s *Strategy) sendObserved(
	ctx context.Context, t retry.Token, r *retry.Record[operation], request ratelimit.Request,
) error {
	var began time.Time
	waited := false
	request.OnWait = func(w ratelimit.Wait) {
		began, waited = s.Clock().Now(), true
		s.tell(r, retry.Event{
			Kind: retry.SendWaitBegan, Attempt: t.Attempt(),
			Delay: w.Expected, Waiting: w.Ahead, Rate: float64(w.FillRate),
		})
	}
	sent, err := r.Data.scope.Value.limiter.Acquire(ctx, request)
	err = s.sent(ctx, t, r, sent, err)
	if waited {
		s.tell(r, retry.Event{
			Kind: retry.SendWaitEnded, Attempt: t.Attempt(), Delay: s.Clock().Now().Sub(began), Err: err,
		})
	}
	return err
}

// sent notes when the attempt was sent, or says why it was not.
func (s *Strategy) sent(
	ctx context.Context, t retry.Token, r *retry.Record[operation], sent time.Time, err error,
) error {
	if err == nil {
		r.Data.sent = sent
		return nil
	}
	attempts := t.RetryCount()
	refused, ok := errors.AsType[*ratelimit.WaitError](err)
	switch {
	case !ok && ctx.Err() != nil:
		return r.Refusal(retry.ErrCanceled, attempts).Because(ctx)
	case !ok:
		e := r.Refusal(retry.ErrSendRateLimited, attempts)
		e.Detail = err
		return e
	}
	reason := retry.ErrSendRateLimited
	switch {
	case errors.Is(refused, ratelimit.ErrDeadline):
		reason = retry.ErrDeadline
	case errors.Is(refused, ratelimit.ErrNotAfter):
		reason = retry.ErrMaxElapsed
	}
	e := r.Refusal(reason, attempts).ForWait(refused.Wait.Expected)
	e.Detail = refused
	if !errors.Is(reason, retry.ErrSendRateLimited) {
		e.Detail = fmt.Errorf("%w: %w", retry.ErrSendRateLimited, refused)
	}
	return e
}
