package ratelimit

import (
	"math"
	"time"
)

// endless is the wait for tokens that do not come.
const endless time.Duration = math.MaxInt64

// grown returns what tokens have become after a time at this fill rate.
func grown(tokens float64, fill Rate, passed time.Duration) float64 {
	return tokens + float64(passed.Seconds()*float64(fill))
}

// waitFor returns the shortest time, in whole nanoseconds, after which the tokens
// have grown to cost, which is more than they are. The wait is long enough twice
// over: it is not shorter than
//
//	(cost - tokens) / fill
//
// is in exact arithmetic, so that no rate is exceeded, and grown agrees, so that a
// caller that comes after exactly that time does not have to wait once more. Without
// a fill rate the wait is endless.
func waitFor(tokens, cost float64, fill Rate) time.Duration {
	wait := quotientUp(tokens, cost, float64(fill))
	if wait == endless || grown(tokens, fill, wait) >= cost {
		return wait
	}
	// Rounding has made grown less than it is. It does not fall when the time rises, so
	// bisection finds where it reaches the cost.
	short, step := wait, time.Duration(1)
	for grown(tokens, fill, wait) < cost {
		if short = wait; wait > endless-step {
			return endless
		}
		wait += step
		step *= 2
	}
	for wait-short > 1 {
		if middle := short + (wait-short)/2; grown(tokens, fill, middle) < cost {
			short = middle
		} else {
			wait = middle
		}
	}
	return wait
}

// less returns what of a wait is left when a part of it has passed, at least a
// nanosecond.
func less(wait, passed time.Duration) time.Duration {
	if wait == endless {
		return endless
	}
	return max(wait-passed, 1)
}

// quotientUp returns (cost - tokens) / fill seconds, rounded up to the nanosecond and
// at least one. The quotient of floats is off by many nanoseconds where the wait is
// long, and may be off by one where it is short, so what it leaves of the missing
// tokens is counted too, together with what rounding took from the difference and from
// the product: left is (cost - tokens) * 1e9 - wait * fill.
func quotientUp(tokens, cost, fill float64) time.Duration {
	missing := cost - tokens
	back := missing - cost
	lost := (cost - (missing - back)) - (tokens + back)
	const perSecond = float64(time.Second)
	units := float64(missing * perSecond)
	lost = math.FMA(missing, perSecond, -units) + float64(lost*perSecond)

	wait := math.Ceil(units / fill)
	switch {
	case !(wait < math.MaxInt64):
		return endless
	case wait == 0: // an endless rate
		return 1
	}
	left := math.FMA(-wait, fill, units) + lost
	more := time.Duration(math.Ceil(left / fill))
	if more > endless-time.Duration(wait) {
		return endless
	}
	return max(time.Duration(wait)+more, 1)
}
