package sim

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/command/virtual"
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

// sdkClient plays a client of aws-sdk-go-v2 v1.48.0: it has one retry quota and one send rate for all tables and no
// pool, and ignores the deadline. The numbers come from a plan of v2.1, which has those of the SDK; a timeout costs
// the same as any other failure. A test compares it with the SDK.
type sdkClient struct {
	clock    *virtual.Clock
	random   func() float64
	observer retry.Observer
	strategy retry.Strategy // only judges
	plan     retry.Plan
	tokens   int
	rate     *sdkRate   // nil in standard mode
	order    *rand.Rand // of waiting callers
	waiters  []*sdkWaiter
	alarm    clock.Timer // for give; nil before the first wait
}

func newSDKClient(mode SDKMode, s retry.Strategy, clk *virtual.Clock, random func() float64, observer retry.Observer) *sdkClient {
	plan := s.Plan(retry.Operation{})
	c := &sdkClient{
		clock: clk, random: random, observer: observer, strategy: s, plan: plan, tokens: plan.QuotaCapacity,
		order: rand.New(rand.NewPCG(6, uint64(random()*(1<<53)))),
	}
	if mode == SDKAdaptive {
		c.rate = &sdkRate{second: seconds(clk.Now()), throttled: clk.Now(), capacity: 1}
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
			c.rate.update(c.clock.Now(), throttled)
			c.arm()
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
			c.emit(ctx, retry.Event{Kind: retry.RetryRefused, Operation: op, Reason: retry.ErrQuotaExhausted})
			return &retry.Error{Reason: retry.ErrQuotaExhausted, Last: err, Attempts: n}
		}
		c.tokens -= cost
		c.emit(ctx, retry.Event{Kind: retry.RetryScheduled, Operation: op})
		longest := min(float64(base)*math.Pow(2, float64(n-1)), float64(c.plan.MaxBackoff))
		if err := c.clock.Sleep(ctx, time.Duration(c.random()*longest)); err != nil {
			return err
		}
	}
}

// sdkWaiter is a call that sleeps until there is a send token.
type sdkWaiter struct {
	wake  func(after time.Duration)
	given bool
}

// wait takes a send token. In the SDK a caller that finds none sleeps until there would be one for it alone, and tries
// again. The first of all that wake at about the same time gets the token, and that may be a caller that comes just
// then. So here a token goes to a random sleeper, and the others need not wake.
func (c *sdkClient) wait(ctx context.Context, op retry.Operation) error {
	if c.rate == nil {
		return nil
	}
	if c.rate.take(c.clock.Now()) {
		return nil
	}
	began := c.clock.Now()
	w := &sdkWaiter{}
	c.waiters = append(c.waiters, w)
	c.arm()
	if err := c.clock.Park(ctx, func(wake func(time.Duration)) { w.wake = wake }); err != nil && !w.given {
		c.waiters = slices.DeleteFunc(c.waiters, func(other *sdkWaiter) bool { return other == w })
		return err
	}
	c.emit(ctx, retry.Event{Kind: retry.SendWaitEnded, Operation: op, Delay: c.clock.Now().Sub(began)})
	return nil
}

// arm makes give run when there is a token.
func (c *sdkClient) arm() {
	if len(c.waiters) == 0 {
		return
	}
	// On a clock that fires exactly, a wait cut to whole nanoseconds would end too early.
	d := max(c.rate.missing(c.clock.Now()), time.Microsecond)
	if c.alarm == nil {
		c.alarm = c.clock.AfterFunc(d, c.give)
	} else {
		c.alarm.Reset(d)
	}
}

// give gives available tokens to sleepers.
func (c *sdkClient) give() {
	for len(c.waiters) > 0 && c.rate.take(c.clock.Now()) {
		last := len(c.waiters) - 1
		i := c.order.IntN(last + 1)
		w := c.waiters[i]
		c.waiters[i], c.waiters = c.waiters[last], c.waiters[:last]
		w.given = true
		w.wake(0)
	}
	c.arm()
}

func (c *sdkClient) emit(ctx context.Context, e retry.Event) {
	if c.observer != nil {
		e.Time, e.Quota = c.clock.Now(), c.tokens
		c.observer.Observe(ctx, e)
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

// take takes a token. It returns true if there was one, or if none is needed.
func (r *sdkRate) take(now time.Time) bool {
	if !r.enabled {
		return true
	}
	r.refill(now)
	if r.tokens < 1 {
		return false
	}
	r.tokens--
	return true
}

// missing returns how long the next token takes.
func (r *sdkRate) missing(now time.Time) time.Duration {
	r.refill(now)
	return time.Duration(max(1-r.tokens, 0) / r.fill * float64(time.Second))
}

func (r *sdkRate) refill(now time.Time) {
	if !r.refilled.IsZero() {
		r.tokens = min(r.tokens+now.Sub(r.refilled).Seconds()*r.fill, r.capacity)
	}
	r.refilled = now
}

// update takes in a response.
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
