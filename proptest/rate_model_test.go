package proptest_test

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// rateModel is the send rate of adaptive mode as its rules A01 to A16 say it, in
// seconds and tokens. It keeps all responses, and measures from the whole list.
type rateModel struct {
	cutPerThrottle bool
	start, newest  time.Time
	responses      []time.Time
	lastMax        float64
	lastThrottle   time.Time // the start, until there is one
	limited        bool

	fill, capacity, tokens float64
	lifted                 float64   // the cost of the first in line, A12
	filled                 time.Time // up to when; zero before the first refill
}

func newRateModel(start time.Time, cutPerThrottle bool) *rateModel {
	return &rateModel{cutPerThrottle: cutPerThrottle, start: start, newest: start, lastThrottle: start}
}

// forward reads an old instant as the newest one, A13.
func (m *rateModel) forward(now time.Time) time.Time {
	if now.After(m.newest) {
		m.newest = now
	}
	return m.newest
}

// measured is the rate of the responses so far, A03 and A16.
func (m *rateModel) measured() float64 {
	rate, window, counted := 0.0, halfSeconds(m.start.Truncate(time.Second)), 0
	for i, at := range m.responses {
		if later := halfSeconds(at); later > window {
			rate = 0.8*float64(i+1-counted)/(0.5*float64(later-window)) + 0.2*rate
			window, counted = later, i+1
		}
	}
	return rate
}

// halfSeconds is the window that an instant lies in.
func halfSeconds(at time.Time) int64 { return at.Truncate(500*time.Millisecond).UnixMilli() / 500 }

// report counts a response, A04 to A07. It reports whether the rate was cut.
func (m *rateModel) report(now time.Time, r ratelimit.Response) (cut bool) {
	now = m.forward(now)
	m.responses = append(m.responses, now)
	measured := m.measured()
	var rate float64
	if r.Throttled {
		sent := r.Sent
		if sent.IsZero() {
			sent = now
		}
		if m.limited && !m.cutPerThrottle && sent.Before(m.lastThrottle) {
			return false
		}
		m.lastMax = measured
		if m.limited {
			m.lastMax = min(measured, m.fill)
		}
		rate = 0.7 * m.lastMax
		m.limited, m.lastThrottle = true, now
	} else {
		dt := now.Sub(m.lastThrottle).Seconds()
		rate = 0.4*math.Pow(dt-math.Cbrt(m.lastMax*0.3/0.4), 3) + m.lastMax
	}
	m.setRate(now, min(rate, 2*measured))
	return r.Throttled
}

// setRate is A02.
func (m *rateModel) setRate(now time.Time, rate float64) {
	m.refill(now)
	m.fill, m.capacity = max(rate, 0.5), max(rate, 1)
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
	now = m.forward(now)
	if !m.limited {
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
