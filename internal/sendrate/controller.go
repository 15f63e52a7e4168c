package sendrate

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/ratelimit"
)

// cutOf returns the share of the rate that a cut of a controller leaves, and the share that it
// takes.
func cutOf(c ratelimit.Controller) (leaves, takes float64) {
	if c == ratelimit.Steady {
		return steadyBeta, 1 - steadyBeta
	}
	return cubicBeta, 1 - cubicBeta
}

// Constants of the CUBIC controller, the same in every AWS SDK (in aws-sdk-go-v2:
// aws/retry/adaptive_ratelimit.go). A throttle cuts the rate to beta times the rate in use.
// Afterwards the rate grows with the cube of time, scaled by scale.
const (
	cubicBeta  = 0.7
	cubicScale = 0.4
)

// longestProbe is the most seconds that a curve takes with Config.ProbeEvery.
const longestProbe = 24 * 60 * 60

// cubic computes the send rate that adaptive mode aims at. A throttle cuts the rate; otherwise it
// climbs back to where it was cut, slowly around that point and faster beyond it. The zero value
// has seen no throttle and counts from the zero time. It is not safe for concurrent use.
type cubic struct {
	controller   ratelimit.Controller
	probe        float64 // the minimum of tokens that Steady takes from a cut to lastMax
	lastMax      ratelimit.Rate
	k, scale     float64 // of lastMax; a scale of 0 is cubicScale
	lastThrottle time.Time
}

// Throttle notes a throttle at now and returns the reduced rate. rate is the rate in use, which
// becomes the maximum to climb back to.
//
//	rate' = 0.7 * rate
func (c *cubic) Throttle(now time.Time, rate ratelimit.Rate) ratelimit.Rate {
	c.setMax(rate)
	c.lastThrottle = now
	leaves, _ := cutOf(c.controller)
	return ratelimit.Rate(leaves) * rate
}

// Success returns the rate at now, with dt seconds since the last throttle:
//
//	rate = 0.4 * (dt - K)^3 + lastMax
//	K    = cbrt(lastMax * (1 - 0.7) / 0.4)
//
// K is when the curve reaches lastMax again, so that dt = 0 gives 0.7 * lastMax.
func (c *cubic) Success(now time.Time) ratelimit.Rate {
	scale := cubicScale
	if c.scale > 0 {
		scale = c.scale
	}
	d := now.Sub(c.lastThrottle).Seconds() - c.k
	return ratelimit.Rate(float64(scale*float64(d*float64(d*d))) + float64(c.lastMax))
}

// setMax sets the maximum, and k, the seconds until the rate is back at it. A curve that
// Config.ProbeEvery makes longer begins at the same rate.
func (c *cubic) setMax(rate ratelimit.Rate) {
	_, takes := cutOf(c.controller)
	c.lastMax, c.k, c.scale = rate, math.Cbrt(float64(rate)*takes/cubicScale), 0
	if c.controller != ratelimit.Steady || rate < MinFillRate {
		return
	}
	if k := min(c.probe/float64(rate), longestProbe); k > c.k {
		c.k, c.scale = k, float64(rate)*takes/(k*k*k)
	}
}

// recovery returns k as a duration.
func (c *cubic) recovery() time.Duration {
	return time.Duration(c.k * float64(time.Second))
}

// Constants of the measured rate, the same in every AWS SDK (in aws-sdk-go-v2:
// aws/retry/adaptive_ratelimit.go).
const (
	measureWindow = 500 * time.Millisecond
	measureSmooth = 0.8
)

// measuredRate measures the tokens per second of attempts as their responses arrive. It counts in
// windows of half a second aligned to the clock, and smooths exponentially. Use newMeasuredRate. It
// is not safe for concurrent use.
type measuredRate struct {
	second time.Time // the whole second of the start; windows are counted from it
	window int64     // the window that is being counted
	count  float64
	rate   ratelimit.Rate
}

// newMeasuredRate returns a measurement with a rate of zero that begins in the whole second of
// start.
func newMeasuredRate(start time.Time) measuredRate {
	return measuredRate{second: start.Add(-time.Duration(start.Nanosecond()))}
}

// Response counts the response at now to an attempt of cost tokens, and returns the rate. The first
// response of a later window closes the current one and counts in it:
//
//	rate' = 0.8 * count / (seconds between the windows) + 0.2 * rate
//
// A time before the newest window counts in the newest window. A time of another clock restarts the
// measurement.
func (m *measuredRate) Response(now time.Time, cost float64) ratelimit.Rate {
	if instant.OfAnotherClock(now, m.second.Add(time.Duration(m.window)*measureWindow)) {
		*m = newMeasuredRate(now)
	}
	m.count += cost
	if window := int64(now.Sub(m.second) / measureWindow); window > m.window {
		seconds := float64(window-m.window) * measureWindow.Seconds()
		m.rate = ratelimit.Rate(float64(measureSmooth*(m.count/seconds)) + float64((1-measureSmooth)*float64(m.rate)))
		m.window, m.count = window, 0
	}
	return m.rate
}

// goOn counts on, in the window of now.
func (m *measuredRate) goOn(now time.Time) {
	m.second = newMeasuredRate(now).second
	m.window = int64(now.Sub(m.second) / measureWindow)
}

// Rate returns the rate as of the last response.
func (m *measuredRate) Rate() ratelimit.Rate { return m.rate }

// Constants of Steady. No AWS SDK has them; the proof in modes/adaptive shows their effect.
const (
	steadyBeta   = 0.9
	steadyMemory = time.Second           // age at which an answer weighs 1/e
	steadyIdle   = 5 * steadyMemory      // age at which the past is ignored
	steadyShort  = 50 * time.Millisecond // the shortest time to divide by
)

// successRate measures the tokens per second of successful attempts; older ones weigh less. The
// zero value has seen none. It is not safe for concurrent use.
type successRate struct {
	seen        bool // an answer
	began, last time.Time
	weight      float64 // per second, as of last
}

// Response notes an answer at now, which must not be before the last one. succeeded is the tokens
// of a successful attempt, or 0. It returns the rate:
//
//	rate = sum of tokens * exp(-age of a success / 1 s) / 1 s / (1 - exp(-T / 1 s))
//
// T is the time since the first of these answers, at least 50 ms, which makes the rate right from
// the start and not only after some seconds. After 5 s without an answer the measurement restarts.
func (m *successRate) Response(now time.Time, succeeded float64) ratelimit.Rate {
	passed := now.Sub(m.last)
	if !m.seen || passed > steadyIdle {
		*m = successRate{seen: true, began: now}
		passed = 0
	}
	m.weight *= math.Exp(-passed.Seconds() / steadyMemory.Seconds())
	m.last = now
	m.weight += succeeded / steadyMemory.Seconds()
	return m.Rate()
}

// Rate returns the rate as of the last answer.
func (m *successRate) Rate() ratelimit.Rate {
	measured := max(m.last.Sub(m.began), steadyShort)
	return ratelimit.Rate(m.weight / -math.Expm1(-measured.Seconds()/steadyMemory.Seconds()))
}
