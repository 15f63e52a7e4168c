package ratelimit

import (
	"math"
	"time"
)

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

// LastMax reports the rate at the last throttle.
func (c *Cubic) LastMax() Rate { return c.lastMax }

// LastThrottle reports when the last throttle was, or the start.
func (c *Cubic) LastThrottle() time.Time { return c.lastThrottle }

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
