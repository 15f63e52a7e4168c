package sendrate

import (
	"cmp"
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// SendRate is the send rate of one scope in adaptive mode. It measures the rate of the responses,
// adjusts the send rate to them, and hands out send tokens from a bucket that fills at that rate. The rate is
// that of CUBIC, unless a finder knows a limit that is the client's own.
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
	known    bool           // the ceiling is that of the service, and not only a rate to begin with
	least    ratelimit.Rate // fill rate
	room     float64        // the lowest capacity
	burst    float64        // the capacity at any rate, if it is known; otherwise 0

	time     instant.Forward // of a clock that may go back
	read     time.Time       // the last reading
	now      time.Time       // the newest instant of that time, as all below
	measured measuredRate
	cubic    cubic
	finder   finder
	limited  bool
	cut      bool      // there was a cut, of more than slack
	lastCut  time.Time // slack or more; zero before the first
	slack    float64   // the share of the ceiling that throttles have taken
	served   bool      // something was, since the last cut

	fill     ratelimit.Rate
	capacity float64 // without a lift
	lifted   float64 // what the first in line costs, if that is above the capacity
	leaving  float64 // what those cost who have got tokens of a known limit and are still to leave

	// What the tokens grow from. Reads do not add to a sum, because each addition rounds and a read
	// must not prolong a wait.
	since time.Time
	base  float64
}

// Config describes a [SendRate]. Rates and costs that are negative or NaN count as zero.
type Config struct {
	// Controller says how answers change the rate. Zero means [ratelimit.FindLimit], as does any
	// value that is not a controller.
	Controller ratelimit.Controller
	// StartingRate is the initial rate for a known limit, in tokens per second: it limits attempts
	// from the first one on, without a throttle. The first send token is there at once, or Burst. Before the
	// first throttle the rate does not fall below StartingRate, and it grows as CUBIC does from its
	// old maximum. Zero means Ceiling; without a ceiling, nothing is limited before the first
	// throttle.
	StartingRate ratelimit.Rate
	// Ceiling is the maximum send rate, in tokens per second; zero means none. A throttle at this rate takes a fiftieth
	// of it, which fifty answers give back, unless nothing was served since the last cut or a tenth is gone. If it or StartingRate is below
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

// Constants of a known limit.
const (
	// slackStep is the share of a known limit that a throttle takes, and slackBack the share that an answer gives back: in
	// balance at 2 % throttles.
	slackStep, slackBack = 0.02, 0.0004
	// slackMost is the most that throttles take before one is a cut: a limit that is too high is found out by the sixth.
	slackMost = 0.1
)

// New returns a state that begins at start and ignores config.Start. With the zero time it begins
// at the first instant that it gets.
func New(config Config, start time.Time) SendRate {
	starting, ceiling, unit := limit.Amount(config.StartingRate), limit.Amount(config.Ceiling), limit.Cost(config.Cost)
	starting, ceiling = cmp.Or(starting, ceiling), cmp.Or(ceiling, ratelimit.Rate(math.Inf(1)))
	s := SendRate{
		config: config, ceiling: ceiling, starting: min(starting, ceiling),
		known: config.Controller != ratelimit.CutPerThrottle && !math.IsInf(float64(ceiling), 1),
		least: MinFillRate, room: max(minCapacity, limit.Amount(config.Cost)),
		read: start, now: start, cubic: cubic{lastThrottle: start},
		measured: measuredRate{window: start.Add(-time.Duration(start.Nanosecond()))}, // on the grid of whole seconds
	}
	s.time.At(start)
	if s.starting > 0 {
		s.least = min(s.least, s.starting/2)
	}
	s.finder = finder{unit: unit, least: float64(min(s.least, holdLeast)) / unit, ceiling: float64(s.ceiling) / unit}
	if s.starting > 0 { // limited from the start, at a rate known to be good, as if CUBIC had just climbed back to it
		s.limited, s.burst = true, limit.Amount(config.Burst)
		s.cubic.setMax(s.starting)
		s.cubic.lastThrottle = start.Add(-time.Duration(s.cubic.k * float64(time.Second)))
		s.setRate(s.starting)
		s.set(max(1, s.burst))
	}
	return s
}

// Report counts a response that arrived at now and sets the send rate to that of the controller, at most to the
// ceiling. A throttle turns limiting on. Report returns whether the response was a throttle that cut the rate.
func (s *SendRate) Report(now time.Time, r ratelimit.Response) (cut bool) {
	now = s.forward(now)
	cost := limit.Cost(r.Cost)
	measured := s.measured.Response(now, cost)
	if r.Throttled && s.config.Controller != ratelimit.CutPerThrottle && !r.Sent.IsZero() && s.time.Of(r.Sent).Before(s.lastCut) {
		return false // it belongs to the congestion event of the last cut
	}
	if r.Throttled && s.slackens() {
		s.lastCut = now
		s.setRate(s.fill)
		return true
	}
	rate := s.rate(now, cost, measured, r.Throttled)
	if s.served = !r.Throttled; s.served && s.slack > 0 {
		s.slack = max(s.slack-slackBack, 0)
	}
	if r.Throttled {
		s.limited, s.cut, s.lastCut = true, true, now
		if s.finder.state > doubt || s.burst > 0 { // so that no saved tokens go into an empty service
			s.set(min(s.tokens(), s.room))
		}
	}
	s.setRate(rate)
	return r.Throttled
}

// slackens reports whether a throttle takes only a small part of a known limit: at that limit, if something was served since
// the last cut, it is for a send that has left late, or chance.
func (s *SendRate) slackens() bool {
	if !s.known || !s.served || s.fill < s.top() || s.finder.state > doubt || s.slack > slackMost-slackStep/2 {
		return false
	}
	s.slack, s.served = s.slack+slackStep, false
	return true
}

// top returns the highest rate.
func (s *SendRate) top() ratelimit.Rate { return ratelimit.Rate(float64(s.ceiling) * (1 - s.slack)) }

// rate returns the rate after an answer at now.
func (s *SendRate) rate(now time.Time, cost float64, measured ratelimit.Rate, throttled bool) ratelimit.Rate {
	if s.config.Controller == ratelimit.CutPerThrottle {
		return s.curve(now, throttled)
	}
	if s.finder.Answer(now, cost, s.fill, measured, throttled); s.finder.state > doubt {
		return ratelimit.Rate(s.finder.rate * s.finder.unit)
	}
	return s.curve(now, throttled)
}

// curve returns the rate of CUBIC's controllers after an answer at now: at most twice the measured rate. A throttle
// cuts the measured rate, or the send rate if that is lower and limiting is on.
//
// Before the first throttle the starting rate replaces a lower measured rate, because demand below a
// known limit says nothing about the limit. After the first throttle it does so until there is a
// measurement.
func (s *SendRate) curve(now time.Time, throttled bool) ratelimit.Rate {
	measured := s.measured.rate
	if !s.cut || measured == 0 {
		measured = max(measured, s.starting)
	}
	if !throttled {
		return max(min(s.cubic.Success(now), 2*measured), s.least)
	}
	if s.limited {
		measured = min(measured, s.fill)
	}
	if s.finder.outage && float64(s.cubic.lastMax) >= outageMax*s.finder.unit {
		return max(s.cubic.Again(now, measured), s.least)
	}
	return max(s.cubic.Throttle(now, measured), s.least)
}

// setRate changes the fill rate to rate, but at most to the top, and the capacity to that of a second, or to Config.Burst; it is
// at least room. The time until now fills the bucket at the old rate. Tokens above the new capacity are dropped.
func (s *SendRate) setRate(rate ratelimit.Rate) {
	tokens := s.tokens()
	s.fill = limit.Amount(min(rate, s.top()))
	s.capacity = max(cmp.Or(s.burst, float64(s.fill)), s.room)
	s.set(tokens)
}

// Take takes cost send tokens if they are there, and returns the newest instant seen. If they are not there, it takes
// none and returns when they will be at the current rate, which is always later; the zero time if never. A caller that
// comes then is not too early. Before limiting begins, Take returns now, takes nothing, and does not count now as an
// instant seen. It does not wait. A negative cost counts as 0.
func (s *SendRate) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	if !s.limitedAt(now) {
		return now, true
	}
	cost = limit.Amount(cost)
	tokens := s.tokens()
	if cost <= tokens {
		s.set(tokens - cost)
		return s.time.Reading(s.now), true
	}
	wait := s.wait(tokens, cost)
	if wait == limit.Endless {
		return time.Time{}, false
	}
	return s.time.Reading(s.now.Add(wait)), false
}

// Until returns how long cost tokens take at the current rate, as limit.TimeUntil says, regardless of the capacity; zero if
// they are there or if nothing is limited yet. It takes nothing.
func (s *SendRate) Until(now time.Time, cost float64) time.Duration {
	if !s.limitedAt(now) {
		return 0
	}
	cost = limit.Amount(cost)
	tokens := s.tokens()
	if cost <= tokens {
		return 0
	}
	return s.wait(tokens, cost)
}

// wait returns how long it takes until the tokens that there are have become cost, which is more.
func (s *SendRate) wait(tokens, cost float64) time.Duration {
	if tokens == s.limit() { // what came beyond is lost, so that the rest comes from now on
		s.set(tokens)
	}
	return limit.Left(limit.TimeUntil(s.base, cost, float64(s.fill)), s.now.Sub(s.since))
}

// Give returns send tokens that were taken but not used.
func (s *SendRate) Give(now time.Time, cost float64) {
	if s.limitedAt(now) {
		s.set(s.tokens() + limit.Amount(cost))
	}
}

// limitedAt reports whether attempts are limited now, which then counts as seen.
func (s *SendRate) limitedAt(now time.Time) bool {
	if s.limited {
		s.forward(now)
	}
	return s.limited // not if forward has reset it
}

// Lift lets the bucket fill up to cost, for a caller that is first in line and costs more
// than the capacity; a cost of 0 ends that. It takes effect from now on.
func (s *SendRate) Lift(now time.Time, cost float64) {
	s.forward(now)
	if cost = limit.Amount(cost); cost != s.lifted {
		tokens := s.tokens()
		s.lifted = cost
		s.set(tokens)
	}
}

func (s *SendRate) limit() float64 {
	if s.leaving == 0 { // nearly always
		return max(s.capacity, s.lifted)
	}
	return max(max(s.capacity, s.lifted)-s.leaving, 0)
}

// Granted is for [limit.Departures]: a token of a known limit keeps its place in the bucket until its attempt has left, so
// that the next one is paced from there.
func (s *SendRate) Granted(now time.Time, cost float64) bool {
	if !s.known || !s.limitedAt(now) {
		return false
	}
	tokens := s.tokens()
	s.leaving += cost
	s.set(tokens)
	return true
}

// Left is for [limit.Departures].
func (s *SendRate) Left(now time.Time, cost float64) {
	s.forward(now)
	tokens := s.tokens()
	s.leaving = max(s.leaving-cost, 0)
	s.set(tokens)
}

// tokens returns how many there are now. Before the first rate time brings none, as in every AWS SDK.
func (s *SendRate) tokens() float64 {
	return min(limit.Grown(s.base, float64(s.fill), s.now.Sub(s.since)), s.limit())
}

// set sets the number of tokens now. Those above the limit do not count, see tokens.
func (s *SendRate) set(tokens float64) { s.base, s.since = tokens, s.now }

// Fill returns the send rate.
func (s *SendRate) Fill() ratelimit.Rate { return s.fill }

// State returns the send rate fields of a snapshot, as of the last call that got the time.
func (s *SendRate) State() retry.ScopeSnapshot {
	return retry.ScopeSnapshot{
		SendRateSource: "local",
		Limited:        s.limited,
		FillRate:       float64(s.fill),
		MeasuredRate:   float64(s.measured.rate),
		SendTokens:     s.tokens(),
		SendCapacity:   s.capacity,
		LastThrottle:   s.time.Reading(s.lastCut),
	}
}

// forward returns the newest instant, of the time that never goes back, which may be that of this reading.
func (s *SendRate) forward(reading time.Time) time.Time {
	if reading.Equal(s.read) { // the same step asks again
		return s.now
	}
	switch {
	case instant.OfAnotherClock(s.time.Of(reading), s.now):
		*s = New(s.config, reading)
	case s.config.clocked:
		s.now = s.time.At(reading)
	case reading.After(s.now):
		s.now = reading
	}
	s.read = reading
	return s.now
}
