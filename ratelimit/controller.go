package ratelimit

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
)

// Controller says what the send rate is steered by. Those that cut once for each
// congestion event take a throttle that answers an attempt sent before the last cut
// for a part of the same event. If each of the requests in flight at the first throttle
// cut the rate, it would collapse.
type Controller uint8

const (
	// CutPerEvent is the curve of the adaptive mode of the AWS SDKs with one cut for
	// each congestion event: a throttle cuts the rate to 0.7 of what MeasuredRate says
	// or of what it is, whichever is less. It is the default.
	CutPerEvent Controller = iota
	// CutPerThrottle is that curve with a cut for every throttle, bit for bit as in the
	// AWS SDKs.
	CutPerThrottle
	// Steady takes the rate from the answers that are not throttles, see SuccessRate,
	// and cuts to 0.9 of it, once for each congestion event: what a service has served
	// a moment ago it will serve again. It finds the rate at once, stays closer to it,
	// and is no AWS SDK's. In all else it is as CutPerEvent.
	Steady
)

// Valid reports whether the controller exists.
func (c Controller) Valid() bool { return c <= Steady }

// String returns "cut-per-event", "cut-per-throttle", "steady" or "unknown".
func (c Controller) String() string {
	switch c {
	case CutPerEvent:
		return "cut-per-event"
	case CutPerThrottle:
		return "cut-per-throttle"
	case Steady:
		return "steady"
	default:
		return "unknown"
	}
}

// cut is what a cut leaves of the rate, and what it takes.
func (c Controller) cut() (leaves, takes float64) {
	if c == Steady {
		return steadyBeta, 1 - steadyBeta
	}
	return cubicBeta, 1 - cubicBeta
}

// Constants of the CUBIC controller, the same in every AWS SDK: on a throttle
// the rate is cut to beta times what it was, and afterwards it grows with the
// cube of time, scaled by scale.
const (
	cubicBeta  = 0.7
	cubicScale = 0.4
)

// longestProbe is how many seconds a curve takes at most that ProbeEvery makes longer.
const longestProbe = 24 * 60 * 60

// Cubic computes the send rate that adaptive mode aims at. A throttle cuts the
// rate; without one it climbs back to where it was cut, slowly around that
// point and faster beyond it. The zero value has seen no throttle and counts
// from the zero time; NewCubic sets another one. It is not safe for concurrent
// use.
type Cubic struct {
	controller   Controller
	probe        float64 // how many tokens Steady takes at least from a cut to lastMax
	lastMax      Rate
	k, scale     float64 // of lastMax; a scale of 0 is cubicScale
	lastThrottle time.Time
}

// NewCubic returns a curve that last was throttled at start, with a maximum of
// lastMax.
func NewCubic(start time.Time, lastMax Rate) Cubic {
	c := Cubic{lastThrottle: start}
	c.setMax(lastMax)
	return c
}

// Throttle notes a throttle at now and returns the reduced rate. rate is the
// one in use until then; it becomes the maximum to climb back to.
//
//	rate' = 0.7 * rate
func (c *Cubic) Throttle(now time.Time, rate Rate) Rate {
	c.setMax(rate)
	c.lastThrottle = now
	leaves, _ := c.controller.cut()
	return Rate(leaves) * rate
}

// Success returns the rate at now, with dt seconds since the last throttle:
//
//	rate = 0.4 * (dt - K)^3 + lastMax
//	K    = cbrt(lastMax * (1 - 0.7) / 0.4)
//
// K is when the curve reaches lastMax again, so that dt = 0 gives 0.7 * lastMax.
func (c *Cubic) Success(now time.Time) Rate {
	scale := cubicScale
	if c.scale > 0 {
		scale = c.scale
	}
	d := now.Sub(c.lastThrottle).Seconds() - c.k
	return Rate(float64(scale*float64(d*float64(d*d))) + float64(c.lastMax))
}

// setMax sets the maximum, and k: after how many seconds the rate is back at it. A
// curve that SendRateConfig.ProbeEvery makes longer begins at the same rate.
func (c *Cubic) setMax(rate Rate) {
	_, takes := c.controller.cut()
	c.lastMax, c.k, c.scale = rate, math.Cbrt(float64(rate)*takes/cubicScale), 0
	if c.controller != Steady || rate < MinFillRate {
		return
	}
	if k := min(c.probe/float64(rate), longestProbe); k > c.k {
		c.k, c.scale = k, float64(rate)*takes/(k*k*k)
	}
}

// recovery is k as a duration.
func (c *Cubic) recovery() time.Duration {
	return time.Duration(c.k * float64(time.Second))
}

// Constants of the measured rate, the same in every AWS SDK.
const (
	measureWindow = 500 * time.Millisecond
	measureSmooth = 0.8
)

// MeasuredRate measures how many tokens a second the attempts took whose responses
// arrive, in windows of half a second that lie on the clock's own grid, smoothed
// exponentially. Use NewMeasuredRate; it is not safe for concurrent use.
type MeasuredRate struct {
	second time.Time // the whole second of the start; windows are counted from it
	window int64     // the window that responses are being counted in
	count  float64
	rate   Rate
}

// NewMeasuredRate returns a measurement that begins in the whole second of
// start, with a rate of zero.
func NewMeasuredRate(start time.Time) MeasuredRate {
	return MeasuredRate{second: start.Add(-time.Duration(start.Nanosecond()))}
}

// Response counts the response at now to an attempt of so many tokens, and returns the
// rate. The first response of a later window closes the present one and counts in it:
//
//	rate' = 0.8 * count / (seconds between the windows) + 0.2 * rate
//
// A time before the newest window counts in the newest window; more than 365 days
// before it, the measurement begins anew.
func (m *MeasuredRate) Response(now time.Time, cost float64) Rate {
	if instant.OfAnotherClock(now, m.second.Add(time.Duration(m.window)*measureWindow)) {
		*m = NewMeasuredRate(now)
	}
	m.count += cost
	if window := int64(now.Sub(m.second) / measureWindow); window > m.window {
		seconds := float64(window-m.window) * measureWindow.Seconds()
		m.rate = Rate(float64(measureSmooth*(m.count/seconds)) + float64((1-measureSmooth)*float64(m.rate)))
		m.window, m.count = window, 0
	}
	return m.rate
}

// Rate reports the rate as of the last response.
func (m *MeasuredRate) Rate() Rate { return m.rate }

// Constants of Steady. They are this package's own; the proof in
// modes/adaptive shows what they come to.
const (
	steadyBeta   = 0.9
	steadyMemory = time.Second           // after which an answer weighs 1/e
	steadyIdle   = 5 * steadyMemory      // after which the past says nothing
	steadyShort  = 50 * time.Millisecond // the shortest time to divide by
)

// SuccessRate measures how many tokens a second the attempts took that succeeded, each
// weighing less the older it is. The zero value has seen none; it is not safe for concurrent use.
type SuccessRate struct {
	seen        bool // an answer
	began, last time.Time
	weight      float64 // per second, as of last
}

// Response notes an answer at now, which must not be before the last one, to an attempt
// that succeeded with so many tokens, or failed if that is 0. It returns the rate:
//
//	rate = sum of tokens * exp(-age of a success / 1 s) / 1 s / (1 - exp(-T / 1 s))
//
// with the time T since the first of these answers, at least 50 ms, so that the rate
// is right from the start and not only after some seconds. After 5 s without an
// answer the measurement begins anew.
func (m *SuccessRate) Response(now time.Time, succeeded float64) Rate {
	passed := now.Sub(m.last)
	if !m.seen || passed > steadyIdle {
		*m = SuccessRate{seen: true, began: now}
		passed = 0
	}
	m.weight *= math.Exp(-passed.Seconds() / steadyMemory.Seconds())
	m.last = now
	m.weight += succeeded / steadyMemory.Seconds()
	return m.Rate()
}

// Rate reports the rate as of the last answer.
func (m *SuccessRate) Rate() Rate {
	measured := max(m.last.Sub(m.began), steadyShort)
	return Rate(m.weight / -math.Expm1(-measured.Seconds()/steadyMemory.Seconds()))
}
