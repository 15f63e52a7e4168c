package limit

import (
	"math"
	"time"
)

// Endless is the wait for tokens that do not come. A wait that this file returns is never too short, not even by a nanosecond or
// by what floats round, and never zero.
const Endless time.Duration = math.MaxInt64

// maxAmount bounds numbers of tokens, so that sums and products of them stay finite.
const maxAmount = 1 << 53

// Amount turns any float into a number of tokens: a negative one and NaN count as 0, one above 2^53
// counts as 2^53.
func Amount[F ~float64](tokens F) F {
	if tokens > 0 {
		return min(tokens, maxAmount)
	}
	return 0
}

// Cost is Amount for what a caller asks for, where zero means one.
func Cost(tokens float64) float64 {
	if cost := Amount(tokens); cost > 0 {
		return cost
	}
	return 1
}

// Grown returns what tokens have become after a time at a fill rate, in tokens per second.
func Grown(tokens, fill float64, passed time.Duration) float64 {
	return tokens + float64(passed.Seconds()*fill)
}

// TimeUntil returns the shortest time, in whole nanoseconds, after which tokens have grown to
// cost, which is more than tokens. The wait is long enough in two ways. It is not shorter
// than
//
//	(cost - tokens) / fill
//
// is in exact arithmetic, so that no rate is exceeded. And Grown agrees, so that a caller
// that comes after exactly that time does not have to wait once more. Without a fill rate
// the wait is Endless.
func TimeUntil(tokens, cost, fill float64) time.Duration {
	wait := quotientUp(tokens, cost, fill)
	if wait == Endless || Grown(tokens, fill, wait) >= cost {
		return wait
	}
	// Rounding has made Grown less than it is. It does not fall when the time rises, so
	// bisection finds where it reaches the cost.
	short, step := wait, time.Duration(1)
	for Grown(tokens, fill, wait) < cost {
		if short = wait; wait > Endless-step {
			return Endless
		}
		wait += step
		step *= 2
	}
	for wait-short > 1 {
		if middle := short + (wait-short)/2; Grown(tokens, fill, middle) < cost {
			short = middle
		} else {
			wait = middle
		}
	}
	return wait
}

// Left returns what is left of a wait when a part of it has passed, at least a nanosecond.
func Left(wait, passed time.Duration) time.Duration {
	if wait == Endless {
		return Endless
	}
	return max(wait-passed, 1)
}

// quotientUp returns (cost - tokens) / fill seconds, rounded up to the nanosecond and at
// least one. The quotient of floats is off by many nanoseconds where the wait is long, and
// may be off by one where it is short. So quotientUp also counts what that quotient leaves
// of the missing tokens, together with what rounding took from the difference and from the
// product: left is (cost - tokens) * 1e9 - wait * fill.
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
		return Endless
	case wait == 0: // an endless rate
		return 1
	}
	left := math.FMA(-wait, fill, units) + lost
	more := time.Duration(math.Ceil(left / fill))
	if more > Endless-time.Duration(wait) {
		return Endless
	}
	return max(time.Duration(wait)+more, 1)
}
