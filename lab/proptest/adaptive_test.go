package proptest_test

import (
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
		quotas:   &standardModel{config: inner, jitter: jitter, scopes: map[string]*scopeModel{}},
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
