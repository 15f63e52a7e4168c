package adaptive_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// partError is a throttle of a part of a scope.
type partError struct{}

func (partError) Error() string     { return "throttled" }
func (partError) ErrorCode() string { return "ThrottlingException" }
func (partError) ThrottledBy() []classify.Reason {
	return []classify.Reason{{Reach: classify.ReachPart}}
}

// game is a strategy in adaptive mode beside what it is made of: standard mode, and a limiter for each scope.
type game struct {
	*model.Player
	clock    *clock.Fake
	config   adaptive.Config
	strategy retry.Strategy
	standard retry.Strategy
	limiters map[retry.ScopeKey]adaptive.Limiter
	open     []*operation
}

// operation is one whose attempt is under way from sent on; before that it is zero.
type operation struct {
	key             retry.ScopeKey
	token, standard retry.Token
	request         ratelimit.Request
	sent            time.Time
}

func FuzzAdaptiveMode(f *testing.F) {
	model.Play(f, 150, func(p *model.Player) {
		g := newGame(p)
		for range 60 {
			switch model.From(p, "begin", "send", "send", "refresh", "refresh", "succeed", "fail", "pass") {
			case "begin":
				g.begin()
			case "send":
				g.send(g.pick())
			case "refresh":
				g.refresh(g.pick())
			case "succeed":
				o := g.pick()
				g.reports(o, false, false)
				g.ends(o, g.strategy.RecordSuccess(o.token, retry.Result{}), g.standard.RecordSuccess(o.standard, retry.Result{}))
			case "fail":
				o := g.pick()
				err := model.From(p, errServer, errThrottle, error(partError{}))
				g.reports(o, err == errThrottle, err == partError{}) //nolint:errorlint // the same value
				g.ends(o, g.strategy.RecordFailure(o.token, err), g.standard.RecordFailure(o.standard, err))
			case "pass":
				p.Step("pass")
				g.clock.Advance(p.Pause())
			}
			g.check()
		}
	})
}

func newGame(p *model.Player) *game {
	clk := &clock.Fake{}
	random := p.Float64()
	limit := func() adaptive.SendLimit {
		return model.From(p, adaptive.SendLimit{}, adaptive.SendLimit{Starting: 3}, adaptive.SendLimit{Starting: 0.5, Ceiling: 7}, adaptive.SendLimit{Ceiling: 2, Burst: 5})
	}
	known := map[retry.ScopeKey]adaptive.SendLimit{{}: limit(), {Scope: "one"}: limit()}
	config := adaptive.Config{
		Standard: standard.Config{
			Clock: clk, Random: func() float64 { return random }, QuotaInitial: new(p.IntN(60)), QuotaRefill: 3, ScopeIdle: math.MaxInt64,
		},
		Controller:  model.From(p, ratelimit.FindLimit, ratelimit.CutPerThrottle),
		NoSendWait:  p.Once(5),
		MaxSendWait: model.From(p, 0, 0, time.Millisecond, 2*time.Second),
		SendCost:    model.From(p, 0, 0, 0.5, 2.5),
		SendLimit:   func(key retry.ScopeKey) adaptive.SendLimit { return known[key] },
	}
	p.Step("%+v, limits %+v", config, known)
	g := &game{Player: p, clock: clk, config: config, limiters: map[retry.ScopeKey]adaptive.Limiter{}}
	var err error
	g.strategy, err = adaptive.New(config)
	require.NoError(p, err)
	g.standard, err = standard.New(config.Standard)
	require.NoError(p, err)
	g.limiters[retry.ScopeKey{}] = config.Limiter(clk, known[retry.ScopeKey{}])
	for _, scope := range []string{"one", "two"} { // what is not limited yet measures from now on
		if key := (retry.ScopeKey{Scope: scope}); known[key] == (adaptive.SendLimit{}) {
			g.limiters[key] = config.Limiter(clk, known[key])
		}
	}
	return g
}

func (g *game) begin() {
	op := retry.Operation{Scope: model.From(g.Player, "", "one", "two")}
	g.Step("begin %q", op.Scope)
	o := &operation{key: op.Key(), request: ratelimit.Request{
		Cost: g.config.SendCost, NoWait: g.config.NoSendWait, MaxWait: g.config.MaxSendWait, MaxQueue: g.config.MaxSendQueue,
	}}
	var err error
	o.token, err = g.strategy.AcquireInitialToken(g.Context(), op)
	require.NoError(g, err)
	o.standard, err = g.standard.AcquireInitialToken(g.Context(), op)
	require.NoError(g, err)
	if g.limiters[o.key] == nil { // a known limit counts from the first use on
		g.limiters[o.key] = g.config.Limiter(g.clock, g.config.SendLimit(o.key))
	}
	g.open = append(g.open, o)
}

func (g *game) pick() *operation {
	if len(g.open) == 0 {
		g.begin()
	}
	return model.From(g.Player, g.open...)
}

// send waits for the backoff and then for the send token.
func (g *game) send(o *operation) {
	if !o.sent.IsZero() {
		return
	}
	g.clock.Advance(o.token.Delay())
	g.Step("send in %v, part %v", o.key, o.request.Part)
	var err, want error
	var sent time.Time
	g.clock.Run(func() {
		err = o.token.WithoutDelay().Wait(g.Context())
		sent = g.clock.Now()
	}, func() {
		o.sent, want = g.limiters[o.key].Acquire(g.Context(), o.request)
	})
	if want != nil {
		require.ErrorIs(g, err, retry.ErrSendRateLimited)
		return
	}
	require.NoError(g, err)
	require.WithinDuration(g, o.sent, sent, 1, "each rounds as often as it was asked")
	o.sent = sent
	require.NoError(g, o.standard.WithoutDelay().Wait(g.Context()))
}

// reports tells the limiter of an attempt that was made, and of no other.
func (g *game) reports(o *operation, throttled, part bool) {
	g.Step("end of an attempt in %v, made %v, throttled %v, part %v", o.key, !o.sent.IsZero(), throttled, part)
	if o.sent.IsZero() {
		return
	}
	g.limiters[o.key].Report(ratelimit.Response{
		Sent: o.sent, Throttled: throttled, PartThrottled: part, Part: o.request.Part, Cost: o.request.Cost,
	})
	o.request.Part = o.request.Part || part
	o.sent = time.Time{}
}

func (g *game) refresh(o *operation) {
	failure := model.From(g.Player, errServer, errThrottle, error(partError{}), context.Canceled)
	g.reports(o, failure == errThrottle, failure == partError{}) //nolint:errorlint // the same value
	want, wantErr := g.standard.RefreshRetryToken(g.Context(), o.standard, failure)
	next, err := g.strategy.RefreshRetryToken(g.Context(), o.token, failure)
	require.Equal(g, wantErr, err)
	require.Equal(g, want.Delay(), next.Delay())
	require.Equal(g, want.Attempt(), next.Attempt())
	if o.token, o.standard = next, want; err != nil {
		g.ends(o, g.strategy.RecordFailure(next, failure), g.standard.RecordFailure(want, failure))
	}
}

func (g *game) ends(o *operation, err, wantErr error) {
	require.NoError(g, err)
	require.NoError(g, wantErr)
	g.open = slices.DeleteFunc(g.open, func(other *operation) bool { return other == o })
}

func (g *game) check() {
	snapshot, want := g.strategy.Snapshot(), g.standard.Snapshot()
	require.Equal(g, "adaptive", snapshot.Mode)
	require.Equal(g, want.Pool, snapshot.Pool)
	require.Len(g, snapshot.Scopes, len(want.Scopes))
	for i, got := range snapshot.Scopes {
		limiter := g.limiters[got.Key]
		limiter.Expected(ratelimit.Request{}) // which tells it the time
		state := limiter.State()
		require.Equal(g, want.Scopes[i].Quota, got.Quota)
		require.Equal(g, state.Limited, got.Limited)
		require.Equal(g, [...]float64{state.FillRate, state.MeasuredRate, state.SendCapacity}, [...]float64{got.FillRate, got.MeasuredRate, got.SendCapacity})
		require.Equal(g, state.LastThrottle, got.LastThrottle)
	}
}
