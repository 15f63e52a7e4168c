package sendrate

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// Constants that are the same in every AWS SDK; in aws-sdk-go-v2 they are in aws/retry/adaptive_ratelimit.go and
// adaptive_token_bucket.go.
const (
	cubicBeta     = 0.7                    // the part of the rate in use that a throttle leaves
	cubicScale    = 0.4                    // of the cube of time, with which the rate grows afterwards
	measureWindow = 500 * time.Millisecond // in which responses are counted
	measureSmooth = 0.8                    // the weight of the newest window

	// MinFillRate is the lowest send rate: half a token a second.
	MinFillRate ratelimit.Rate = 0.5
	minCapacity float64        = 1 // of a bucket
)

// cubic computes the send rate that adaptive mode aims at. A throttle cuts the rate; otherwise it
// climbs back to where it was cut, slowly around that point and faster beyond it. The zero value
// has seen no throttle and counts from the zero time. It is not safe for concurrent use.
type cubic struct {
	lastMax      ratelimit.Rate
	k            float64 // of lastMax
	scale        float64 // until k; then cubicScale
	lastThrottle time.Time
}

// Throttle notes a throttle at now and returns the reduced rate. rate is the rate in use, which
// becomes the maximum to climb back to.
//
//	rate' = 0.7 * rate
func (c *cubic) Throttle(now time.Time, rate ratelimit.Rate) ratelimit.Rate {
	c.setMax(rate)
	c.lastThrottle = now
	return cubicBeta * rate
}

// Again notes a throttle at now before which nothing was served: that says nothing about the maximum, which stays. The climb
// to it begins at the reduced rate.
func (c *cubic) Again(now time.Time, rate ratelimit.Rate) ratelimit.Rate {
	rate *= cubicBeta
	c.scale, c.lastThrottle = float64(c.lastMax-rate)/(c.k*c.k*c.k), now
	return rate
}

// Success returns the rate at now, with dt seconds since the last throttle:
//
//	rate = 0.4 * (dt - K)^3 + lastMax
//	K    = cbrt(lastMax * (1 - 0.7) / 0.4)
//
// K is when the curve reaches lastMax again, so that dt = 0 gives 0.7 * lastMax.
func (c *cubic) Success(now time.Time) ratelimit.Rate {
	d, scale := now.Sub(c.lastThrottle).Seconds()-c.k, cubicScale
	if d < 0 {
		scale = c.scale
	}
	return ratelimit.Rate(float64(scale*float64(d*float64(d*d))) + float64(c.lastMax))
}

// setMax sets the maximum, and k, the seconds until the rate is back at it.
func (c *cubic) setMax(rate ratelimit.Rate) {
	c.lastMax, c.k, c.scale = rate, math.Cbrt(float64(rate)*(1-cubicBeta)/cubicScale), cubicScale
}

// measuredRate measures the tokens per second of attempts as their responses arrive. It counts in
// windows of half a second aligned to the clock, and smooths exponentially. It is not safe for concurrent use.
type measuredRate struct {
	window time.Time // the beginning of the window that is being counted
	count  float64
	rate   ratelimit.Rate // as of the last response
}

// Response counts the response at now to an attempt of cost tokens, and returns the rate. The first
// response of a later window closes the current one and counts in it:
//
//	rate' = 0.8 * count / (seconds between the windows) + 0.2 * rate
//
// A time before the newest window counts in the newest window.
func (m *measuredRate) Response(now time.Time, cost float64) ratelimit.Rate {
	m.count += cost
	if passed := now.Sub(m.window).Truncate(measureWindow); passed > 0 {
		m.rate = ratelimit.Rate(float64(measureSmooth*(m.count/passed.Seconds())) + float64((1-measureSmooth)*float64(m.rate)))
		m.window, m.count = m.window.Add(passed), 0
	}
	return m.rate
}
