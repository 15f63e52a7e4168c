package standard

import (
	"context"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/retry"
)

// Strategy is the standard mode. Use [New]. It is safe for concurrent use and meant to be
// shared by all operations of a client. The methods of the zero Strategy, and of a nil one,
// return [retry.ErrNoStrategy] or zero.
type Strategy engine.Engine

var _ retry.Strategy = (*Strategy)(nil)

// New returns a strategy, or the error of [Config.Validate].
func New(config Config) (*Strategy, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	e, err := engine.New(config.Engine())
	return (*Strategy)(e), err
}

func (s *Strategy) engine() *engine.Engine { return (*engine.Engine)(s) }

// AcquireInitialToken begins an operation. The quota is for retries; the first attempt is
// free. Its only error is [retry.ErrNoStrategy].
func (s *Strategy) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	return s.engine().AcquireInitialToken(ctx, &op)
}

// RefreshRetryToken judges the failure with the classifier and grants a retry, whose token
// has the backoff as its delay, or refuses it with a [*retry.Error]. A granted retry takes
// its cost from the quota of the scope, or from the pool if that quota has too few tokens.
func (s *Strategy) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	return s.engine().RefreshRetryToken(ctx, t, failure)
}

// RecordSuccess ends an operation whose last attempt succeeded. It gives one token to the quota if
// that was the first attempt, and otherwise the cost of the last retry back to where it came from.
func (s *Strategy) RecordSuccess(t retry.Token) error { return s.engine().RecordSuccess(t) }

// RecordFailure ends an operation without success. It gives nothing back to the quota, except
// the cost of a retry that was granted and not made.
func (s *Strategy) RecordFailure(t retry.Token, failure error) error {
	return s.engine().RecordFailure(t, failure)
}

// Clock returns the clock that the strategy waits on: that of the [Config], or
// [clock.System].
func (s *Strategy) Clock() clock.Clock { return s.engine().Clock() }

// Plan returns the numbers by which an operation is retried, defaults included.
func (s *Strategy) Plan(op retry.Operation) retry.Plan { return s.engine().Plan(&op) }

// Judge returns what the classifiers say of a failure; no opinion for a strategy that no constructor
// made.
func (s *Strategy) Judge(op retry.Operation, failure error) classify.Verdict {
	return s.engine().Judge(&op, failure)
}

// Snapshot returns the state of the scopes. The scope of the strategy as a whole, which has
// the empty name, comes first.
func (s *Strategy) Snapshot() retry.Snapshot { return s.engine().Snapshot() }
