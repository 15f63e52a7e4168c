package engine

import (
	"context"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// strategy is an engine in the form that the loop uses.
type strategy Engine

// NewStrategy returns an engine as a strategy, or the error of [New].
func NewStrategy(config Config) (retry.Strategy, error) {
	e, err := New(config)
	if err != nil {
		return nil, err
	}
	return (*strategy)(e), nil
}

func (s *strategy) engine() *Engine { return (*Engine)(s) }

func (s *strategy) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	return s.engine().AcquireInitialToken(ctx, &op)
}

func (s *strategy) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	return s.engine().RefreshRetryToken(ctx, t, failure)
}

func (s *strategy) RecordSuccess(t retry.Token) error { return s.engine().RecordSuccess(t) }

func (s *strategy) RecordFailure(t retry.Token, failure error) error {
	return s.engine().RecordFailure(t, failure)
}

func (s *strategy) Clock() clock.Clock { return s.engine().config.Clock }

func (s *strategy) Plan(op retry.Operation) retry.Plan { return s.engine().Plan(&op) }

func (s *strategy) Judge(op retry.Operation, failure error) classify.Verdict {
	return s.engine().judge(&op, 0, failure, nil)
}

func (s *strategy) Snapshot() retry.Snapshot { return s.engine().Snapshot() }
