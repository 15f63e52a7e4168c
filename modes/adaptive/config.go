package adaptive

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Limiter holds attempts back and learns from their answers. A strategy makes one for each scope
// unless [Config].NewLimiter makes another. To change a part of what a Limiter does, embed one that [Config.Limiter] returns.
type Limiter = ratelimit.Limiter

// Config describes a strategy. Its zero value is the adaptive mode of the AWS SDKs in behavior
// v2.1, with another way to find the send rate. [New] returns an error for a number that is negative or
// NaN.
type Config struct {
	// Standard configures the standard mode that adaptive mode is built on. Both use its Clock and
	// Observer. See its ScopeIdle for how long a throttle matters.
	Standard standard.Config

	// Controller says how answers change the send rate of a scope. Zero means
	// [ratelimit.FindLimit]; the AWS SDKs use [ratelimit.CutPerThrottle].
	Controller ratelimit.Controller

	// NoSendWait refuses attempts that would have to wait for a send token.
	NoSendWait bool
	// MaxSendWait bounds the wait for a send token. It refuses an attempt whose expected wait is
	// longer, even one that is already waiting when a rate cut prolongs its wait. Zero means no
	// limit.
	MaxSendWait time.Duration
	// MaxSendQueue refuses an attempt that would wait behind this many others. Zero means no limit.
	MaxSendQueue int
	// SendCost is how many send tokens an attempt takes. Zero means 1. A scope can save up
	// that many, however low its rate is.
	SendCost float64

	// SendLimit returns the known limit of a scope; it is called when the scope is first used. Nil
	// means that no limit is known. The key is zero for the strategy as a whole, and
	// [retry.OverflowKey] for the scope that operations share when MaxScopes is reached. A limit
	// that is out of range is an error of [New] for the zero key. For another scope it does not
	// count: the scope has no known limit, the observer gets a [retry.SettingIgnored], and each
	// [*retry.Error] of the scope has the error too. It must be safe for concurrent use.
	SendLimit func(scope retry.ScopeKey) SendLimit

	// NewLimiter makes the limiter of a scope, on the clock of the strategy. Nil, or a nil result,
	// means the one that [Config.Limiter] returns for the SendLimit of the scope. The key is the same
	// as for SendLimit. A limiter must have no effect before its first Acquire, because NewLimiter
	// may be called twice for a scope and one of the two limiters is then not used. Eviction of a
	// scope does not notify its limiter. NewLimiter must be safe for concurrent use.
	NewLimiter func(scope retry.ScopeKey, clk clock.Clock) Limiter
}

// Limiter returns the limiter that a strategy of this config makes for a scope with this limit, on
// the given clock. Use it in a NewLimiter that shares a limiter between scopes or changes a part of
// it. It reads only Controller and SendCost; a rate out of range counts as the nearest
// valid one.
func (c Config) Limiter(clk clock.Clock, limit SendLimit) Limiter {
	return c.limiterSince(clk, limit, clk.Now())
}

func (c Config) limiterSince(clk clock.Clock, limit SendLimit, start time.Time) *sendrate.Limiter {
	return sendrate.NewLimiter(sendrate.Config{
		Controller:   c.Controller,
		StartingRate: limit.Starting,
		Ceiling:      limit.Ceiling,
		Burst:        limit.Burst,
		Cost:         c.SendCost,
		Start:        start,
	}, clk)
}

// Validate returns an error that names every field out of range and its value, including the fields
// of Standard; nil if there is none.
func (c Config) Validate() error {
	errs := []error{c.Standard.Validate()}
	if c.Controller > ratelimit.CutPerThrottle {
		errs = append(errs, fmt.Errorf("adaptive: Controller %d: does not exist", c.Controller))
	}
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

// SendLimit is the known limit of a service, in send tokens per second: attempts per second, unless
// [Config].SendCost is set. The zero value means that no limit is known.
type SendLimit struct {
	// Starting is the initial rate, at least 0.01. It limits attempts from the first one on, and
	// answers change it from there. Zero means Ceiling.
	Starting ratelimit.Rate
	// Ceiling is the maximum rate, at least 0.01 and at least Starting. Zero means none. A throttle at this rate
	// takes 2 % of it, which 50 answers give back. After a tenth, or if nothing was served since the last
	// one, a throttle is a cut, but the rate is no lower than half of Starting or Ceiling, or 0.5 if that is lower,
	// or 0.25 if the limit was found to be that low.
	Ceiling ratelimit.Rate
	// Burst is how many tokens can be saved up, at least 1, or SendCost if that is more. They are there at
	// the start, and a throttle takes them. It needs one of the rates. Zero means those of a second, and
	// one at the start.
	Burst float64
}

// leastKnown is the lowest rate of a SendLimit.
const leastKnown = 0.01

// Validate returns an error that names a field out of range and its value; nil if there is none. A [Config].NewLimiter
// asks it whether the limit of a scope counts.
func (l SendLimit) Validate() error {
	for _, field := range []struct {
		name string
		rate ratelimit.Rate
	}{{"starting rate", l.Starting}, {"ceiling", l.Ceiling}} {
		rate := float64(field.rate)
		if rate != 0 && !(rate >= leastKnown && !math.IsInf(rate, 0)) {
			return fmt.Errorf("%s %v: must be 0 or a finite number of %v or more", field.name, rate, leastKnown)
		}
	}
	if l.Ceiling > 0 && l.Starting > l.Ceiling {
		return fmt.Errorf("starting rate %v: must not be above the ceiling of %v", l.Starting, l.Ceiling)
	}
	if l.Burst != 0 && !(l.Burst >= 1 && !math.IsInf(l.Burst, 0)) {
		return fmt.Errorf("burst %v: must be 0 or a finite number of 1 or more", l.Burst)
	}
	if l.Burst > 0 && l.Starting == 0 && l.Ceiling == 0 {
		return fmt.Errorf("burst %v: needs a starting rate or a ceiling", l.Burst)
	}
	return nil
}
