package adaptive

import (
	"fmt"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var _ Limiter = (*sendrate.Limiter)(nil)

// New returns a strategy of the adaptive mode, or the error of [Config.Validate], or that of an
// impossible SendLimit for the strategy as a whole. It is safe for concurrent use and meant to be
// shared by all operations of a client.
//
// It grants and refuses retries as standard mode does. The send rate of a scope is measured from
// when the strategy was built, whenever the scope is first used. The limiter of a scope hears of
// every attempt that was made, exactly once, whether or not a retry follows.
func New(config Config) (retry.Strategy, error) {
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
	c.NewPart = func(rate float64) scope.Limiter { // with a token for the first retry, whatever the rate is
		return config.limiterSince(c.Clock, SendLimit{Starting: ratelimit.Rate(max(rate, 1))}, c.Clock.Now())
	}
	return engine.NewStrategy(c)
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
