package proptest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// sendRateRun is a send rate beside its model.
type sendRateRun struct {
	rate  sendrate.SendRate
	model *rateModel
	now   time.Time
}

func TestSendRateIsAsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		begin := start().Add(drawDuration(t, 0, time.Second, "start"))
		config := drawRateConfig(t)
		run := &sendRateRun{
			rate:  sendrate.New(config, begin),
			model: newRateModel(begin, config),
			now:   begin,
		}
		t.Repeat(map[string]func(*rapid.T){
			"":       run.check,
			"pass":   func(t *rapid.T) { run.now = run.now.Add(drawPause(t, "pause")) },
			"jump":   run.jump,
			"report": run.report,
			"burst":  run.burst,
			"take":   run.take,
			"give":   run.give,
			"set":    run.set,
		})
	})
}

// drawRateConfig draws known limits, or none.
func drawRateConfig(t *rapid.T) sendrate.Config {
	return sendrate.Config{
		Controller:   drawFrom(t, "controller", ratelimit.CutPerEvent, ratelimit.CutPerThrottle),
		StartingRate: drawFrom[ratelimit.Rate](t, "starting rate", 0, 0, 0.1, 0.5, 3, 100),
		Ceiling:      drawFrom[ratelimit.Rate](t, "ceiling", 0, 0, 0.2, 0.6, 2, 7, 300),
		Cost:         drawFrom(t, "usual cost", 0, 0, 0.5, 2.5),
	}
}

// at is mostly now, and sometimes an instant that has passed.
func (r *sendRateRun) at(t *rapid.T) time.Time {
	return r.now.Add(-drawFrom(t, "late", 0, 0, 0, time.Nanosecond, 2*time.Second))
}

func (r *sendRateRun) check(t *rapid.T) {
	state := r.rate.State()
	require.Equal(t, r.model.limited, state.Limited)
	requireClose(t, r.model.measured(), state.MeasuredRate, "measured rate")
	requireClose(t, r.model.fill, state.FillRate, "fill rate")
	requireClose(t, r.model.capacity, state.SendCapacity, "capacity")
	requireClose(t, r.model.tokens, state.SendTokens, "tokens")
	require.GreaterOrEqual(t, state.SendTokens, 0.0)
	require.LessOrEqual(t, state.SendTokens, state.SendCapacity)
	require.LessOrEqual(t, state.FillRate, max(0.5, r.model.ceiling))
	if r.model.cut {
		require.Equal(t, r.model.lastThrottle, state.LastThrottle)
	} else {
		require.Zero(t, state.LastThrottle)
	}
}

func (r *sendRateRun) report(t *rapid.T) {
	at, response := r.at(t), ratelimit.Response{
		Throttled: drawBool(t, "throttled"), Cost: drawFrom(t, "cost", 0, 0, 0.5, 2.5),
	}
	if drawBool(t, "with the send instant") {
		response.Sent = at.Add(-drawPause(t, "under way"))
	}
	r.respond(t, at, response)
}

// jump is a call on another clock, which is behind by a year and a little more or less.
func (r *sendRateRun) jump(t *rapid.T) {
	r.now = r.model.newest.Add(-365*24*time.Hour + drawFrom(t, "beyond", 0, -1, -time.Hour))
	switch cost := drawFloat(t, 3, "cost"); drawInt(t, 0, 3, "call") {
	case 0:
		r.rate.Report(r.now, ratelimit.Response{})
		r.model.report(r.now, ratelimit.Response{})
	case 1:
		requireClose(t, r.model.until(r.now, cost), r.rate.Until(r.now, cost).Seconds(), "until")
	case 2:
		r.rate.Give(r.now, cost)
		r.model.give(r.now, cost)
	default:
		r.rate.SetRate(r.now, ratelimit.Rate(cost))
		at := r.model.forward(r.now)
		r.model.limited = true
		r.model.setRate(at, cost)
	}
	r.now = r.model.newest
}

// burst is many responses at once, so that the rate gets somewhere.
func (r *sendRateRun) burst(t *rapid.T) {
	for range drawInt(t, 2, 60, "responses") {
		r.respond(t, r.now, ratelimit.Response{Throttled: false})
	}
}

func (r *sendRateRun) respond(t *rapid.T, at time.Time, response ratelimit.Response) {
	before, hadCut := r.rate.State().FillRate, r.model.cut
	cut := r.rate.Report(at, response)
	require.Equal(t, r.model.report(at, response), cut)
	state := r.rate.State()
	if response.Throttled && !cut {
		require.InDelta(t, before, state.FillRate, 0, "a suppressed throttle changed the rate")
		return
	}
	measured := state.MeasuredRate
	if !hadCut || measured == 0 {
		measured = max(measured, r.model.starting)
	}
	require.LessOrEqual(t, state.FillRate, max(0.5, 2*measured))
	if !r.model.cut {
		require.GreaterOrEqual(t, state.FillRate, r.model.starting)
	}
}

func (r *sendRateRun) take(t *rapid.T) {
	at, cost := r.at(t), drawFloat(t, 3, "cost")
	want := r.model.until(at, cost)
	until := r.rate.Until(at, cost)
	requireClose(t, want, until.Seconds(), "until")
	wait, granted := r.rate.Take(at, cost)
	require.Equal(t, until, wait)
	require.Equal(t, granted, wait == 0)
	if granted {
		r.model.take(at, cost)
		return
	}
	if cost > r.rate.State().SendCapacity || !drawBool(t, "wait") {
		return
	}
	r.now = r.model.newest.Add(wait)
	if wait, granted = r.rate.Take(r.now, cost); !granted {
		require.Positive(t, wait)
		r.now = r.now.Add(wait)
		_, granted = r.rate.Take(r.now, cost)
	}
	require.True(t, granted, "two waits were not enough")
	r.model.take(r.now, cost)
}

func (r *sendRateRun) give(t *rapid.T) {
	at, tokens := r.at(t), drawFloat(t, 3, "tokens")
	r.rate.Give(at, tokens)
	r.model.give(at, tokens)
}

// set sets a rate by hand.
func (r *sendRateRun) set(t *rapid.T) {
	at, rate := r.at(t), drawFloat(t, 50, "rate")
	r.rate.SetRate(at, ratelimit.Rate(rate))
	at = r.model.forward(at)
	r.model.limited = true
	r.model.setRate(at, rate)
}

// requireClose allows for the rounding of float64 arithmetic and of a wait to the
// nanosecond.
func requireClose(t *rapid.T, want, got float64, what string) {
	t.Helper()
	require.InDelta(t, want, got, 2e-9+1e-7*max(want, -want), what)
}
