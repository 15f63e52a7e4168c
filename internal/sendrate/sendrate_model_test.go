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

// rateModel is the send rate as its rules A01 to A16 say it, in seconds and tokens, and as known limits and the doubt of a finder
// change that. It keeps all responses, and measures from the whole list. A finder that is alone has the rate, and the model
// only bounds it.
type rateModel struct {
	config                                sendrate.Config
	starting, ceiling, least, room, burst float64 // burst is 0 if it is not known
	start, newest                         time.Time
	responses                             []response
	of                                    int       // so many responses is rate the measured rate
	rate                                  float64   // so that it is not measured again
	lastMax, floor                        float64   // of the climb
	lastThrottle                          time.Time // of the climb; the start, until there is one
	lastCut                               time.Time // zero before the first
	limited, cut                          bool
	slack                                 float64
	served                                bool // since the last cut or slack

	line     [][2]float64 // requests served and seconds passed since a throttle, at each throttle since; nil before the first
	n, spent float64      // since the last of these
	last     time.Time    // answer of the line
	alone    bool

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
		m.tokens, m.lastMax = max(1, m.burst), m.starting
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
	if m.of == len(m.responses) {
		return m.rate
	}
	halfSeconds := func(at time.Time) int64 { return at.Truncate(500*time.Millisecond).UnixMilli() / 500 }
	rate, window, counted := 0.0, halfSeconds(m.start.Truncate(time.Second)), 0.0
	for _, r := range m.responses {
		counted += r.cost
		if later := halfSeconds(r.at); later > window {
			rate = 0.8*counted/(0.5*float64(later-window)) + 0.2*rate
			window, counted = later, 0
		}
	}
	m.of, m.rate = len(m.responses), rate
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

// top is the highest rate.
func (m *rateModel) top() float64 { return m.ceiling * (1 - m.slack) }

// report counts a response, A04 to A07, and reports whether the rate was cut. got is the rate of a finder that is alone; NaN if
// it is not.
func (m *rateModel) report(t require.TestingT, now time.Time, r ratelimit.Response, got float64) (cut bool) {
	now = m.forward(now)
	cost := cmp.Or(amountOf(r.Cost), 1)
	m.responses = append(m.responses, response{now, cost})
	sdk := m.config.Controller == ratelimit.CutPerThrottle
	if r.Throttled && !sdk && !m.lastCut.IsZero() && !r.Sent.IsZero() && r.Sent.Before(m.lastCut) {
		m.refill(now)
		return false
	}
	if r.Throttled && !sdk && m.served && !m.alone && m.slack < 0.09 && m.fill >= m.top() {
		m.slack, m.served, m.lastCut = m.slack+0.02, false, now
		m.setRate(now, m.fill)
		return true
	}
	outage := !sdk && m.judge(t, now, cost, r.Throttled, got)
	rate := m.known()
	switch {
	case m.alone:
		require.GreaterOrEqual(t, got, min(m.least, sendrate.HoldLeast))
		require.LessOrEqual(t, got, max(m.fill, 3*m.measured(), sendrate.HoldLeast)*(1+1e-12))
		rate = got
	case !r.Throttled:
		rate = max(min(m.climbed(now.Sub(m.lastThrottle).Seconds()), 2*rate), m.least)
	default:
		if m.limited {
			rate = min(rate, m.fill)
		}
		if !outage || m.lastMax < 4*m.unit() {
			m.lastMax = rate
		}
		m.floor, m.lastThrottle = 0.7*rate, now
		rate = max(m.floor, m.least)
	}
	if m.served = !r.Throttled; m.served {
		m.slack = max(m.slack-0.0004, 0)
	} else {
		m.limited, m.cut, m.lastCut = true, true, now
	}
	m.setRate(now, rate)
	if r.Throttled && (m.alone || m.burst > 0) {
		m.tokens = min(m.tokens, m.room)
	}
	return r.Throttled
}

// unit is how many tokens a request costs.
func (m *rateModel) unit() float64 { return cmp.Or(amountOf(m.config.Cost), 1) }

// judge looks whether what was served lies on a line at all throttles, and returns whether nothing was since the last.
func (m *rateModel) judge(t require.TestingT, now time.Time, cost float64, throttled bool, got float64) (outage bool) {
	if used := m.fill <= 3*m.measured(); used {
		if !m.last.IsZero() {
			m.spent += now.Sub(m.last).Seconds()
		}
		if !throttled {
			m.n += cost / m.unit()
		}
	}
	m.last = now
	if !throttled {
		require.Equal(t, m.alone, !math.IsNaN(got))
		return false
	}
	if was := m.alone; was || m.line == nil {
		m.alone, m.line = was && !math.IsNaN(got), [][2]float64{{}}
	} else {
		before := m.line[len(m.line)-1]
		m.line = append(m.line, [2]float64{before[0] + m.n, before[1] + m.spent})
		low, high := 0.0, math.Inf(1)
		for _, at := range m.line[1:] {
			low, high = max(low, (at[0]-1)/max(at[1], 1e-9)), min(high, (at[0]+1)/max(at[1], 1e-9))
		}
		m.alone = low <= high && len(m.line) > sendrate.LineThrottles && before[0]+m.n >= 20
		if low > high {
			m.line = m.line[:1]
		}
	}
	require.Equal(t, m.alone, !math.IsNaN(got), "proof")
	outage = m.n == 0
	m.n, m.spent = 0, 0
	return outage
}

// climbed is the curve so many seconds after the last throttle. A starting rate is as a maximum that it has just come back to.
func (m *rateModel) climbed(seconds float64) float64 {
	if m.starting > 0 && !m.cut {
		return m.starting + 0.4*seconds*seconds*seconds
	}
	k := math.Cbrt(m.lastMax * 0.3 / 0.4)
	d, scale := seconds-k, 0.4
	if d < 0 {
		scale = (m.lastMax - m.floor) / (k * k * k)
	}
	return scale*d*d*d + m.lastMax
}

// setRate is A02.
func (m *rateModel) setRate(now time.Time, rate float64) {
	m.refill(now)
	m.fill = min(rate, m.top())
	m.capacity = max(cmp.Or(m.burst, m.fill), m.room)
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
	require.LessOrEqual(t, state.FillRate, m.top())
	require.Equal(t, m.lastCut, state.LastThrottle)
}

// drawConfig draws known limits, or none.
func drawConfig(p *model.Player) sendrate.Config {
	none := ratelimit.Rate(model.From(p, 0, 0, -1, math.NaN()))
	return sendrate.Config{
		Controller:   model.From(p, ratelimit.FindLimit, ratelimit.CutPerThrottle),
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
		report := func(now time.Time, r ratelimit.Response) {
			cut, got := rate.Report(now, r), math.NaN()
			if rate.Alone() {
				got = rate.State().FillRate
			}
			require.Equal(p, m.report(p, now, r, got), cut)
		}
		for range 60 {
			late := now.Add(-model.From(p, 0, 0, 0, time.Nanosecond, 2*time.Second))
			amount := model.From(p, 0, -1, math.NaN(), 1, 3*p.Float64(), 3*p.Float64(), 20)
			switch op := model.From(p, "pass", "report", "report", "crowd", "service", "take", "take", "give", "lift", "another clock"); op {
			case "pass":
				now = now.Add(p.Pause())
				p.Step("now %v", now)
			case "report":
				r := ratelimit.Response{Throttled: p.Once(2), Cost: model.From(p, 0, -1, 0.5, 2.5, math.NaN())}
				if p.Once(2) {
					r.Sent = late.Add(-p.Pause())
				}
				p.Step("at %v %+v", late, r)
				report(late, r)
			case "crowd": // so that the rate gets somewhere
				for range 2 + p.IntN(60) {
					report(now, ratelimit.Response{})
				}
			case "service": // that serves as many between any two throttles
				n, gap, cost := 1+p.IntN(3), p.Pause()/8, model.From(p, 0, 2.5)
				p.Step("%d served, %v apart, between throttles", n, gap)
				for range 20 + p.IntN(5) {
					for range n {
						now = now.Add(gap)
						report(now, ratelimit.Response{Cost: cost})
					}
					report(now, ratelimit.Response{Cost: cost, Throttled: true})
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
