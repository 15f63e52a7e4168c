package sim

import (
	"context"
	"math"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// SDKMode is a mode of the retryer of aws-sdk-go-v2.
type SDKMode uint8

// The modes are those of v1.48.0.
const (
	NoSDK       SDKMode = iota
	SDKStandard         // NewStandard of its package aws/retry
	SDKAdaptive         // NewAdaptiveMode of its package aws/retry
)

// sdkClient plays a client of aws-sdk-go-v2 v1.48.0: one retry quota and one send rate for all tables, no pool, and no
// look at the deadline. The numbers come from a plan of v2.1, which has those of the SDK; a timeout costs
// what any other failure does. A test holds it against the SDK.
type sdkClient struct {
	Parts

	strategy retry.Strategy // only judges
	plan     retry.Plan
	tokens   int
	rate     *sdkRate // nil in standard mode
}

func newSDKClient(mode SDKMode, s retry.Strategy, p Parts) *sdkClient {
	plan := s.Plan(retry.Operation{})
	c := &sdkClient{Parts: p, strategy: s, plan: plan, tokens: plan.QuotaCapacity}
	if mode == SDKAdaptive {
		c.rate = &sdkRate{second: seconds(p.Clock.Now()), throttled: p.Clock.Now(), capacity: 1}
		c.rate.second = math.Floor(c.rate.second)
	}
	return c
}

func (c *sdkClient) do(ctx context.Context, table string, attempt func(ctx context.Context) error) error {
	op, cost := retry.Operation{Resource: table}, 0
	for n := 1; ; n++ {
		if err := c.wait(ctx, op); err != nil {
			return err
		}
		err := attempt(ctx)
		verdict := c.strategy.Judge(op, err)
		throttled := err != nil && verdict.Kind() == classify.Throttling
		if c.rate != nil {
			c.rate.update(c.Clock.Now(), throttled)
		}
		if err == nil {
			c.tokens = min(c.tokens+max(cost, 1), c.plan.QuotaCapacity)
			return nil
		}
		if !verdict.Retryable() || n == c.plan.MaxAttempts || ctx.Err() != nil {
			return err
		}
		base := c.plan.Base
		if cost = c.plan.RetryCost; throttled {
			cost, base = c.plan.ThrottlingCost, c.plan.ThrottlingBase
		}
		if c.tokens < cost {
			c.tell(ctx, retry.Event{Kind: retry.RetryRefused, Operation: op, Reason: retry.ErrQuotaExhausted})
			return &retry.Error{Reason: retry.ErrQuotaExhausted, Last: err, Attempts: n}
		}
		c.tokens -= cost
		c.tell(ctx, retry.Event{Kind: retry.RetryScheduled, Operation: op})
		longest := min(float64(base)*math.Pow(2, float64(n-1)), float64(c.plan.MaxBackoff))
		if err := c.Clock.Sleep(ctx, time.Duration(c.Random()*longest)); err != nil {
			return err
		}
	}
}

// wait takes a send token. A caller that finds none sleeps until there would be one for it alone, and tries again.
func (c *sdkClient) wait(ctx context.Context, op retry.Operation) error {
	if c.rate == nil {
		return nil
	}
	began := c.Clock.Now()
	for {
		d := c.rate.take(c.Clock.Now())
		if d == 0 {
			break
		}
		// On a clock that fires exactly, a wait cut to whole nanoseconds would end too early.
		if err := c.Clock.Sleep(ctx, max(d, time.Microsecond)); err != nil {
			return err
		}
	}
	if waited := c.Clock.Now().Sub(began); waited > 0 {
		c.tell(ctx, retry.Event{Kind: retry.SendWaitEnded, Operation: op, Delay: waited})
	}
	return nil
}

func (c *sdkClient) tell(ctx context.Context, e retry.Event) {
	if c.Observer != nil {
		e.Time, e.Quota = c.Clock.Now(), c.tokens
		c.Observer.Observe(ctx, e)
	}
}

func (c *sdkClient) state() state {
	s := state{ScopeSnapshot: retry.ScopeSnapshot{Quota: c.tokens}}
	if c.rate != nil {
		s.Limited, s.FillRate = c.rate.enabled, c.rate.fill
	}
	return s
}

// sdkRate is the send rate of the SDK's adaptive mode. Its measured rate counts responses by half seconds.
type sdkRate struct {
	enabled                     bool
	fill, measured              float64
	tokens, capacity            float64
	refilled, throttled         time.Time
	second, lastMax, timeWindow float64
	count                       int
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }

// take takes a token, or returns how long to sleep.
func (r *sdkRate) take(now time.Time) time.Duration {
	if !r.enabled {
		return 0
	}
	r.refill(now)
	if r.tokens >= 1 {
		r.tokens--
		return 0
	}
	return max(time.Duration((1-r.tokens)/r.fill*float64(time.Second)), 1)
}

func (r *sdkRate) refill(now time.Time) {
	if !r.refilled.IsZero() {
		r.tokens = min(r.tokens+now.Sub(r.refilled).Seconds()*r.fill, r.capacity)
	}
	r.refilled = now
}

// update is told of each response.
func (r *sdkRate) update(now time.Time, throttled bool) {
	r.count++
	if half := math.Floor(seconds(now)*2) / 2; half > r.second {
		r.measured = 0.8*float64(r.count)/(half-r.second) + 0.2*r.measured
		r.count, r.second = 0, half
	}
	const beta, scale = 0.7, 0.4
	rate := 0.0
	if throttled {
		if r.lastMax = r.measured; r.enabled {
			r.lastMax = min(r.measured, r.fill)
		}
		r.throttled, r.enabled = now, true
		rate = r.lastMax * beta
	}
	r.timeWindow = math.Cbrt(r.lastMax * (1 - beta) / scale)
	if !throttled {
		rate = scale*math.Pow(now.Sub(r.throttled).Seconds()-r.timeWindow, 3) + r.lastMax
	}
	rate = min(rate, 2*r.measured)
	r.refill(now)
	r.fill, r.capacity = max(rate, 0.5), max(rate, 1)
	r.tokens = min(r.tokens, r.capacity)
}
