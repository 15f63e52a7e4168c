package proptest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestAdaptiveModeIsAsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newAdaptiveRun(t)
		actions := map[string]func(*rapid.T){
			"":         run.check,
			"begin":    run.begin,
			"send":     run.send,
			"sendNext": run.send, // as likely as two others, so that there are responses
			"refresh":  run.refresh,
			"succeed":  run.succeed,
			"fail":     run.fail,
			"pass":     func(t *rapid.T) { run.clock.Advance(drawPause(t, "pause")) },
		}
		run.clock.Run(func() { t.Repeat(actions) })
	})
}

// adaptiveRun is operations of one strategy. They are under way at the same time,
// but only one does something at a time.
type adaptiveRun struct {
	strategy retry.Strategy
	config   adaptive.Config
	clock    *clock.Fake
	quotas   *standardModel
	rates    map[string]*rateModel
	begun    time.Time
	open     []*sending
}

// sending is an operation. Between send and the response its attempt is under way.
type sending struct {
	operationModel
	token    retry.Token
	underWay bool
	sent     time.Time
}

func newAdaptiveRun(t *rapid.T) *adaptiveRun {
	clk := clock.NewFake(start())
	inner, jitter := drawConfig(t)
	inner.Clock = clk
	inner.QuotaRefill = 0 // the clock of this run does not move in ticks
	limits := map[retry.ScopeKey]adaptive.SendLimit{{}: drawLimit(t, "the whole"), {Scope: "one"}: drawLimit(t, "one")}
	config := adaptive.Config{
		SendLimit:   func(scope retry.ScopeKey) adaptive.SendLimit { return limits[scope] },
		Standard:    inner,
		Controller:  drawFrom(t, "controller", ratelimit.CutPerEvent, ratelimit.CutPerThrottle),
		NoSendWait:  drawInt(t, 0, 4, "no send wait") == 0,
		MaxSendWait: drawFrom(t, "max send wait", 0, 0, time.Millisecond, 2*time.Second),
		SendCost:    drawFrom(t, "send cost", 0, 0, 0, 0.5, 2.5),
	}
	strategy, err := adaptive.New(config)
	require.NoError(t, err)
	return &adaptiveRun{
		strategy: strategy,
		config:   config,
		clock:    clk,
		quotas:   newStandardModel(inner, jitter),
		rates:    map[string]*rateModel{},
		begun:    clk.Now(),
	}
}

// rate is the send rate of an operation's scope. It begins when the strategy does,
// or if something is known of it, with the scope.
func (r *adaptiveRun) rate(op retry.Operation) *rateModel {
	key := op.Key().String()
	if r.rates[key] == nil {
		config, begun := sendrate.Config{Controller: r.config.Controller, Cost: r.config.SendCost}, r.begun
		if limit := r.config.SendLimit(op.Key()); limit != (adaptive.SendLimit{}) {
			config.StartingRate, config.Ceiling = limit.Starting, limit.Ceiling
			if op.Key() != (retry.ScopeKey{}) {
				begun = r.clock.Now()
			}
		}
		r.rates[key] = newRateModel(begun, config)
	}
	return r.rates[key]
}

// drawLimit draws what is known of a scope, which may be nothing.
func drawLimit(t *rapid.T, scope string) adaptive.SendLimit {
	starting := drawFrom[ratelimit.Rate](t, "starting rate of "+scope, 0, 0, 0.5, 3, 100)
	ceiling := drawFrom[ratelimit.Rate](t, "ceiling of "+scope, 0, 0, 1, 7, 300)
	if ceiling > 0 {
		starting = min(starting, ceiling)
	}
	return adaptive.SendLimit{Starting: starting, Ceiling: ceiling}
}

func (r *adaptiveRun) check(t *rapid.T) {
	for _, scope := range r.strategy.Snapshot().Scopes {
		require.Zero(t, scope.Waiting)
		quota, rate := r.quotas.scopes[scope.Scope], r.rates[scope.Scope]
		if quota == nil || rate == nil {
			require.Empty(t, scope.Scope, "a scope that no operation has used")
			continue
		}
		require.Equal(t, quota.parts/tokenParts, scope.Quota)
		require.Equal(t, rate.limited, scope.Limited)
		requireClose(t, rate.measured(), scope.MeasuredRate, "measured rate")
		requireClose(t, rate.fill, scope.FillRate, "fill rate")
		requireClose(t, rate.capacity, scope.SendCapacity, "capacity")
		if rate.cut {
			require.Equal(t, rate.lastThrottle, scope.LastThrottle)
		}
	}
}

func (r *adaptiveRun) begin(t *rapid.T) {
	op := drawOperation(t)
	token, err := r.strategy.AcquireInitialToken(t.Context(), op)
	require.NoError(t, err)
	r.quotas.scope(op)
	r.rate(op)
	r.open = append(r.open, &sending{operationModel: operationModel{op: op, attempt: 1}, token: token})
}

// pick draws an operation.
func (r *adaptiveRun) pick(t *rapid.T) *sending {
	if len(r.open) == 0 {
		r.begin(t)
	}
	return r.open[drawInt(t, 0, len(r.open)-1, "operation")]
}

// end takes an operation off those that are open.
func (r *adaptiveRun) end(done *sending) {
	for i, o := range r.open {
		if o == done {
			r.open = append(r.open[:i:i], r.open[i+1:]...)
			return
		}
	}
}

// send waits for the backoff and then for the send token (A09, A10). The model goes
// on from the instant of the strategy, so that rounding does not add up.
func (r *adaptiveRun) send(t *rapid.T) {
	o := r.pick(t)
	if o.underWay {
		r.clock.Advance(drawPause(t, "latency"))
		return
	}
	due := r.clock.Now().Add(o.token.Delay())
	err := o.token.Wait(t.Context())
	want := r.rate(o.op).until(due, r.cost())
	switch {
	case r.borderline(want):
		// The last nanosecond decides, and the model does not count in nanoseconds.
	case r.refuses(want):
		require.ErrorIs(t, err, retry.ErrSendRateLimited)
	default:
		require.NoError(t, err)
	}
	if err != nil {
		require.Equal(t, due, r.clock.Now())
		return
	}
	r.wasSent(t, o, due)
}

// wasSent compares the instant of an attempt that was due with the model's.
func (r *adaptiveRun) wasSent(t *rapid.T, o *sending, due time.Time) {
	rate, cost := r.rate(o.op), r.cost()
	o.underWay, o.sent = true, r.clock.Now()
	requireClose(t, rate.until(due, cost), o.sent.Sub(due).Seconds(), "wait for the send token")
	rate.lifted = cost // A12
	rate.take(o.sent, cost)
	rate.lifted = 0
	rate.spend(0)
}

func (r *adaptiveRun) cost() float64 { return or(r.config.SendCost, 1) }

// refuses reports whether a wait of so many seconds is more than is accepted.
func (r *adaptiveRun) refuses(wait float64) bool {
	longest := r.config.MaxSendWait.Seconds()
	return r.config.NoSendWait && wait > 0 || longest > 0 && wait > longest
}

func (r *adaptiveRun) borderline(wait float64) bool {
	const nanoseconds = 10e-9
	return r.refuses(wait+nanoseconds) != r.refuses(max(wait-nanoseconds, 0))
}

// report tells the model of an attempt that was made (A08), and of no other.
func (r *adaptiveRun) report(o *sending, throttled bool) {
	if o.underWay {
		r.rate(o.op).report(r.clock.Now(), ratelimit.Response{Sent: o.sent, Throttled: throttled, Cost: r.cost()})
	}
	o.underWay = false
}

// responded lets the time until the response pass, mostly.
func (r *adaptiveRun) responded(t *rapid.T) *sending {
	if drawBool(t, "send first") {
		r.send(t)
	}
	o := r.pick(t)
	r.clock.Advance(drawFrom(t, "latency", 0, time.Millisecond, 70*time.Millisecond, time.Second))
	return o
}

func (r *adaptiveRun) refresh(t *rapid.T) {
	o, f := r.responded(t), drawFailure(t)
	f.hint = min(f.hint, time.Hour) // which is slept
	r.report(o, f.kind == throttle)
	want, wantDelay := r.quotas.fail(&o.operationModel, f, limits{})
	next, err := r.strategy.RefreshRetryToken(t.Context(), o.token, f.err())
	require.Equal(t, want, outcomeOf(err), "%v", err)
	require.Equal(t, wantDelay, next.Delay())
	o.token = next
	if err != nil { // which says nothing about the attempt any more
		r.end(o)
		require.NoError(t, r.strategy.RecordFailure(o.token, f.err()))
	}
}

func (r *adaptiveRun) succeed(t *rapid.T) {
	o := r.responded(t)
	r.report(o, false)
	r.quotas.succeed(&o.operationModel)
	r.end(o)
	require.NoError(t, r.strategy.RecordSuccess(o.token, retry.Result{}))
}

func (r *adaptiveRun) fail(t *rapid.T) {
	o, f := r.responded(t), drawFailure(t)
	o.made = o.underWay
	r.report(o, f.kind == throttle)
	r.quotas.end(&o.operationModel)
	r.end(o)
	require.NoError(t, r.strategy.RecordFailure(o.token, f.err()))
}

// Operations one after the other, each in a loop of its own: the instants of their
// attempts and of their ends are those of the rules.
func TestDoInAdaptiveModeIsAsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newAdaptiveRun(t)
		run.clock.Run(func() {
			for range drawInt(t, 1, 12, "operations") {
				run.clock.Advance(drawPause(t, "pause"))
				run.do(t)
				run.check(t)
			}
		})
	})
}

// do runs an operation through Do and through the model at the same time.
func (r *adaptiveRun) do(t *rapid.T) {
	o := &sending{operationModel: operationModel{op: drawOperation(t), attempt: 1}}
	o.op.MaxAttempts = max(o.op.MaxAttempts, 0) // Do refuses a negative number
	r.quotas.scope(o.op)
	rate := r.rate(o.op)
	failures, made := drawInt(t, 0, 5, "failures"), 0
	due, outcome := r.clock.Now(), retried

	_, err := retry.Do(t.Context(), r.strategy, o.op, func(ctx context.Context) (struct{}, error) {
		require.Equal(t, retried, outcome, "an attempt too many")
		r.wasSent(t, o, due)
		attempt, ok := retry.AttemptFrom(ctx)
		require.True(t, ok)
		require.Equal(t, retry.Attempt{Number: o.attempt, Loops: 1, MaxAttempts: r.strategy.Plan(o.op).MaxAttempts}, attempt)

		r.clock.Advance(drawFrom(t, "latency", 0, time.Millisecond, 70*time.Millisecond, time.Second))
		if made++; made > failures {
			r.report(o, false)
			r.quotas.succeed(&o.operationModel)
			due, outcome = r.clock.Now(), "success"
			return struct{}{}, nil
		}
		f := drawFailure(t)
		f.hint = min(f.hint, time.Hour)
		r.report(o, f.kind == throttle)
		var delay time.Duration
		outcome, delay = r.quotas.fail(&o.operationModel, f, limits{})
		due = r.clock.Now().Add(delay) // of the next attempt, or of the end of a long poll
		return struct{}{}, f.err()
	})
	require.Equal(t, due, r.clock.Now())
	switch outcome {
	case "success":
		require.NoError(t, err)
	case retried: // but not made
		r.quotas.end(&o.operationModel)
		require.ErrorIs(t, err, retry.ErrSendRateLimited)
		want := rate.until(due, r.cost())
		require.True(t, r.refuses(want) || r.borderline(want), "it would have been a wait of %v s", want)
	case notRetryable:
		_, refused := errors.AsType[*retry.Error](err)
		require.False(t, refused, "it is to come back as it is: %v", err)
	default:
		require.Equal(t, outcome, outcomeOf(err))
	}
}
