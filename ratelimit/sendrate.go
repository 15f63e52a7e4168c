package ratelimit

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
)

// SendRate is the state of adaptive mode for one scope: it measures the rate of
// responses, steers a send rate by their throttles and hands out send tokens
// from a bucket that fills at that rate. Until the first throttle it limits
// nothing. Use NewSendRate; it is not safe for concurrent use.
//
// Time never moves back in it: an instant before the newest one it has seen is
// read as the newest one. One that is more than 365 days older is of another clock,
// such as that of a testing/synctest bubble: there the state begins anew.
type SendRate struct {
	ceiling  Rate // math.Inf(1) if there is none
	starting Rate // 0 if there is none

	newest   time.Time
	measured MeasuredRate
	success  SuccessRate // of Steady
	cubic    Cubic
	bucket   Bucket
	limited  bool
	cut      bool // at least once; lastCut is when it was last
	lastCut  time.Time
}

// SendRateConfig describes a SendRate. Its zero value is the default.
type SendRateConfig struct {
	// Controller steers the rate; zero means CutPerEvent, and so does one that does
	// not exist.
	Controller Controller
	// ProbeEvery is how many requests pass from a cut of the rate until it is back where
	// it was cut and asks for more, at least; zero means as many as the curve makes of
	// it, about 2 seconds' worth. Only Steady heeds it. A service that allows 5 requests
	// a second is probed with every tenth of them otherwise. The time that the requests
	// take is that at the rate of the cut, and a day at most. A cut below MinFillRate says
	// too little, and the curve stays as it is. A negative number counts as zero. See
	// adaptive.Config.ProbeEvery for what it brings, and for whom it is wrong.
	ProbeEvery int
	// StartingRate limits from the start on, at this rate, for a limit that is
	// published: no throttle is needed to learn it. The first send token is there
	// at once. Until the first throttle the rate does not fall below StartingRate
	// and grows from it as CUBIC does when it is back at the old maximum. Zero means
	// Ceiling, and without a ceiling that nothing is limited before the first
	// throttle.
	StartingRate Rate
	// Ceiling is a rate that the send rate never exceeds; zero means none. It is
	// subject to MinFillRate.
	Ceiling Rate
	// Cost is how many send tokens an attempt takes that is no exception; zero means
	// one. The bucket has room for as many, however low the rate: if it had not, no
	// attempt that cannot wait would ever be sent again.
	Cost float64
	// Start is when a Limiter's measurement begins; zero means when it is made.
	Start time.Time
}

// NewSendRate returns a state that begins at start, whatever config.Start is.
// Rates that are negative or not a number count as zero.
func NewSendRate(config SendRateConfig, start time.Time) SendRate {
	s := SendRate{
		ceiling: Rate(math.Inf(1)),
		cubic: Cubic{
			controller: config.Controller,
			probe:      float64(config.ProbeEvery) * Request{Cost: config.Cost}.cost(),
		},
	}
	s.bucket.room = amount(config.Cost)
	starting := Rate(amount(float64(config.StartingRate)))
	if ceiling := Rate(amount(float64(config.Ceiling))); ceiling > 0 {
		s.ceiling = ceiling
		if starting == 0 || starting > ceiling {
			starting = ceiling
		}
	}
	if starting > 0 {
		s.starting = max(starting, MinFillRate)
	}
	s.anew(start)
	return s
}

// anew makes the state one that begins at start and has seen nothing.
func (s *SendRate) anew(start time.Time) {
	*s = SendRate{
		ceiling:  s.ceiling,
		starting: s.starting,
		bucket:   Bucket{room: s.bucket.room},
		newest:   start,
		measured: NewMeasuredRate(start),
		cubic:    Cubic{controller: s.cubic.controller, probe: s.cubic.probe, lastThrottle: start},
	}
	if s.starting > 0 {
		s.begin(start, s.starting)
	}
}

// begin turns limiting on at a rate that is known to be good, as if CUBIC had just
// come back to it.
func (s *SendRate) begin(start time.Time, rate Rate) {
	s.limited = true
	s.cubic.setMax(rate)
	s.cubic.lastThrottle = start.Add(-s.cubic.recovery())
	s.bucket.SetRate(start, rate)
	s.bucket.Give(start, 1)
}

// Response is what an attempt tells a SendRate.
type Response struct {
	// Sent is when the attempt was sent; zero means the time of the response.
	Sent time.Time
	// Throttled is true for an answer that is a throttle. Every other answer,
	// an error included, is false.
	Throttled bool
	// Cost is how many send tokens the attempt took, as in Request; zero or less means
	// one. The measured rate counts it, because it is compared with the send rate.
	Cost float64
}

// Report counts a response that arrived at now and sets the send rate:
//
//	throttle     rate to use = measured rate, or min(measured, fill) once
//	             limiting is on; new rate = 0.7 * rate to use; limiting is on
//	             from now on
//	otherwise    new rate = what Cubic.Success says
//	both         never above twice the measured rate, nor above the ceiling
//
// A starting rate stands in for a measured rate below it until the first throttle,
// as demand that is lower than a known limit says nothing about the limit, and
// after it for as long as nothing has been measured.
//
// With Steady the measured rate is that of the successes, and 0.9 stands in for 0.7.
// Report says whether the response was a throttle that cut the rate.
func (s *SendRate) Report(now time.Time, r Response) (cut bool) {
	now = s.forward(now)
	measured := s.measure(now, r)
	var rate Rate
	switch {
	case !r.Throttled:
		rate = s.cubic.Success(now)
	case s.answersEarlierCut(now, r.Sent):
		return false
	default:
		use := measured
		if s.limited {
			use = min(use, s.bucket.Fill())
		}
		rate = s.cubic.Throttle(now, use)
		s.limited, s.cut, s.lastCut, cut = true, true, now, true
	}
	s.bucket.SetRate(now, min(rate, 2*measured, s.ceiling))
	return cut
}

// measure counts the response and returns the rate that the controller goes by.
func (s *SendRate) measure(now time.Time, r Response) Rate {
	cost := Request{Cost: r.Cost}.cost()
	var measured Rate
	switch {
	case s.cubic.controller != Steady:
		measured = s.measured.Response(now, cost)
	case r.Throttled:
		measured = s.success.Response(now, 0)
	default:
		measured = s.success.Response(now, cost)
	}
	if !s.cut || measured == 0 {
		return max(measured, s.starting)
	}
	return measured
}

// answersEarlierCut reports whether a throttle belongs to the congestion event
// that the last cut answered already: only strictly before counts.
func (s *SendRate) answersEarlierCut(now, sent time.Time) bool {
	if s.cubic.controller == CutPerThrottle || !s.cut {
		return false
	}
	if sent.IsZero() {
		sent = now
	}
	return sent.Before(s.lastCut)
}

// Take takes cost send tokens at now. Before the first throttle that is free,
// deducts nothing, and now does not count as an instant seen. Otherwise see
// Bucket.Take.
func (s *SendRate) Take(now time.Time, cost float64) (wait time.Duration, ok bool) {
	if !s.limited {
		return 0, true
	}
	if now = s.forward(now); !s.limited {
		return 0, true // it began anew
	}
	return s.bucket.Take(now, cost)
}

// Until returns how long a caller that wants cost tokens has to wait at the
// present rate, see Bucket.Until. It takes nothing.
func (s *SendRate) Until(now time.Time, cost float64) time.Duration {
	if !s.limited {
		return 0
	}
	if now = s.forward(now); !s.limited {
		return 0 // it began anew
	}
	return s.bucket.Until(now, cost)
}

// Give puts send tokens back that were taken and not used.
func (s *SendRate) Give(now time.Time, cost float64) {
	if !s.limited {
		return
	}
	if now = s.forward(now); s.limited {
		s.bucket.Give(now, cost)
	}
}

// Lift lets the bucket fill up to cost for the first in line, see Bucket.Lift.
func (s *SendRate) Lift(now time.Time, cost float64) { s.bucket.Lift(s.forward(now), cost) }

// Fill reports the send rate.
func (s *SendRate) Fill() Rate { return s.bucket.Fill() }

// SetRate sets the send rate by hand, not above the ceiling, and turns limiting on.
func (s *SendRate) SetRate(now time.Time, rate Rate) {
	now = s.forward(now)
	s.limited = true
	s.bucket.SetRate(now, min(rate, s.ceiling))
}

// SendRateState is a SendRate at an instant.
type SendRateState struct {
	// Limited is true from the first throttle on, or from the start if there is a
	// starting rate.
	Limited bool
	// FillRate is the send rate: tokens that the bucket gains each second.
	FillRate Rate
	// MeasuredRate is the smoothed rate of responses that the controller goes by, in
	// tokens per second: of all, or with Steady of the successes.
	MeasuredRate Rate
	// Capacity is the most tokens the bucket holds.
	Capacity float64
	// Tokens are those in the bucket as of the last call.
	Tokens float64
	// LastThrottle is when the rate was last cut; zero if never.
	LastThrottle time.Time
	// Source is where the send rate comes from: "local" for a SendRate, which finds it
	// by itself, or what a limiter from outside says, such as one of a fleet.
	Source string
}

// State reports the state as of the last call.
func (s *SendRate) State() SendRateState {
	measured := s.measured.Rate()
	if s.cubic.controller == Steady {
		measured = s.success.Rate()
	}
	return SendRateState{
		Limited:      s.limited,
		FillRate:     s.bucket.Fill(),
		MeasuredRate: measured,
		Capacity:     s.bucket.Capacity(),
		Tokens:       s.bucket.Tokens(),
		LastThrottle: s.lastCut,
		Source:       "local",
	}
}

// forward reads an instant, see SendRate.
func (s *SendRate) forward(now time.Time) time.Time {
	switch {
	case now.After(s.newest):
		s.newest = now
	case instant.OfAnotherClock(now, s.newest):
		s.anew(now)
	}
	return s.newest
}
