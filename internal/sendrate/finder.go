package sendrate

import (
	"cmp"
	"math"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// Constants of a finder beside those of CUBIC. No AWS SDK has them; the table of lab/bench shows what they come to
// together.
const (
	// lineThrottles is how many throttles must lie on one line. With fewer, two clients that share a small burst pass for one.
	lineThrottles = 20
	// lineServed is how many requests must have been served on that line. More delays the proof at low limits, and CUBIC
	// throttles half of the requests there until then.
	lineServed = 20
	// lineError is by how many requests a count may be off the line: a service can have a part of one left at either end.
	lineError = 1
	// outageMax: a throttle before which nothing was served leaves CUBIC's maximum as it is, if that is so many requests a
	// second. Below, many clients on a low limit would press on too hard.
	outageMax = 4
	// holdMargin is the share of the limit that is left free: room for the error of a count.
	holdMargin = 0.02
	// holdRequests is the most requests between two probes: at most one answer in 50 is a throttle that was provoked.
	holdRequests = 50
	// holdError is by how many requests a count between two throttles may be too high: the service can have had one left at
	// either end.
	holdError = 2
	// holdTrial is the share by which the limit is raised again after a raise was refuted. The proof takes some 30
	// requests; of half of it, 100.
	holdTrial = 0.08
	// holdUsed: while less than a third of the rate is used, answers say nothing about the limit.
	holdUsed = 3
	// yieldLeast is the fewest requests of the climb that a hold begins with. The rate changes with answers, so that at the
	// lowest limits it would last until the next one, too long.
	yieldLeast = 0.5
	// holdLeast is the lowest rate, for services that allow less than MinFillRate.
	holdLeast ratelimit.Rate = 0.25
)

// state is what a finder takes the limit for.
type state uint8

const (
	unthrottled state = iota // nothing is known: there was no throttle
	doubt                    // others may take from it: CUBIC has the rate
	alone                    // it is the client's own, and the rate is held below it
	probing                  // it is the client's own, and the rate goes beyond it, to see whether it has risen
	climbing                 // it is the client's own, and the rate climbs back to it
)

// finder finds the limit of a service that is the client's own, and stays below it. Between two throttles a service serves
// what it allows, whatever its burst, because its bucket is empty at both: the count of successes over the time is the
// limit. That holds only if no one else takes from the bucket, which is proved first: then the counts at all throttles lie
// on one line. Until then, and after a throttle that the limit does not explain, the rate is CUBIC's.
//
//	state        throttle, or what else         next
//	unthrottled  any                            doubt: a line begins
//	doubt        off the line                   doubt: a line begins
//	doubt        the 20th on one line           alone, at the slope of the line
//	doubt        any other                      doubt
//	the last 3   nothing served before it       climbing: an outage, which leaves the limit as it was
//	alone        not a throttle: it is time     probing, along CUBIC's curve
//	climbing     not a throttle: it is back     probing
//	probing      more served than it allows     climbing, to the rate of the probe
//	probing      any other                      alone; the next probe is in twice the time
//	alone        after a raise of the limit     alone, at the limit without the raise
//	the last 3   any other, below the limit     doubt: the limit has fallen, or others share it; a line begins
//
// The zero value is unthrottled. It is a function of its state and the answers, and not safe for concurrent use.
type finder struct {
	unit           float64 // tokens of a request
	least, ceiling float64 // of the rate that is held, in requests per second, as all rates here

	state state
	rate  float64 // in use at the last throttle, or since
	line  line    // of doubt

	last   time.Time // answer
	spent  float64   // seconds since the last throttle that counts in which the rate was used
	served float64   // tokens in that time, and requests when it has ended
	outage bool      // nothing was served before that throttle

	limit  float64
	floor  float64 // of the climb
	k      float64 // seconds of a climb
	until  float64 // when, on the clock of spent, the rate goes beyond the limit
	passed float64 // the rate of the last success of the probe

	proven float64 // the limit without the last raise
	raise  float64 // share by which the next raise may exceed the proven limit
	held   float64 // requests served since the last raise
}

// Answer counts an answer at now to an attempt of so many tokens. fill is the rate in use, and measured that of all answers,
// in tokens. A throttle begins a congestion event. In the states after doubt it sets the rate.
func (f *finder) Answer(now time.Time, tokens float64, fill, measured ratelimit.Rate, throttled bool) {
	used := fill <= holdUsed*measured
	if used && f.state > unthrottled {
		f.spent += now.Sub(f.last).Seconds()
	}
	f.last = now
	switch {
	case throttled:
		f.rate, f.served = float64(fill)/f.unit, f.served/f.unit
		f.throttle(max(f.spent, 1e-9))
		if f.state > doubt {
			f.advance(f.rate)
		}
	case !used:
	case f.state <= doubt:
		f.served += tokens
	default:
		if f.outage && f.state == climbing { // It ended between the last throttle and this answer.
			f.spent, f.outage = f.spent/2, false
		}
		f.served += tokens
		f.advance(holdUsed * float64(measured) / f.unit)
	}
}

// throttle judges a throttle so many seconds after the last one. A count of few requests says little, so the limit falls by
// no more than CUBIC's cut at once.
func (f *finder) throttle(seconds float64) {
	atLeast, atMost := (f.served-holdError)/seconds, (f.served+1)/seconds
	switch probe := f.state == probing && f.rate > f.limit; {
	case f.state == unthrottled:
		f.begin(doubt, 0)
	case f.state == doubt && !f.line.Add(f.served, f.spent):
		f.line = line{}
		f.begin(doubt, 0)
	case f.state == doubt && f.line.served >= lineServed && f.line.throttles >= lineThrottles:
		f.limit = f.line.Slope()
		f.proven, f.raise, f.held = f.limit, 1, 0
		f.hold(0)
	case f.state == doubt:
		f.begin(doubt, 0)
	case f.served == 0:
		f.climb(f.proven)
	case probe && atLeast > f.limit*(1+holdMargin):
		f.climb(f.rate)
	case probe:
		f.probed()
	case f.limit > f.proven:
		f.limit = min(f.limit, max(min(f.proven, atMost), atLeast, cubicBeta*f.proven))
		f.proven, f.held, f.raise = f.limit, 0, holdTrial
		f.hold(f.until)
	default:
		f.line = line{}
		f.begin(doubt, 0)
	}
}

// probed holds below the limit after a probe that has failed. A service without a burst allows the rate
// that passed, although the count is lower, because a part of what it allows went unused. Only a trial
// tells. If the raise was wrong, the service has been asked for (raise - margin) * held requests too
// many; without a throttle by then it is proven, and the next may go twice as far.
func (f *finder) probed() {
	f.held += f.served
	excess := f.limit/f.proven - 1 - holdMargin
	if f.raise == 1 || excess <= 0 || max(excess, holdMargin)*f.held >= holdError {
		f.proven, f.held = f.limit, 0
		f.limit = max(f.limit, min(f.limit*(1+f.raise), (1-holdMargin)*f.passed))
		f.raise = min(1, 2*f.raise)
	}
	f.hold(2 * f.until)
}

// climb goes from below the rate in use to a limit, and then beyond it.
func (f *finder) climb(limit float64) {
	f.begin(climbing, limit)
	f.floor, f.until = cubicBeta*f.rate, f.k
	f.proven, f.raise, f.held = f.limit, 1, 0
}

// hold stays below the limit for so many seconds and then probes.
func (f *finder) hold(seconds float64) {
	f.begin(alone, f.limit)
	f.until = min(max(seconds, f.k), max(2*f.k, holdRequests/f.limit))
}

func (f *finder) begin(s state, limit float64) {
	f.state, f.outage = s, f.served == 0
	f.limit = max(limit, f.least)
	f.k = math.Cbrt(f.limit * (1 - cubicBeta) / cubicScale)
	f.spent, f.served, f.passed = 0, 0, 0
}

// advance sets the rate to that of the curve now, at most to most. A hold begins with CUBIC's climb: it is how a client
// that gets nothing comes in, and is seen.
func (f *finder) advance(most float64) {
	if f.state == probing {
		f.passed = f.rate
	}
	k := f.k
	if f.until > 2*k { // a probe that is rare lasts for at least four requests
		k = max(k, 4/f.limit)
	}
	rate := (1 - holdMargin) * f.limit
	switch x := (f.spent - f.until) / k; {
	case x > 0:
		rate = f.limit * (1 + (1-cubicBeta)*x*x*x)
	case f.state == climbing:
		rate = f.limit + (f.limit-f.floor)*x*x*x
	case f.spent < f.k && f.k*f.limit > yieldLeast:
		y := 1 - f.spent/f.k
		rate -= (1 - cubicBeta) * f.limit * y * y * y
	}
	if f.rate = max(min(rate, f.ceiling, most), f.least); f.rate > f.limit {
		f.state = probing
	}
}

// line is what was served since a throttle, at each throttle after it: whether it can be slope * seconds, give or take
// lineError, at all of them. The zero value has no throttle yet.
type line struct {
	served, seconds float64
	low, high       float64 // slopes that all throttles allow; 0 for no highest
	throttles       int
}

// Add adds a throttle, and returns whether there is still a slope.
func (l *line) Add(served, seconds float64) bool {
	l.served, l.seconds, l.throttles = l.served+served, l.seconds+seconds, l.throttles+1
	t := max(l.seconds, 1e-9)
	l.low = max(l.low, (l.served-lineError)/t)
	l.high = min(cmp.Or(l.high, math.Inf(1)), (l.served+lineError)/t)
	return l.low <= l.high
}

// Slope returns the limit.
func (l *line) Slope() float64 { return min(max(l.served/l.seconds, l.low), l.high) }
