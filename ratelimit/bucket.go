package ratelimit

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
)

// Rate is a number of sends, or of tokens, per second.
type Rate float64

// Bounds of a send-rate bucket, from the adaptive mode of the AWS SDKs: the
// fill rate and the capacity never fall below them.
const (
	MinFillRate Rate    = 0.5
	MinCapacity float64 = 1
)

// maxAmount bounds rates, costs and tokens, so that sums and products of them
// stay finite.
const maxAmount = 1 << 53

// amount makes a number of tokens of any float: a negative one and one that is
// not a number count as 0, one above maxAmount as that.
func amount(tokens float64) float64 {
	if !(tokens > 0) {
		return 0
	}
	return min(tokens, maxAmount)
}

// Bucket is the token bucket that a send takes a token from. It is advanced
// lazily, by the calls that are given the time. The zero value is empty, with
// no fill rate; it is not safe for concurrent use. Amounts that are negative or
// not a number count as 0, and those above 2^53 as that.
type Bucket struct {
	fill     Rate
	capacity float64
	tokens   float64
	last     time.Time
	started  bool
	lifted   float64 // what the first in line costs, if that is above the capacity
	room     float64 // the capacity is never less; MinCapacity if that is more

	// What the tokens grow from: they are not summed up look by look, because each sum
	// rounds, and a look must not prolong a wait.
	since time.Time
	base  float64
}

// SetRate changes the fill rate to max(rate, MinFillRate) and the capacity to
// max(rate, MinCapacity), or to SendRateConfig.Cost if that is more. What has passed
// until now is filled at the old rate first, and what exceeds the new capacity is
// dropped.
func (b *Bucket) SetRate(now time.Time, rate Rate) {
	b.refill(now)
	b.fill = max(Rate(amount(float64(rate))), MinFillRate)
	b.capacity = max(amount(float64(rate)), MinCapacity, b.room)
	b.set(b.tokens)
}

// Take takes cost tokens if they are there. If not it returns how long the
// missing ones take at the present fill rate, rounded up so that a caller that
// waits exactly that long does not come too early; such a wait is never zero.
// Take does not wait, and a refusal takes nothing.
func (b *Bucket) Take(now time.Time, cost float64) (wait time.Duration, ok bool) {
	if wait = b.Until(now, cost); wait > 0 {
		return wait, false
	}
	b.set(b.tokens - amount(cost))
	return 0, true
}

// Until returns how long it takes at the present fill rate until cost tokens
// have come, whatever the capacity; zero if they are there. It takes nothing.
func (b *Bucket) Until(now time.Time, cost float64) time.Duration {
	b.refill(now)
	if cost = amount(cost); cost <= b.tokens {
		return 0
	}
	return less(waitFor(b.base, cost, b.fill), b.last.Sub(b.since))
}

// Give puts tokens back that were taken and not used.
func (b *Bucket) Give(now time.Time, tokens float64) {
	b.refill(now)
	b.set(b.tokens + amount(tokens))
}

// Lift lets the bucket fill up to cost, for a caller that is first in line and
// costs more than the capacity; a cost of 0 ends that. It takes effect from now.
func (b *Bucket) Lift(now time.Time, cost float64) {
	b.refill(now)
	if cost = amount(cost); cost != b.lifted {
		b.lifted = cost
		b.set(b.tokens)
	}
}

// Fill reports the fill rate.
func (b *Bucket) Fill() Rate { return b.fill }

// Capacity reports the largest number of tokens the bucket holds for a caller
// that does not cost more.
func (b *Bucket) Capacity() float64 { return b.capacity }

// Tokens reports the tokens that were there at the last call that was given
// the time.
func (b *Bucket) Tokens() float64 { return b.tokens }

func (b *Bucket) limit() float64 { return max(b.capacity, b.lifted) }

// refill adds what has passed. The first call only notes the time, as in every SDK; a
// time before the newest one adds nothing, and from one of another clock on the bucket
// fills as that moves.
func (b *Bucket) refill(now time.Time) {
	if !b.started {
		b.started, b.last, b.since = true, now, now
		return
	}
	if !now.After(b.last) {
		if instant.OfAnotherClock(now, b.last) {
			b.last, b.since, b.base = now, now, b.tokens
		}
		return
	}
	b.last = now
	b.tokens = grown(b.base, b.fill, now.Sub(b.since))
	if b.tokens >= b.limit() {
		b.set(b.tokens)
	}
}

// set makes this the number of tokens as of the newest time, up to the limit.
func (b *Bucket) set(tokens float64) {
	b.tokens = min(tokens, b.limit())
	b.base, b.since = b.tokens, b.last
}

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
