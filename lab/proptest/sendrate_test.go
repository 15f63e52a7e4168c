package proptest_test

import (
	"math"
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
			"lift":   run.lift,
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
	require.LessOrEqual(t, state.SendTokens, max(state.SendCapacity, r.model.lifted))
	require.LessOrEqual(t, state.FillRate, max(r.model.least, r.model.ceiling))
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
	switch cost := drawFloat(t, 3, "cost"); drawInt(t, 0, 2, "call") {
	case 0:
		r.rate.Report(r.now, ratelimit.Response{})
		r.model.report(r.now, ratelimit.Response{})
	case 1:
		requireClose(t, r.model.until(r.now, cost), r.rate.Until(r.now, cost).Seconds(), "until")
	default:
		r.rate.Give(r.now, cost)
		r.model.give(r.now, cost)
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
	require.LessOrEqual(t, state.FillRate, max(r.model.least, 2*measured))
	if !r.model.cut {
		require.GreaterOrEqual(t, state.FillRate, r.model.starting)
	}
}

func (r *sendRateRun) take(t *rapid.T) {
	at, cost := r.at(t), drawFloat(t, 3, "cost")
	want := r.model.until(at, cost)
	until := r.rate.Until(at, cost)
	requireClose(t, want, until.Seconds(), "until")
	due, granted := r.rate.Take(at, cost)
	if !r.model.limited {
		require.Equal(t, at, due)
	} else {
		require.Equal(t, until, due.Sub(r.model.newest))
	}
	require.Equal(t, granted, until == 0)
	if granted {
		r.model.take(at, cost)
		return
	}
	if !drawBool(t, "wait") {
		return
	}
	r.now = r.model.newest
	if cost > r.rate.State().SendCapacity { // as the first in line may
		r.rate.Lift(r.now, cost)
		r.model.lift(r.now, cost)
	}
	r.now = due
	if due, granted = r.rate.Take(r.now, cost); !granted {
		require.Greater(t, due, r.now)
		r.now = due
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

func (r *sendRateRun) lift(t *rapid.T) {
	at, cost := r.at(t), drawFrom(t, "cost", 0, 1, 3.5, 20)
	r.rate.Lift(at, cost)
	r.model.lift(at, cost)
}

// response is one that arrived to an attempt of so many tokens.
type response struct {
	at   time.Time
	cost float64
}

// rateModel is the send rate of adaptive mode as its rules A01 to A16 say it, in
// seconds and tokens, and as known limits change that. It keeps all responses, and
// measures from the whole list.
type rateModel struct {
	config        sendrate.Config
	starting      float64 // 0 if there is none
	ceiling       float64 // infinite if there is none
	start, newest time.Time
	responses     []response
	lastMax       float64
	lastThrottle  time.Time // the start, until there is one
	limited, cut  bool

	fill, capacity, tokens float64
	cost                   float64   // of an attempt that is no exception
	least                  float64   // fill rate
	lifted                 float64   // the cost of the first in line, A12
	filled                 time.Time // up to when; zero before the first refill
}

func newRateModel(start time.Time, config sendrate.Config) *rateModel {
	m := &rateModel{
		config: config, ceiling: math.Inf(1), start: start, newest: start, lastThrottle: start,
		cost: config.Cost, least: 0.5,
	}
	m.starting = float64(config.StartingRate)
	if config.Ceiling > 0 {
		m.ceiling = float64(config.Ceiling)
		m.starting = min(or(m.starting, m.ceiling), m.ceiling)
	}
	if m.starting > 0 {
		m.least, m.limited = min(m.least, m.starting/2), true
		m.setRate(start, m.starting)
		m.tokens = 1
	}
	return m
}

// forward reads an old instant as the newest one, and begins anew at one that is older
// by more than a year, A13.
func (m *rateModel) forward(now time.Time) time.Time {
	if m.newest.Sub(now) > 365*24*time.Hour {
		*m = *newRateModel(now, m.config)
	}
	if now.After(m.newest) {
		m.newest = now
	}
	return m.newest
}

// measured is the rate of the responses so far, A03 and A16.
func (m *rateModel) measured() float64 {
	rate, window, counted := 0.0, halfSeconds(m.start.Truncate(time.Second)), 0.0
	for _, r := range m.responses {
		counted += r.cost
		if later := halfSeconds(r.at); later > window {
			rate = 0.8*counted/(0.5*float64(later-window)) + 0.2*rate
			window, counted = later, 0
		}
	}
	return rate
}

// halfSeconds is the window that an instant lies in.
func halfSeconds(at time.Time) int64 { return at.Truncate(500*time.Millisecond).UnixMilli() / 500 }

// report counts a response, A04 to A07. It reports whether the rate was cut.
func (m *rateModel) report(now time.Time, r ratelimit.Response) (cut bool) {
	now = m.forward(now)
	m.responses = append(m.responses, response{now, or(r.Cost, 1)})
	measured := m.known()
	var rate float64
	if r.Throttled {
		sent := r.Sent
		if sent.IsZero() {
			sent = now
		}
		if m.cut && m.config.Controller != ratelimit.CutPerThrottle && sent.Before(m.lastThrottle) {
			m.refill(now)
			return false
		}
		m.lastMax = measured
		if m.limited {
			m.lastMax = min(measured, m.fill)
		}
		rate = 0.7 * m.lastMax
		m.limited, m.cut, m.lastThrottle = true, true, now
	} else {
		rate = m.climbed(now.Sub(m.lastThrottle).Seconds())
	}
	m.setRate(now, min(rate, 2*measured))
	return r.Throttled
}

// known is the measured rate, or the starting rate where that says more.
func (m *rateModel) known() float64 {
	measured := m.measured()
	if !m.cut || measured == 0 {
		return max(measured, m.starting)
	}
	return measured
}

// climbed is the curve so many seconds after the last throttle. A starting rate is
// as a maximum that it has just come back to.
func (m *rateModel) climbed(seconds float64) float64 {
	if m.starting > 0 && !m.cut {
		return m.starting + 0.4*seconds*seconds*seconds
	}
	return 0.4*math.Pow(seconds-math.Cbrt(m.lastMax*0.3/0.4), 3) + m.lastMax
}

// setRate is A02. A known limit below 1 lowers the least rate to its half.
func (m *rateModel) setRate(now time.Time, rate float64) {
	m.refill(now)
	rate = min(rate, m.ceiling)
	m.fill, m.capacity = max(rate, m.least), max(rate, 1, m.cost)
	m.spend(0)
}

func (m *rateModel) refill(now time.Time) {
	if m.filled.IsZero() {
		m.filled = now
	}
	if now.After(m.filled) {
		m.tokens += now.Sub(m.filled).Seconds() * m.fill
		m.filled = now
	}
	m.spend(0)
}

// spend takes tokens that are there, give or take rounding.
func (m *rateModel) spend(cost float64) {
	m.tokens = min(max(m.tokens-cost, 0), max(m.capacity, m.lifted))
}

// lift makes room for the cost of the first in line, A12.
func (m *rateModel) lift(now time.Time, cost float64) {
	m.refill(m.forward(now))
	m.lifted = cost
	m.spend(0)
}

// until is how many seconds a caller has to wait for so many tokens, A01 and A10.
func (m *rateModel) until(now time.Time, cost float64) float64 {
	if !m.limited {
		return 0 // and no instant that counts as seen, A13
	}
	if now = m.forward(now); !m.limited {
		return 0
	}
	m.refill(now)
	return max(cost-m.tokens, 0) / m.fill
}

// take takes tokens that until says are there.
func (m *rateModel) take(now time.Time, cost float64) {
	if m.until(now, cost); m.limited {
		m.spend(cost)
	}
}

// give puts tokens back.
func (m *rateModel) give(now time.Time, tokens float64) { m.take(now, -tokens) }
