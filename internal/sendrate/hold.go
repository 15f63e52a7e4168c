package sendrate

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// Constants of [ratelimit.Hold] beside those of CUBIC. No AWS SDK has them; the table of lab/bench shows
// what they come to together.
const (
	// holdMargin is the share of the limit that is left free: room for the error of a count.
	holdMargin = 0.02
	// holdRequests is the most requests between two probes: at most one answer in 50 is a throttle that
	// was provoked.
	holdRequests = 50
	// holdError is by how many requests a count between two throttles may be too high: the service can
	// have had one left at either end.
	holdError = 2
	// holdTrial is the share by which the limit is raised again after a raise was refuted. The proof
	// takes some 30 requests; of half of it, 100.
	holdTrial = 0.08
	// holdUsed: while less than a third of the rate is used, answers say nothing about the limit.
	holdUsed = 3
	// holdLeast is the lowest rate, for services that allow less than MinFillRate.
	holdLeast ratelimit.Rate = 0.25
)

// hold computes the send rate of [ratelimit.Hold]. Between two throttles the service serves what it
// allows, whatever its burst, because its bucket is empty at both. So the count of successes over the
// time is the limit; below it the rate is held, and from time to time it goes beyond, along CUBIC's
// curve, to see whether the limit has risen. A known limit is one that was found before. The zero
// value has seen no throttle. It is not safe for concurrent use.
type hold struct {
	unit           float64 // tokens of a request
	least, ceiling float64 // of the rate

	limit   float64 // in requests per second, as all rates here; 0 before the first throttle
	rate    float64
	holding bool    // the limit was confirmed; otherwise the rate climbs to it from floor
	floor   float64 // of the climb
	k       float64 // seconds of a climb
	until   float64 // when, on the clock of spent, the rate goes beyond the limit: a probe

	last   time.Time // answer
	spent  float64   // seconds since the last cut in which the rate was used
	served float64   // requests in that time
	passed float64   // the rate of the last success of the probe
	outage bool      // nothing was served before the last cut

	proven float64 // the limit without the last raise
	raise  float64 // share by which the next raise may exceed the proven limit
	held   float64 // requests served since the last raise
}

// Begin starts at a known limit, which holds until it is probed.
func (h *hold) Begin(now time.Time, limit ratelimit.Rate) {
	h.last = now
	h.search(float64(limit)/h.unit, float64(limit)/h.unit)
	h.until = max(h.until, holdRequests/h.limit)
}

// Answer counts an answer at now to an attempt of so many tokens, and returns the rate. measured is that of all answers. A
// throttle begins a congestion event.
func (h *hold) Answer(now time.Time, tokens float64, measured ratelimit.Rate, throttled bool) ratelimit.Rate {
	m, before := float64(measured)/h.unit, h.rate
	switch used := h.pass(now, m); {
	case h.limit == 0 && throttled:
		first := max(2*m, h.least)
		h.search(first, cubicBeta*first)
	case h.limit == 0:
		h.rate = 2 * m
	case throttled:
		h.judge(max(h.spent, 1e-9))
		h.rate = min(h.rate, before)
	case used:
		if h.outage { // It ended between the last throttle and this answer.
			h.spent, h.outage = h.spent/2, false
		}
		h.served += tokens / h.unit
		h.advance()
		h.rate = min(h.rate, holdUsed*m)
	}
	return ratelimit.Rate(h.rate * h.unit)
}

// judge takes a throttle for one of five things. seconds is the time since the last cut. A count of few
// requests says little, so the limit falls by no more than CUBIC's cut at once.
func (h *hold) judge(seconds float64) {
	probe := h.spent > h.until && h.rate > h.limit
	atLeast, atMost := (h.served-holdError)/seconds, (h.served+1)/seconds
	switch {
	case h.served == 0: // An outage, which says nothing about the limit.
		h.search(h.proven, cubicBeta*h.rate)
		h.outage = true
	case probe && atLeast > h.limit*(1+holdMargin): // More was served than the limit allows: it has risen.
		h.search(h.rate, cubicBeta*h.rate)
	case probe: // It failed, as it must at a limit that stands.
		h.probed(h.served / seconds)
	case h.holding && h.limit > h.proven: // The last raise was wrong.
		limit := min(h.limit, max(min(h.proven, atMost), atLeast, cubicBeta*h.proven))
		h.proven, h.held, h.raise = limit, 0, holdTrial
		h.hold(limit, h.until)
	default: // The limit has fallen, or others share it.
		limit := min(h.limit, max(min(h.rate, atMost), atLeast, cubicBeta*h.rate))
		h.search(limit, cubicBeta*limit)
	}
}

// probed holds below the limit after a probe that has failed. A service without a burst allows the rate
// that passed, although the count is lower, because a part of what it allows went unused. Only a trial
// tells. If the raise was wrong, the service has been asked for (raise - margin) * held requests too
// many; without a throttle by then it is proven, and the next may go twice as far.
func (h *hold) probed(count float64) {
	next := 2 * h.until
	if !h.holding {
		h.limit, h.proven, h.raise, next = count, count, 1, h.k
	}
	limit, excess := h.limit, h.limit/h.proven-1-holdMargin
	h.held += h.served
	if h.raise == 1 || excess <= 0 || max(excess, holdMargin)*h.held >= holdError {
		limit = max(h.limit, min(h.limit*(1+h.raise), (1-holdMargin)*h.passed))
		h.raise = min(1, 2*h.raise)
		h.proven, h.held = h.limit, 0
	}
	h.hold(limit, next)
}

// search climbs from floor to limit, and then beyond it.
func (h *hold) search(limit, floor float64) {
	h.begin(limit)
	h.holding, h.floor, h.until = false, floor, h.k
	h.proven, h.held = h.limit, 0
	h.advance()
}

// hold stays below limit for so many seconds and then probes.
func (h *hold) hold(limit, seconds float64) {
	h.begin(limit)
	h.holding = true
	h.until = min(max(seconds, h.k), max(2*h.k, holdRequests/h.limit))
	h.advance()
}

func (h *hold) begin(limit float64) {
	h.limit = max(limit, h.least)
	h.k = math.Cbrt(h.limit * (1 - cubicBeta) / cubicScale)
	h.spent, h.served, h.passed, h.outage = 0, 0, 0, false
}

// pass counts the time since the last answer and reports whether the rate was used in it.
func (h *hold) pass(now time.Time, measured float64) (used bool) {
	if used = h.rate <= holdUsed*measured; used && !h.last.IsZero() {
		h.spent += max(now.Sub(h.last).Seconds(), 0)
	}
	h.last = now
	return used
}

// advance sets the rate to that of the curve now.
func (h *hold) advance() {
	if h.spent > h.until {
		h.passed = h.rate
	}
	k := h.k
	if h.until > 2*h.k { // a probe that is rare lasts for at least four requests
		k = max(k, 4/h.limit)
	}
	switch x := (h.spent - h.until) / k; {
	case x > 0:
		h.rate = h.limit + (1-cubicBeta)*h.limit*x*x*x
	case h.holding:
		h.rate = (1 - holdMargin) * h.limit
	default:
		h.rate = h.limit + (h.limit-h.floor)*x*x*x
	}
	h.rate = min(max(h.rate, h.least), h.ceiling)
}
