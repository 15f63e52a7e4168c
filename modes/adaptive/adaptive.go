package adaptive

import (
	"context"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Strategy is the adaptive mode. Use New; it is safe for concurrent use. The verbs of
// the zero Strategy, and of a nil one, return retry.ErrNoStrategy.
//
// Its scopes count time from when the strategy was built, whenever they are first
// used. The limiter of a scope hears of every attempt that was made, exactly once,
// whether or not another one follows.
type Strategy engine.Engine

var (
	_ retry.Strategy = (*Strategy)(nil)
	_ Limiter        = (*ratelimit.Limiter)(nil)
)

// New returns a strategy, or what Config.Check says.
func New(config Config) (*Strategy, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	quota, err := standard.New(config.Standard)
	if err != nil {
		return nil, err
	}
	clk, e := quota.Clock(), (*engine.Engine)(quota)
	err = e.Limit(engine.Send{
		New: func(key retry.ScopeKey, start time.Time) (engine.Limiter, error) {
			return config.limiter(key, clk, start)
		},
		Request: ratelimit.Request{
			Cost: config.SendCost, NoWait: config.NoSendWait, MaxWait: config.MaxSendWait, MaxQueue: config.MaxSendQueue,
		},
	})
	if err != nil {
		return nil, err
	}
	return (*Strategy)(e), nil
}

// limiter returns a new limiter for a scope of a strategy built at start. A limit
// that is known counts from now on: time in which nothing was sent has not probed it.
func (c Config) limiter(key retry.ScopeKey, clk clock.Clock, start time.Time) (engine.Limiter, error) {
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
	return ratelimit.NewLimiter(ratelimit.SendRateConfig{
		Controller:   c.Controller,
		ProbeEvery:   c.ProbeEvery,
		StartingRate: limit.Starting,
		Ceiling:      limit.Ceiling,
		Cost:         c.SendCost,
		Start:        start,
	}, clk), nil
}

func (s *Strategy) engine() *engine.Engine { return (*engine.Engine)(s) }

// AcquireInitialToken begins an operation. It does not wait; the token's Wait
// does. It fails only if Config.SendLimit says something impossible of the scope.
func (s *Strategy) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	return s.engine().AcquireInitialToken(ctx, &op)
}

// RefreshRetryToken judges the failure, tells the limiter, and decides as standard mode
// does.
func (s *Strategy) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	return s.engine().RefreshRetryToken(ctx, t, failure)
}

// RecordSuccess tells the limiter and gives back to the quota as standard mode does.
func (s *Strategy) RecordSuccess(t retry.Token) error { return s.engine().RecordSuccess(t) }

// RecordFailure ends the operation. The limiter hears of the attempt unless a
// refused refresh has told it.
func (s *Strategy) RecordFailure(t retry.Token, failure error) error {
	return s.engine().RecordFailure(t, failure)
}

// Clock returns the clock that the strategy waits on.
func (s *Strategy) Clock() clock.Clock { return s.engine().Clock() }

// Plan returns the numbers for an operation, which are those of the standard mode.
func (s *Strategy) Plan(op retry.Operation) retry.Plan { return s.engine().Plan(&op) }

// Snapshot returns the state of the scopes.
func (s *Strategy) Snapshot() retry.Snapshot { return s.engine().Snapshot() }
