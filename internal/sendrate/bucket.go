package sendrate

import (
	"cmp"
	"time"

	"github.com/awsretry/awsretry/internal/refill"
	"github.com/awsretry/awsretry/ratelimit"
)

// bucket is the token bucket for sends. Its owner says what time it is, which must not go back; it has no timer. The
// zero value is empty, with no fill rate. It is not safe for concurrent use. See [refill.Amount] for amounts
// out of range.
type bucket struct {
	now      time.Time
	fill     ratelimit.Rate
	capacity float64 // without a lift
	tokens   float64 // as of the last call
	lifted   float64 // what the first in line costs, if that is above the capacity
	room     float64 // the minimum capacity; minCapacity if that is more
	burst    float64 // the capacity at any rate, if it is known; otherwise 0
	least    ratelimit.Rate

	// What the tokens grow from. Reads do not add to a sum, because each addition rounds and a read
	// must not prolong a wait.
	since time.Time
	base  float64
}

// SetRate changes the fill rate to max(rate, least), and the capacity to that of a second, or
// to Config.Burst; it is at least minCapacity and Config.Cost. First the time until now fills the bucket at the
// old rate. Tokens above the new capacity are dropped.
func (b *bucket) SetRate(rate ratelimit.Rate) {
	b.refill()
	rate = refill.Amount(rate)
	b.fill = max(rate, b.least)
	b.capacity = max(cmp.Or(b.burst, float64(rate)), minCapacity, b.room)
	b.set(b.tokens)
}

// Empty drops the tokens above the lowest capacity, so that they do not go into an empty service.
func (b *bucket) Empty() {
	b.refill()
	b.set(min(b.tokens, max(minCapacity, b.room)))
}

// Take takes cost tokens if they are there. If not, it takes none and returns how long the missing
// ones take at the current fill rate, as refill.Wait says.
func (b *bucket) Take(cost float64) (wait time.Duration, ok bool) {
	if wait = b.Until(cost); wait > 0 {
		return wait, false
	}
	b.set(b.tokens - refill.Amount(cost))
	return 0, true
}

// Until returns how long cost tokens take at the current fill rate, regardless of the capacity;
// zero if they are there. It takes nothing.
func (b *bucket) Until(cost float64) time.Duration {
	b.refill()
	if cost = refill.Amount(cost); cost <= b.tokens {
		return 0
	}
	return refill.Left(refill.Wait(b.base, cost, float64(b.fill)), b.now.Sub(b.since))
}

// Give returns tokens that were taken but not used.
func (b *bucket) Give(tokens float64) {
	b.refill()
	b.set(b.tokens + refill.Amount(tokens))
}

// Lift lets the bucket fill up to cost, for a caller that is first in line and costs more
// than the capacity; a cost of 0 ends that. It takes effect from now on.
func (b *bucket) Lift(cost float64) {
	b.refill()
	if cost = refill.Amount(cost); cost != b.lifted {
		b.lifted = cost
		b.set(b.tokens)
	}
}

func (b *bucket) limit() float64 { return max(b.capacity, b.lifted) }

// refill adds what time has brought. Before the first rate that is nothing, as in every AWS SDK.
func (b *bucket) refill() {
	b.tokens = refill.Grown(b.base, float64(b.fill), b.now.Sub(b.since))
	if b.tokens >= b.limit() {
		b.set(b.tokens)
	}
}

// set sets the number of tokens, up to the limit.
func (b *bucket) set(tokens float64) {
	b.tokens = min(tokens, b.limit())
	b.base, b.since = b.tokens, b.now
}
