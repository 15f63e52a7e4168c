package proptest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

func TestAdaptiveModeIsAsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newAdaptiveRun(t)
		t.Repeat(map[string]func(*rapid.T){
			"":         run.check,
			"begin":    run.begin,
			"send":     run.send,
			"sendNext": run.send, // as likely as two others, so that there are responses
			"refresh":  run.refresh,
			"succeed":  run.succeed,
			"fail":     run.fail,
			"pass":     func(t *rapid.T) { run.clock.Advance(drawPause(t, "pause")) },
		})
	})
}

// adaptiveRun is operations of one strategy. They are under way at the same time,
// but only one does something at a time.
type adaptiveRun struct {
	strategy *adaptive.Strategy
	config   adaptive.Config
	clock    jumper
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
	clk := newJumper()
	inner, jitter := drawConfig(t)
	inner.Clock, inner.Observer = clk, clk
	inner.QuotaRefill = 0 // the clock of this run does not move in ticks
	config := adaptive.Config{
		Standard:       inner,
		CutPerThrottle: drawBool(t, "cut per throttle"),
		NoSendWait:     drawInt(t, 0, 4, "no send wait") == 0,
		MaxSendWait:    drawFrom(t, "max send wait", 0, 0, time.Millisecond, 2*time.Second),
		SendCost:       drawFrom(t, "send cost", 0, 0, 0, 0.5, 2.5),
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

// rate is the send rate of an operation's scope. It begins when the strategy does.
func (r *adaptiveRun) rate(op retry.Operation) *rateModel {
	key := op.Key().String()
	if r.rates[key] == nil {
		r.rates[key] = newRateModel(r.begun, r.config.CutPerThrottle)
	}
	return r.rates[key]
}

func (r *adaptiveRun) check(t *rapid.T) {
	for _, scope := range r.strategy.Snapshot().Scopes {
		require.Zero(t, scope.Waiting)
		quota, rate := r.quotas.scopes[scope.Scope], r.rates[scope.Scope]
		if quota == nil || rate == nil {
			require.Empty(t, scope.Scope, "a scope that nobody has used")
			continue
		}
		require.Equal(t, quota.parts/tokenParts, scope.Quota)
		require.Equal(t, rate.limited, scope.Limited)
		requireClose(t, rate.measured(), scope.MeasuredRate, "measured rate")
		requireClose(t, rate.fill, scope.FillRate, "fill rate")
		requireClose(t, rate.capacity, scope.SendCapacity, "capacity")
		if rate.limited {
			require.Equal(t, rate.lastThrottle, scope.LastThrottle)
		}
	}
}
