package main

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// player runs the responses of a trace through a strategy.
type player struct {
	clock    *replayClock
	strategy traceStrategy
	adaptive bool
	op       retry.Operation
	requests map[string]request // those that are not over
}

type traceStrategy interface {
	retry.Strategy
	Snapshot() retry.Snapshot
}

// request is a request whose next attempt was granted.
type request struct {
	token retry.Token
	due   time.Time // when its backoff is over
}

func newPlayer(h *traceHeader) (*player, error) {
	p := &player{
		clock:    newReplayClock(h.start),
		adaptive: h.mode == modeAdaptive,
		op:       retry.Operation{LongPolling: h.longPolling},
		requests: make(map[string]request),
	}
	config := h.config
	config.Clock = p.clock
	config.Random = func() float64 { return h.jitter }
	var err error
	if p.adaptive {
		p.strategy, err = adaptive.New(adaptive.Config{Standard: config})
	} else {
		p.strategy, err = standard.New(config)
	}
	return p, err
}

// The outcomes of an attempt.
const (
	outcomeSuccess      = "success"
	outcomeRetry        = "retry"
	outcomeAttempts     = "max_attempts_exceeded"
	outcomeQuota        = "quota_exceeded"
	outcomeNotRetryable = "not_retryable"
)

// answer tells the strategy the response of the attempt. After outcomeRetry next is the token of
// the next attempt. Otherwise its delay is the sleep before the end of the operation.
func (p *player) answer(ctx context.Context, token retry.Token, failure error) (outcome string, next retry.Token, err error) {
	if failure == nil {
		return outcomeSuccess, next, p.strategy.RecordSuccess(token)
	}
	next, refusal := p.strategy.RefreshRetryToken(ctx, token, failure)
	if outcome, err = outcomeOf(refusal); outcome == outcomeRetry || err != nil {
		return outcome, next, err
	}
	if next.Delay() > 0 {
		if err := next.Wait(ctx); err != nil {
			return "", next, err
		}
	}
	return outcome, next, p.strategy.RecordFailure(next, failure)
}

func outcomeOf(refusal error) (string, error) {
	switch {
	case refusal == nil:
		return outcomeRetry, nil
	case errors.Is(refusal, retry.ErrAttemptsExhausted):
		return outcomeAttempts, nil
	case errors.Is(refusal, retry.ErrQuotaExhausted):
		return outcomeQuota, nil
	case errors.Is(refusal, retry.ErrNotRetryable):
		return outcomeNotRetryable, nil
	default:
		return "", refusal
	}
}

// state returns the state of the only scope.
func (p *player) state() retry.ScopeSnapshot { return p.strategy.Snapshot().Scopes[0] }

// checkTime returns an error for a trace whose time is beyond maxTime.
func (p *player) checkTime(r *traceReader) error {
	if p.clock.elapsed() > maxTime {
		return r.fail("the time of the trace is beyond %s s", exactSeconds(maxTime))
	}
	return nil
}
