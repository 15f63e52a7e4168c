package adaptive

import (
	"fmt"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var _ Limiter = (*sendrate.Limiter)(nil)

// New returns an adaptive-mode strategy. It fails with the error of [Config.Validate], or if
// SendLimit returns an impossible limit for the strategy as a whole. It is safe for concurrent use
// and meant to be shared by all operations of a client.
//
// It grants and refuses retries as standard mode does. Each scope measures its send rate from the
// call of New, not from its first use. Its limiter gets exactly one report for each attempt that
// was made, whether or not a retry follows.
func New(config Config) (retry.Strategy, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	c := config.Standard.Engine()
	c.Send = ratelimit.Request{
		Cost: config.SendCost, NoWait: config.NoSendWait, MaxWait: config.MaxSendWait, MaxQueue: config.MaxSendQueue,
	}
	c.Scopes.NewLimiter = func(key retry.ScopeKey, start time.Time) (ratelimit.Limiter, bool, error) {
		return config.limiter(key, c.Clock, start)
	}
	return engine.New(c)
}

// limiter returns a new limiter for a scope of a strategy built at start, and whether it is one of ours with a known
// limit. That counts from now on, because time in which nothing was sent has not tested it. The error is that of an
// impossible limit, which does not count, even if NewLimiter has made the limiter: it may have asked SendLimit too.
func (c Config) limiter(key retry.ScopeKey, clk clock.Clock, start time.Time) (limiter ratelimit.Limiter, known bool, err error) {
	var limit SendLimit
	if c.SendLimit != nil {
		limit = c.SendLimit(key)
		if err = limit.Validate(); err != nil {
			limit, err = SendLimit{}, fmt.Errorf("adaptive: SendLimit of scope %q: %w", key, err)
		}
	}
	if c.NewLimiter != nil {
		if limiter := c.NewLimiter(key, clk); limiter != nil {
			return limiter, false, err
		}
	}
	if known = limit != (SendLimit{}); known {
		start = clk.Now()
	}
	return c.limiterSince(clk, limit, start), known, err
}
