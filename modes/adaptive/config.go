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

// Config describes a Strategy. Its zero value is the adaptive mode of v2.1.
type Config struct {
	// Standard is the standard mode that adaptive mode is built on, with the clock
	// and the observer of both. Its ScopeIdle says what a throttle long ago means for
	// a burst.
	Standard standard.Config

	// Controller is what the send rate of each scope is steered by; zero means
	// ratelimit.CutPerEvent. The AWS SDKs are as ratelimit.CutPerThrottle.
	Controller ratelimit.Controller

	// ProbeEvery is how many requests pass from a cut of the send rate until the rate is
	// back where it was cut and asks for more, at least; zero means as many as come in
	// the time that the controller takes by itself. It needs ratelimit.Steady, and is
	// for low limits: at 5 requests a second and 10 workers, 30 of them lower the
	// throttled share from 7.1 % to 2.0 %, or where the service saves up no more than
	// one request, from 9.1 % to 1.5 %, with a goodput of 0.85 of the limit in place of
	// 0.73.
	//
	// It is only for a client that has the limit for itself. Of several, the one with
	// the lowest rate takes longest to ask for more: ten clients that share 100 requests
	// a second have a Jain index of 0.98 without it, and of 0.6 to 0.7 with 30.
	ProbeEvery int

	// NoSendWait refuses attempts that would have to wait for a send token.
	NoSendWait bool
	// MaxSendWait refuses attempts that would have to wait longer for a send token
	// than this, as far as can be foreseen. Zero means no limit.
	MaxSendWait time.Duration
	// MaxSendQueue refuses attempts that would have to wait behind this many
	// others. Zero means no limit.
	MaxSendQueue int
	// SendCost is how many send tokens an attempt takes; zero means 1. A scope can save
	// up that many however low its rate is.
	SendCost float64

	// SendLimit returns what is known of the limit of a scope when it is first used;
	// nil means that nothing is. The key is zero for the strategy as a whole, and
	// retry.OverflowKey for what operations share when there are too many scopes. A
	// limit that is impossible is an error of New, or of AcquireInitialToken. It must
	// be safe for concurrent use.
	SendLimit func(scope retry.ScopeKey) SendLimit

	// NewLimiter makes the limiter of a scope; nil, or a nil result, means a
	// ratelimit.Limiter with the SendLimit of the scope. The key is as there. A limiter
	// must have no effect before its first Acquire, because NewLimiter may be called for
	// a scope that has one already; one of the two is then not used. It is not told when
	// its scope is evicted.
	NewLimiter func(scope retry.ScopeKey, clk clock.Clock) Limiter
}

// Check returns an error that names every field that is out of range.
func (c Config) Check() error {
	errs := []error{c.Standard.Check()}
	if !c.Controller.Valid() {
		errs = append(errs, fmt.Errorf("adaptive: Controller %d: does not exist", c.Controller))
	}
	if c.ProbeEvery < 0 {
		errs = append(errs, fmt.Errorf("adaptive: ProbeEvery %d: must not be negative", c.ProbeEvery))
	}
	if c.ProbeEvery > 0 && c.Controller != ratelimit.Steady {
		errs = append(errs, fmt.Errorf("adaptive: ProbeEvery %d: needs the Controller %v, not %v",
			c.ProbeEvery, ratelimit.Steady, c.Controller))
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

// SendLimit is what a user knows of a limit on the rate of attempts, in send tokens per
// second: attempts, unless Config.SendCost says otherwise. Its zero value is nothing.
type SendLimit struct {
	// Starting is a rate to start at, at least ratelimit.MinFillRate. Attempts are
	// held back to it from the first one on, and the rate moves from there as adaptive
	// mode moves it. Zero means Ceiling.
	Starting ratelimit.Rate
	// Ceiling is a rate never to exceed, at least ratelimit.MinFillRate and at least
	// Starting. Zero means none.
	Ceiling ratelimit.Rate
}

func (l SendLimit) check() error {
	for _, field := range []struct {
		name string
		rate ratelimit.Rate
	}{{"starting rate", l.Starting}, {"ceiling", l.Ceiling}} {
		rate := float64(field.rate)
		if rate != 0 && !(rate >= float64(ratelimit.MinFillRate) && !math.IsInf(rate, 0)) {
			return fmt.Errorf("%s %v: must be 0 or a finite number of %v or more", field.name, rate, ratelimit.MinFillRate)
		}
	}
	if l.Ceiling > 0 && l.Starting > l.Ceiling {
		return fmt.Errorf("starting rate %v: must not be above the ceiling of %v", l.Starting, l.Ceiling)
	}
	return nil
}
