package sendrate

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/refill"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// SendRate is the send rate of one scope in adaptive mode. It measures the rate of the responses,
// adjusts the send rate to them, and hands out send tokens from a bucket that fills at that rate.
// Before the first throttle it limits nothing, unless there is a starting rate. Use [New]. It takes
// the time as an argument and is not safe for concurrent use; a [Limiter] is.
//
// Its time never goes back: an instant before the newest one that it has seen counts as the newest
// one. An instant that is more than 365 days older, or 292 years newer, resets the state, because
// it comes from another clock, such as that of a testing/synctest bubble. In a Limiter, whose instants
// are readings of a clock, one that is more than 5 seconds older shows that the clock has gone back, and
// time goes on from there.
type SendRate struct {
	config   Config
	ceiling  ratelimit.Rate // math.Inf(1) if there is none
	starting ratelimit.Rate // 0 if there is none

	newest   time.Time
	measured measuredRate
	cubic    cubic
	hold     hold // of ratelimit.Hold, which has no use for cubic
	bucket   bucket
	limited  bool
	cut      bool // at least once; lastCut is when it was last
	lastCut  time.Time
}

// Config describes a [SendRate]. Its zero value is the adaptive mode of the AWS SDKs with one cut
// for each congestion event. Rates and costs that are negative or NaN count as zero.
type Config struct {
	// Controller says how answers change the rate. Zero means [ratelimit.CutPerEvent], as does any
	// value that is not a controller.
	Controller ratelimit.Controller
	// StartingRate is the initial rate for a known limit, in tokens per second: it limits attempts
	// from the first one on, without a throttle. The first send token is there at once, or Burst. Before the
	// first throttle the rate does not fall below StartingRate, and it grows as CUBIC does from its
	// old maximum. Zero means Ceiling; without a ceiling, nothing is limited before the first
	// throttle.
	StartingRate ratelimit.Rate
	// Ceiling is the maximum send rate, in tokens per second; zero means none. If it or StartingRate is below
	// 1, the lowest rate is half of the lower one instead of [MinFillRate].
	Ceiling ratelimit.Rate
	// Burst is how many tokens the bucket holds, and has at the start, if there is a known limit. A throttle
	// empties it. Zero means a second of the rate, and one token at the start.
	Burst float64
	// Cost is how many send tokens a usual attempt takes; zero means one. The bucket has room for
	// that many at any rate: otherwise an attempt that cannot wait would never be sent.
	Cost float64
	// Start is when the measurement of a [Limiter] begins; zero means when the limiter is made.
	Start time.Time

	clocked bool // the instants are readings of a clock
}

// New returns a state that begins at start and ignores config.Start. With the zero time it begins
// at the first instant that it gets.
func New(config Config, start time.Time) SendRate {
	s := SendRate{config: config, ceiling: ratelimit.Rate(math.Inf(1)), newest: start}
	s.starting = ratelimit.Rate(refill.Amount(float64(config.StartingRate)))
	if ceiling := ratelimit.Rate(refill.Amount(float64(config.Ceiling))); ceiling > 0 {
		s.ceiling = ceiling
		if s.starting == 0 || s.starting > ceiling {
			s.starting = ceiling
		}
	}
	s.bucket.room, s.bucket.least = refill.Amount(config.Cost), MinFillRate
	if config.Controller == ratelimit.Hold {
		s.bucket.least = holdLeast
	}
	if s.starting > 0 {
		s.bucket.least = min(s.bucket.least, s.starting/2)
		s.bucket.burst = refill.Amount(config.Burst)
	}
	s.measured, s.cubic.lastThrottle = newMeasuredRate(start), start
	unit := refill.Cost(config.Cost)
	s.hold = hold{unit: unit, least: float64(s.bucket.least) / unit, ceiling: float64(s.ceiling) / unit}
	if s.starting > 0 {
		s.begin(start, s.starting)
	}
	return s
}

// begin turns limiting on at a rate known to be good, as if CUBIC had just climbed back to it.
func (s *SendRate) begin(start time.Time, rate ratelimit.Rate) {
	s.limited = true
	s.cubic.setMax(rate)
	s.cubic.lastThrottle = start.Add(-time.Duration(s.cubic.k * float64(time.Second)))
	s.hold.Begin(start, rate)
	s.bucket.SetRate(start, rate)
	s.bucket.Give(start, max(1, s.bucket.burst))
}

// Report counts a response that arrived at now and sets the send rate. Of CUBIC's controllers:
//
//	throttle     rate to use = measured rate, or min(measured, fill) once limiting is on;
//	             new rate = 0.7 * rate to use; limiting is on from now on
//	otherwise    new rate = 0.4 * (dt - K)^3 + last rate to use, dt seconds after the last cut,
//	             with K = cbrt(last rate to use * (1 - 0.7) / 0.4)
//	both         never above twice the measured rate, nor above the ceiling
//
// Before the first throttle the starting rate replaces a lower measured rate, because demand below a
// known limit says nothing about the limit. After the first throttle it does so until there is a
// measurement. For [ratelimit.Hold], see hold.
//
// Report returns whether the response was a throttle that cut the rate.
func (s *SendRate) Report(now time.Time, r ratelimit.Response) (cut bool) {
	now = s.forward(now)
	cost := refill.Cost(r.Cost)
	measured := s.measured.Response(now, cost)
	if r.Throttled && s.answersEarlierCut(now, r.Sent) {
		return false
	}
	var rate ratelimit.Rate
	switch {
	case s.config.Controller != ratelimit.Hold:
		rate = s.curve(now, r.Throttled)
	case r.Throttled:
		rate = s.hold.Throttle(now, measured)
	default:
		rate = s.hold.Success(now, cost, measured)
	}
	if r.Throttled {
		s.limited, s.cut, s.lastCut = true, true, now
		if s.config.Controller == ratelimit.Hold || s.bucket.burst > 0 {
			s.bucket.Empty(now)
		}
	}
	s.bucket.SetRate(now, min(rate, s.ceiling))
	return r.Throttled
}

// curve returns the rate of CUBIC's controllers after an answer at now.
func (s *SendRate) curve(now time.Time, throttled bool) ratelimit.Rate {
	measured := s.measured.rate
	if !s.cut || measured == 0 {
		measured = max(measured, s.starting)
	}
	if !throttled {
		return min(s.cubic.Success(now), 2*measured)
	}
	use := measured
	if s.limited {
		use = min(use, s.bucket.fill)
	}
	return min(s.cubic.Throttle(now, use), 2*measured)
}

// answersEarlierCut reports whether a throttle belongs to the congestion event of the last cut,
// because its attempt was sent strictly before that cut.
func (s *SendRate) answersEarlierCut(now, sent time.Time) bool {
	if s.config.Controller == ratelimit.CutPerThrottle || !s.cut {
		return false
	}
	if sent.IsZero() {
		sent = now
	}
	return sent.Before(s.lastCut)
}

// Take takes cost send tokens if they are there. If not, it takes none and returns how long the
// missing ones take at the current rate: a caller that comes after exactly that time is not too
// early, and the wait is never zero. Before limiting begins, Take succeeds, takes nothing, and does
// not count now as an instant seen. Take does not wait. A negative cost counts as 0.
func (s *SendRate) Take(now time.Time, cost float64) (wait time.Duration, ok bool) {
	if now, limited := s.limitedAt(now); limited {
		return s.bucket.Take(now, cost)
	}
	return 0, true
}

// Until returns how long cost tokens take at the current rate, regardless of the capacity; zero if
// they are there or if nothing is limited yet. It takes nothing.
func (s *SendRate) Until(now time.Time, cost float64) time.Duration {
	if now, limited := s.limitedAt(now); limited {
		return s.bucket.Until(now, cost)
	}
	return 0
}

// Give returns send tokens that were taken but not used.
func (s *SendRate) Give(now time.Time, cost float64) {
	if now, limited := s.limitedAt(now); limited {
		s.bucket.Give(now, cost)
	}
}

// limitedAt returns the instant to use for now, and reports whether attempts are limited then.
func (s *SendRate) limitedAt(now time.Time) (time.Time, bool) {
	if !s.limited {
		return now, false
	}
	now = s.forward(now)
	return now, s.limited // not if it was reset
}

// Lift lets the bucket fill up to cost, for a caller that is first in line and costs more
// than the capacity; a cost of 0 ends that. It takes effect from now on.
func (s *SendRate) Lift(now time.Time, cost float64) { s.bucket.Lift(s.forward(now), cost) }

// Fill returns the send rate.
func (s *SendRate) Fill() ratelimit.Rate { return s.bucket.fill }

// State returns the send rate fields of a snapshot, as of the last call that got the time.
func (s *SendRate) State() retry.ScopeSnapshot {
	return retry.ScopeSnapshot{
		SendRateSource: "local",
		Limited:        s.limited,
		FillRate:       float64(s.bucket.fill),
		MeasuredRate:   float64(s.measured.rate),
		SendTokens:     s.bucket.tokens,
		SendCapacity:   s.bucket.capacity,
		LastThrottle:   s.lastCut,
	}
}

// forward returns the instant to use for now, see SendRate.
func (s *SendRate) forward(now time.Time) time.Time {
	switch {
	case instant.OfAnotherClock(now, s.newest):
		*s = New(s.config, now)
	case s.config.clocked && instant.WentBack(now, s.newest):
		s.goOn(now)
	case now.After(s.newest):
		s.newest = now
	}
	return s.newest
}

// goOn moves the state to a clock that has gone back to now.
func (s *SendRate) goOn(now time.Time) {
	by := now.Sub(s.newest)
	for _, at := range [...]*time.Time{
		&s.cubic.lastThrottle, &s.hold.last, &s.bucket.last, &s.bucket.since, &s.lastCut,
	} {
		if !at.IsZero() {
			*at = at.Add(by)
		}
	}
	s.newest = now
	s.measured.goOn(now)
}
