package adaptive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Limiter holds attempts back and learns from their responses. ratelimit.Limiter
// is the one that a Strategy makes for each scope unless it is given another. It
// must be safe for concurrent use.
type Limiter interface {
	// Acquire returns when the attempt may be sent, and that instant; its error is
	// a *ratelimit.WaitError, ctx.Err() or the limiter's own. An attempt that was
	// refused is not reported.
	Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error)
	// Report is called once for each attempt that was acquired and made.
	Report(r ratelimit.Response) ratelimit.Change
	// Expected says how long an attempt that asked now would have to wait if the rate
	// stays as it is. A cost of zero means one.
	Expected(cost float64) time.Duration
	// State returns the state for snapshots, and how many callers wait.
	State() (state ratelimit.SendRateState, waiting int)
}

// Config describes a Strategy. Its zero value is the adaptive mode of v2.0.
type Config struct {
	// Standard is the standard mode that adaptive mode is built on, with the clock
	// and the observer of both.
	Standard standard.Config

	// CutPerThrottle lowers the send rate for every throttle, as the AWS SDKs do,
	// instead of once for each congestion event; see ratelimit.SendRateConfig.
	CutPerThrottle bool

	// NoSendWait refuses attempts that would have to wait for a send token.
	NoSendWait bool
	// MaxSendWait refuses attempts that would have to wait longer for a send token
	// than this, as far as can be foreseen. Zero means no limit.
	MaxSendWait time.Duration
	// MaxSendQueue refuses attempts that would have to wait behind this many
	// others. Zero means no limit.
	MaxSendQueue int
	// SendCost is how many send tokens an attempt takes; zero means 1.
	SendCost float64

	// NewLimiter makes the limiter of a scope; nil, or a nil result, means a
	// ratelimit.Limiter of its own. The key is zero for the strategy as a whole.
	NewLimiter func(scope retry.ScopeKey, clk clock.Clock) Limiter
}

// Check returns an error that names every field that is out of range.
func (c Config) Check() error {
	errs := []error{c.Standard.Check()}
	if c.MaxSendWait < 0 {
		errs = append(errs, fmt.Errorf("adaptive: MaxSendWait %v: must not be negative", c.MaxSendWait))
	}
	if c.MaxSendQueue < 0 {
		errs = append(errs, fmt.Errorf("adaptive: MaxSendQueue %d: must not be negative", c.MaxSendQueue))
	}
	if !(c.SendCost >= 0) || math.IsInf(c.SendCost, 0) {
		errs = append(errs, fmt.Errorf("adaptive: SendCost %v: must be a finite number of 0 or more", c.SendCost))
	}
	return errors.Join(errs...)
}

// limiter returns a new limiter for a scope of a strategy built at start.
func (c Config) limiter(key retry.ScopeKey, clk clock.Clock, start time.Time) Limiter {
	if c.NewLimiter != nil {
		if limiter := c.NewLimiter(key, clk); limiter != nil {
			return limiter
		}
	}
	return ratelimit.NewLimiter(ratelimit.SendRateConfig{CutPerThrottle: c.CutPerThrottle, Start: start}, clk)
}
