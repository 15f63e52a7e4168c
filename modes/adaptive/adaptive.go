package adaptive

import (
	"context"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Strategy is the adaptive mode. Use [New]. It is safe for concurrent use and meant to be
// shared by all operations of a client. The methods of the zero Strategy, and of a nil one,
// return [retry.ErrNoStrategy] or zero.
//
// The send rate of a scope is measured from when the strategy was built, whenever the scope
// is first used. The limiter of a scope hears of every attempt that was made, exactly once,
// whether or not a retry follows.
type Strategy engine.Engine

var (
	_ retry.Strategy = (*Strategy)(nil)
	_ Limiter        = (*sendrate.Limiter)(nil)
)

// New returns a strategy, or the error of [Config.Validate], or that of an impossible
// SendLimit for the strategy as a whole.
func New(config Config) (*Strategy, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	c := config.Standard.Engine()
	c.Send = ratelimit.Request{
		Cost: config.SendCost, NoWait: config.NoSendWait, MaxWait: config.MaxSendWait, MaxQueue: config.MaxSendQueue,
	}
	c.NewLimiter = func(key retry.ScopeKey, start time.Time) (scope.Limiter, error) {
		return config.limiter(key, c.Clock, start)
	}
	e, err := engine.New(c)
	if err != nil {
		return nil, err
	}
	return (*Strategy)(e), nil
}

// limiter returns a new limiter for a scope of a strategy built at start. A limit that is
// known counts from now on: time in which nothing was sent has not probed it.
func (c Config) limiter(key retry.ScopeKey, clk clock.Clock, start time.Time) (scope.Limiter, error) {
	if c.NewLimiter != nil {
		if limiter := c.NewLimiter(key, clk); limiter != nil {
			return limiter, nil
		}
	}
	var limit SendLimit
	if c.SendLimit != nil {
		limit = c.SendLimit(key)
		if err := limit.check(); err != nil {
			return nil, fmt.Errorf("adaptive: SendLimit of scope %q: %w", key, err)
		}
	}
	if limit != (SendLimit{}) {
		start = clk.Now()
	}
	return c.limiterSince(clk, limit, start), nil
}

func (s *Strategy) engine() *engine.Engine { return (*engine.Engine)(s) }

// AcquireInitialToken begins an operation. It does not wait; [retry.Token.Wait] does. Its only
// errors are [retry.ErrNoStrategy] and that of a [Config].SendLimit that is out of range.
func (s *Strategy) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	return s.engine().AcquireInitialToken(ctx, &op)
}

// RefreshRetryToken judges the failure, tells the limiter, and grants or refuses a retry as
// standard mode does.
func (s *Strategy) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	return s.engine().RefreshRetryToken(ctx, t, failure)
}

// RecordSuccess tells the limiter, and gives back to the quota as standard mode does.
func (s *Strategy) RecordSuccess(t retry.Token) error { return s.engine().RecordSuccess(t) }

// RecordFailure ends an operation without success. It tells the limiter of the attempt, unless
// a refused RefreshRetryToken has done so.
func (s *Strategy) RecordFailure(t retry.Token, failure error) error {
	return s.engine().RecordFailure(t, failure)
}

// Clock returns the clock that the strategy waits on: that of [Config].Standard, or
// [clock.System].
func (s *Strategy) Clock() clock.Clock { return s.engine().Clock() }

// Plan returns the numbers by which an operation is retried: those of standard mode.
func (s *Strategy) Plan(op retry.Operation) retry.Plan { return s.engine().Plan(&op) }

// Judge returns what the classifiers say of a failure; no opinion for a strategy that no constructor
// made.
func (s *Strategy) Judge(op retry.Operation, failure error) classify.Verdict {
	return s.engine().Judge(&op, failure)
}

// Snapshot returns the state of the scopes, with their send rates. The scope of the strategy
// as a whole, which has the empty name, comes first.
func (s *Strategy) Snapshot() retry.Snapshot { return s.engine().Snapshot() }
