package ratelimit

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
)

// Quota is the retry quota of a scope: a count of tokens that retries take and
// successes give back. It is safe for concurrent use. Taking and giving back
// are lock-free unless the quota refills with time, and giving to a full quota
// writes nothing, so that healthy traffic does not share a cache line.
type Quota struct {
	capacity int64
	tokens   atomic.Int64

	refill float64 // tokens per second; 0 means never
	mu     sync.Mutex
	newest time.Time // guarded by mu: the newest instant seen
	since  time.Time // guarded by mu: when the quota last was full, or the start
	given  int64     // guarded by mu: how many tokens time has added since
}

// QuotaConfig describes a Quota.
type QuotaConfig struct {
	// Capacity is the largest number of tokens; 0 refuses every retry, and a
	// negative one counts as 0.
	Capacity int
	// Initial is the number of tokens to start with, cut to [0, Capacity].
	Initial int
	// RefillPerSecond is how many tokens time itself adds; 0 means none, which
	// is what the AWS SDKs do. A negative or NaN rate counts as 0.
	RefillPerSecond Rate
}

// NewQuota returns a quota whose refill, if any, counts from now.
func NewQuota(config QuotaConfig, now time.Time) *Quota {
	q := new(Quota)
	q.begin(config, now)
	return q
}

func (q *Quota) begin(config QuotaConfig, now time.Time) {
	q.capacity, q.newest, q.since = int64(max(config.Capacity, 0)), now, now
	if config.RefillPerSecond > 0 {
		q.refill = float64(config.RefillPerSecond)
	}
	q.tokens.Store(min(max(int64(config.Initial), 0), q.capacity))
}

// Take takes cost tokens if there are that many and reports what is available
// afterwards. A refusal changes nothing. now matters only to a quota that
// refills, see Refills. A negative cost counts as 0.
func (q *Quota) Take(now time.Time, cost int) (available int, ok bool) {
	q.advance(now)
	want := int64(max(cost, 0))
	for {
		have := q.tokens.Load()
		if have < want {
			return int(have), false
		}
		if q.tokens.CompareAndSwap(have, have-want) {
			return int(have - want), true
		}
	}
}

// Refund adds tokens, never above the capacity, and reports what is available
// afterwards. A negative number of tokens counts as 0.
func (q *Quota) Refund(tokens int) (available int) {
	return int(q.add(int64(max(tokens, 0))))
}

func (q *Quota) add(tokens int64) (available int64) {
	for {
		have := q.tokens.Load()
		sum := have + min(tokens, q.capacity-have)
		if sum == have || q.tokens.CompareAndSwap(have, sum) {
			return sum
		}
	}
}

// Available reports how many tokens could be taken at now.
func (q *Quota) Available(now time.Time) int {
	q.advance(now)
	return int(q.tokens.Load())
}

// Capacity reports the largest number of tokens.
func (q *Quota) Capacity() int { return int(q.capacity) }

// Refills reports whether time adds tokens; if not, the times that Take and
// Available are given do not matter.
func (q *Quota) Refills() bool { return q.refill > 0 }

// advance adds the whole tokens that time has brought. They are counted since the
// quota last was full, because it could not have been filled any further: a slow
// refill is not rounded away, and no sum of fractions rounds at each call.
func (q *Quota) advance(now time.Time) {
	if q.refill == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case now.After(q.newest):
		q.newest = now
	case instant.OfAnotherClock(now, q.newest):
		q.newest, q.since, q.given = now, now, 0
	}
	whole := int64(0)
	if passed := q.newest.Sub(q.since); passed > 0 {
		whole = math.MaxInt64
		if due := grown(0, Rate(q.refill), passed) - float64(q.given); due < float64(q.capacity) {
			whole = int64(due)
		}
	}
	if q.add(whole) == q.capacity {
		q.since, q.given = q.newest, 0
	} else {
		q.given += whole
	}
}

// until returns how long the refill takes until cost tokens are there if nothing else
// takes or adds any; endless if time adds none. A wait is never zero.
func (q *Quota) until(now time.Time, cost int) time.Duration {
	missing := int64(cost) - int64(q.Available(now))
	q.mu.Lock()
	defer q.mu.Unlock()
	return less(waitFor(0, float64(q.given+missing), Rate(q.refill)), now.Sub(q.since))
}

// ErrQuotaWait is the error of a wait for retry quota that took as long as it may.
var ErrQuotaWait = errors.New("no retry quota in the time allowed")

// QuotaLine is a Quota whose tokens can be waited for, first come, first served.
// It is safe for concurrent use. As long as no caller waits it costs what the Quota
// costs.
type QuotaLine struct {
	quota Quota
	line
}

// NewQuotaLine returns a quota whose refill, if any, counts from start, on the given
// clock.
func NewQuotaLine(config QuotaConfig, start time.Time, clk clock.Clock) *QuotaLine {
	q := new(QuotaLine)
	q.quota.begin(config, start)
	q.begin(clk, quotaAccount{&q.quota})
	return q
}

// Take takes cost tokens if they are there and no caller waits for any, and reports
// what is available afterwards.
func (q *QuotaLine) Take(now time.Time, cost int) (available int, ok bool) {
	if q.waiting.Load() > 0 {
		return q.quota.Available(now), false
	}
	return q.quota.Take(now, cost)
}

// Refund adds tokens, for the callers that wait first, and reports what is available
// afterwards.
func (q *QuotaLine) Refund(tokens int) (available int) {
	available = q.quota.Refund(tokens)
	if q.waiting.Load() > 0 {
		q.wake()
	}
	return available
}

// Wait takes cost tokens as soon as they are there and all callers that came
// before have been served. It fails with ErrQuotaWait after limit, or at once if the cost
// is above the capacity, and with ctx.Err() when ctx is done first. Tokens that come
// exactly at the end of the limit come in time. A failure takes nothing. A cost of zero or
// less counts as 1.
func (q *QuotaLine) Wait(ctx context.Context, cost int, limit time.Duration) error {
	if cost > q.quota.Capacity() {
		return ErrQuotaWait
	}
	now := q.reading.Now()
	// The wait itself cannot be foreseen: tokens come from others too.
	_, _, err := q.await(ctx, now, Request{Cost: float64(cost), NotAfter: now.Add(max(limit, 0))})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrNotAfter):
		return ErrQuotaWait
	default:
		return err
	}
}

// Available reports how many tokens could be taken at now.
func (q *QuotaLine) Available(now time.Time) int { return q.quota.Available(now) }

// Capacity reports the largest number of tokens.
func (q *QuotaLine) Capacity() int { return q.quota.Capacity() }

// Refills reports whether time adds tokens.
func (q *QuotaLine) Refills() bool { return q.quota.Refills() }

// Waiting reports how many callers wait.
func (q *QuotaLine) Waiting() int { return int(q.waiting.Load()) }

// quotaAccount makes a quota an account. Costs are whole numbers there.
type quotaAccount struct{ quota *Quota }

// Take says when the refill will have brought the tokens; without one that is not known.
func (a quotaAccount) Take(now time.Time, cost float64) (time.Time, bool) {
	if _, ok := a.quota.Take(now, int(cost)); ok {
		return now, true
	}
	if wait := a.quota.until(now, int(cost)); wait < endless {
		return now.Add(wait), false
	}
	return time.Time{}, false
}

// Until foresees nothing, because refunds may come at any time.
func (a quotaAccount) Until(time.Time, float64) time.Duration { return 0 }

func (a quotaAccount) Give(_ time.Time, cost float64) { a.quota.Refund(int(cost)) }
func (a quotaAccount) Lift(time.Time, float64)        {}
func (a quotaAccount) Fill() Rate                     { return Rate(a.quota.refill) }
