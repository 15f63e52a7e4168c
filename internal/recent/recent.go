// Package recent keeps what the attempts of one scope took lately, and how many of them may be
// ended early. It is pure arithmetic: the caller has the clock and the lock.
//
// The module may not require a sketch library for this, and needs none: what is asked for is one
// quantile with an error of a few percent, so a histogram with a fixed logarithmic scale is enough.
package recent

import (
	"math"
	"time"
)

const (
	// perDoubling is how many buckets a doubling of the time has: a bucket is 9 % wide.
	perDoubling = 8
	// shortest is the upper end of the first bucket. Shorter times count as this.
	shortest = 100 * time.Microsecond
	// buckets reach from 100 microseconds to 28 minutes. Longer times are in the last one.
	buckets = 24*perDoubling + 1

	// halfLife is the time after which an attempt counts half. A service that becomes slower moves
	// a quantile of 0.9 once a tenth of the weight is new: after 0.15 of it, at any steady load. It
	// takes 3.3 of it until one that becomes faster does.
	halfLife = 30 * time.Second
	// enough is the weight of the attempts without which there is no quantile.
	enough = 20

	// perAttempt is what each attempt adds to the allowance of attempts that may be ended early. It
	// bounds the extra requests: one in 20.
	perAttempt = 1.0 / 20
	// most is what the allowance holds at most: so many may be ended at once.
	most = 10

	// slowShare is the share of attempts over their limit above which the limit does not fall.
	slowShare = 0.1
	// rescaled is the number of half-lives after which the weights are made small again.
	rescaled = 32
)

// Times are what the attempts of a scope took. Use New. Instants before the last one count as the
// last one.
type Times struct {
	weights     [buckets]float64 // all at the instant of start
	total, over float64          // of all attempts, and of those over their limit
	start, last time.Time
	allowance   float64
	held        time.Duration // the limit that was returned last
}

// New returns the Times of a scope whose first attempt is made now.
func New(now time.Time) Times { return Times{start: now, last: now} }

// Last returns the last instant that the Times have heard of.
func (t *Times) Last() time.Time { return t.last }

// Limit returns factor times the quantile, and reports false if too little is known. It does not
// return less than before while more than a tenth of the attempts are over their limit.
func (t *Times) Limit(now time.Time, quantile, factor float64) (d time.Duration, ok bool) {
	weight := t.weight(now)
	if t.total < enough*weight {
		return 0, false
	}
	d = scaled(t.quantile(quantile), factor)
	if t.over > slowShare*t.total {
		d = max(d, t.held)
	}
	t.held = d
	return d, true
}

// Took adds an attempt that took so long. over says that this was more than its limit.
func (t *Times) Took(now time.Time, d time.Duration, over bool) {
	weight := t.weight(now)
	t.weights[bucketOf(d)] += weight
	t.total += weight
	if over {
		t.over += weight
	}
	t.allowance = min(t.allowance+perAttempt, most)
}

// Claim reports whether an attempt that is over its limit may be ended early. One of Ended and Unclaim
// must follow.
func (t *Times) Claim() bool {
	if t.allowance < 1 {
		return false
	}
	t.allowance--
	return true
}

// Unclaim says that the attempt was not ended after all.
func (t *Times) Unclaim() { t.allowance = min(t.allowance+1, most) }

// Ended adds an attempt that was ended early, as one that took more than its limit.
func (t *Times) Ended(now time.Time, limit time.Duration) {
	t.Took(now, endOf(bucketOf(limit)+1), true)
}

// weight returns what an attempt counts now, if one at the instant of start counts 1.
func (t *Times) weight(now time.Time) float64 {
	if now.After(t.last) {
		t.last = now
	}
	lives := float64(t.last.Sub(t.start)) / float64(halfLife)
	if lives <= rescaled {
		return math.Exp2(lives)
	}
	scale := math.Exp2(-lives)
	for i := range t.weights {
		t.weights[i] *= scale
	}
	t.total, t.over, t.start = t.total*scale, t.over*scale, t.last
	return 1
}

// quantile returns the upper end of the bucket with the quantile.
func (t *Times) quantile(q float64) time.Duration {
	sum := 0.0
	for i, weight := range t.weights {
		if sum += weight; sum >= q*t.total {
			return endOf(i)
		}
	}
	return endOf(buckets - 1) // the sum of the parts may be a little less than the whole
}

func bucketOf(d time.Duration) int {
	if d <= shortest {
		return 0
	}
	return min(int(math.Ceil(perDoubling*math.Log2(float64(d)/float64(shortest)))), buckets-1)
}

func endOf(bucket int) time.Duration {
	return time.Duration(math.Ceil(float64(shortest) * math.Exp2(float64(bucket)/perDoubling)))
}

func scaled(d time.Duration, factor float64) time.Duration {
	if product := float64(d) * factor; product < math.MaxInt64 {
		return time.Duration(product)
	}
	return math.MaxInt64
}
