package sendrate_test

import (
	"cmp"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/ratelimit"
)

// rateModel is the send rate of CUBIC's controllers as its rules A01 to A16 say it, in seconds and tokens, and as known limits
// change that. It keeps all responses, and measures from the whole list.
type rateModel struct {
	config                                sendrate.Config
	starting, ceiling, least, room, burst float64 // burst is 0 if it is not known
	start, newest                         time.Time
	responses                             []response
	lastMax                               float64
	lastThrottle                          time.Time // the start, until there is one
	limited, cut                          bool

	fill, capacity, tokens float64
	lifted                 float64   // the cost of the first in line, A12
	filled                 time.Time // up to when; zero before the first refill
}

// response is one that arrived to an attempt of so many tokens.
type response struct {
	at   time.Time
	cost float64
}

// amount is a number of tokens or a rate: what is none counts as zero.
func amountOf[F ~float64](n F) float64 {
	if n > 0 {
		return float64(n)
	}
	return 0
}

func newRateModel(start time.Time, config sendrate.Config) *rateModel {
	m := &rateModel{
		config: config, start: start, newest: start, lastThrottle: start, least: 0.5, room: max(1, amountOf(config.Cost)),
		ceiling: cmp.Or(amountOf(config.Ceiling), math.Inf(1)),
	}
	m.starting = min(cmp.Or(amountOf(config.StartingRate), amountOf(config.Ceiling)), m.ceiling)
	if m.starting > 0 {
		m.least, m.limited, m.burst = min(0.5, m.starting/2), true, amountOf(config.Burst)
		m.setRate(start, m.starting)
		m.tokens = max(1, m.burst)
	}
	return m
}

// forward reads an old instant as the newest one, and begins anew at one that is older by more than a year, A13.
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
	halfSeconds := func(at time.Time) int64 { return at.Truncate(500*time.Millisecond).UnixMilli() / 500 }
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

// known is the measured rate, or the starting rate where that says more.
func (m *rateModel) known() float64 {
	measured := m.measured()
	if !m.cut || measured == 0 {
		return max(measured, m.starting)
	}
	return measured
}

// report counts a response, A04 to A07, and reports whether the rate was cut.
func (m *rateModel) report(now time.Time, r ratelimit.Response) (cut bool) {
	now = m.forward(now)
	m.responses = append(m.responses, response{now, cmp.Or(amountOf(r.Cost), 1)})
	measured := m.known()
	if !r.Throttled {
		m.setRate(now, min(m.climbed(now.Sub(m.lastThrottle).Seconds()), 2*measured))
		return false
	}
	if m.cut && m.config.Controller != ratelimit.CutPerThrottle && !r.Sent.IsZero() && r.Sent.Before(m.lastThrottle) {
		m.refill(now)
		return false
	}
	m.lastMax = measured
	if m.limited {
		m.lastMax = min(measured, m.fill)
	}
	m.limited, m.cut, m.lastThrottle = true, true, now
	m.setRate(now, 0.7*m.lastMax)
	if m.burst > 0 {
		m.tokens = min(m.tokens, m.room)
	}
	return true
}

// climbed is the curve so many seconds after the last throttle. A starting rate is as a maximum that it has just come back to.
func (m *rateModel) climbed(seconds float64) float64 {
	if m.starting > 0 && !m.cut {
		return m.starting + 0.4*seconds*seconds*seconds
	}
	return 0.4*math.Pow(seconds-math.Cbrt(m.lastMax*0.3/0.4), 3) + m.lastMax
}

// setRate is A02.
func (m *rateModel) setRate(now time.Time, rate float64) {
	m.refill(now)
	rate = min(rate, m.ceiling)
	m.fill, m.capacity = max(rate, m.least), max(cmp.Or(m.burst, rate), m.room)
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
	m.lifted = amountOf(cost)
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
	return max(amountOf(cost)-m.tokens, 0) / m.fill
}

// give puts tokens back, or takes those that until says are there.
func (m *rateModel) give(now time.Time, tokens float64) {
	if m.until(now, 0); m.limited {
		m.spend(-tokens)
	}
}

// requireClose allows for the rounding of floats and of waits to the nanosecond, at some tokens a second.
func requireClose(t require.TestingT, want, got float64, what string) {
	require.InDelta(t, want, got, 1e-8+1e-7*max(want, -want), what)
}

func (m *rateModel) check(t require.TestingT, rate *sendrate.SendRate) {
	state := rate.State()
	require.Equal(t, m.limited, state.Limited)
	requireClose(t, m.measured(), state.MeasuredRate, "measured rate")
	requireClose(t, m.fill, state.FillRate, "fill rate")
	requireClose(t, m.capacity, state.SendCapacity, "capacity")
	requireClose(t, m.tokens, state.SendTokens, "tokens")
	require.GreaterOrEqual(t, state.SendTokens, 0.0)
	require.LessOrEqual(t, state.SendTokens, max(state.SendCapacity, m.lifted))
	require.LessOrEqual(t, state.FillRate, max(m.least, m.ceiling))
	if m.cut {
		require.Equal(t, m.lastThrottle, state.LastThrottle)
	} else {
		require.Zero(t, state.LastThrottle)
	}
}

// drawConfig draws known limits, or none.
func drawConfig(p *model.Player) sendrate.Config {
	none := ratelimit.Rate(model.From(p, 0, 0, -1, math.NaN()))
	return sendrate.Config{
		Controller:   model.From(p, ratelimit.CutPerEvent, ratelimit.CutPerThrottle),
		StartingRate: model.From(p, none, none, 0.1, 0.5, 3, 100),
		Ceiling:      model.From(p, none, none, 0.2, 0.6, 2, 7, 300),
		Cost:         model.From(p, 0, -1, 0.5, 2.5),
		Burst:        model.From(p, 0, -1, 0.5, 40),
	}
}

func FuzzSendRateByItsRules(f *testing.F) {
	model.Play(f, 300, func(p *model.Player) {
		config, now := drawConfig(p), at(p.Float64())
		rate, m := sendrate.New(config, now), newRateModel(now, config)
		p.Step("%+v at %v", config, now)
		for range 60 {
			late := now.Add(-model.From(p, 0, 0, 0, time.Nanosecond, 2*time.Second))
			amount := model.From(p, 0, -1, math.NaN(), 1, 3*p.Float64(), 3*p.Float64(), 20)
			switch op := model.From(p, "pass", "report", "report", "crowd", "take", "take", "give", "lift", "another clock"); op {
			case "pass":
				now = now.Add(p.Pause())
				p.Step("now %v", now)
			case "report":
				r := ratelimit.Response{Throttled: p.Once(2), Cost: model.From(p, 0, -1, 0.5, 2.5, math.NaN())}
				if p.Once(2) {
					r.Sent = late.Add(-p.Pause())
				}
				p.Step("at %v %+v", late, r)
				require.Equal(p, m.report(late, r), rate.Report(late, r))
			case "crowd": // so that the rate gets somewhere
				for range 2 + p.IntN(60) {
					m.report(now, ratelimit.Response{})
					rate.Report(now, ratelimit.Response{})
				}
			case "take":
				now = takeBoth(p, &rate, m, now, late, amount)
			case "give":
				p.Step("give %v at %v", amount, late)
				rate.Give(late, amount)
				m.give(late, amountOf(amount))
			case "lift":
				p.Step("lift %v at %v", amount, late)
				rate.Lift(late, amount)
				m.lift(late, amount)
			default:
				now = m.newest.Add(-365*24*time.Hour + model.From(p, 0, -1, -time.Hour))
				p.Step("%s, %v", op, now)
				requireClose(p, m.until(now, amount), rate.Until(now, amount).Seconds(), "until")
				now = m.newest
			}
			m.check(p, &rate)
		}
	})
}

// takeBoth takes tokens, or waits as long as it is told, two rounds at most: the first may be without room for the cost.
func takeBoth(p *model.Player, rate *sendrate.SendRate, m *rateModel, now, late time.Time, cost float64) time.Time {
	p.Step("take %v at %v", cost, late)
	requireClose(p, m.until(late, cost), rate.Until(late, cost).Seconds(), "until")
	until := rate.Until(late, cost)
	due, granted := rate.Take(late, cost)
	require.Equal(p, until == 0, granted)
	if !m.limited {
		require.Equal(p, late, due)
		return now
	}
	require.Equal(p, until, due.Sub(m.newest))
	if !granted {
		rate.Lift(m.newest, cost)
		m.lift(m.newest, cost)
		due, _ = rate.Take(m.newest, cost)
		now = due
		m.until(now, cost)
		_, granted = rate.Take(now, cost)
		require.True(p, granted, "the wait was not enough")
	}
	m.spend(amountOf(cost))
	require.InDelta(p, m.tokens, rate.State().SendTokens, 1e-6*(1+m.fill))
	m.tokens = rate.State().SendTokens // the wait was rounded to the nanosecond
	return now
}
