package proptest_test

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

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
	lifted                 float64   // the cost of the first in line, A12
	filled                 time.Time // up to when; zero before the first refill
}

func newRateModel(start time.Time, config sendrate.Config) *rateModel {
	m := &rateModel{
		config: config, ceiling: math.Inf(1), start: start, newest: start, lastThrottle: start,
		cost: config.Cost,
	}
	m.starting = float64(config.StartingRate)
	if config.Ceiling > 0 {
		m.ceiling = float64(config.Ceiling)
		m.starting = min(or(m.starting, m.ceiling), m.ceiling)
	}
	if m.starting > 0 {
		m.starting, m.limited = max(m.starting, 0.5), true
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

// setRate is A02.
func (m *rateModel) setRate(now time.Time, rate float64) {
	m.refill(now)
	rate = min(rate, m.ceiling)
	m.fill, m.capacity = max(rate, 0.5), max(rate, 1, m.cost)
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
