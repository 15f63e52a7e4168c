package ratelimit

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// ErrQuotaWait is the error of a wait for retry quota that took as long as it may.
var ErrQuotaWait = errors.New("no retry quota in the time allowed")

// QuotaLine is a Quota whose tokens can be waited for, first come, first served.
// It is safe for concurrent use. As long as nobody waits it costs what the Quota
// costs.
type QuotaLine struct {
	quota *Quota
	line
}

// NewQuotaLine returns a line for the tokens of a quota that nobody else takes
// from or gives to.
func NewQuotaLine(quota *Quota, clk clock.Clock) *QuotaLine {
	q := &QuotaLine{quota: quota}
	q.begin(clk, quotaAccount{quota})
	return q
}

// Take takes cost tokens if they are there and nobody waits for any, and reports
// what is available afterwards.
func (q *QuotaLine) Take(now time.Time, cost int) (available int, ok bool) {
	if q.waiting.Load() > 0 {
		return q.quota.Available(now), false
	}
	return q.quota.Take(now, cost)
}

// Refund adds tokens, for those who wait first, and reports what is available
// afterwards.
func (q *QuotaLine) Refund(tokens int) (available int) {
	available = q.quota.Refund(tokens)
	if q.waiting.Load() > 0 {
		q.wake()
	}
	return available
}

// Wait takes cost tokens as soon as they are there and everybody who came before
// has been served. It fails with ErrQuotaWait after limit, or at once if the cost
// is above the capacity, and with ctx.Err() when ctx is done first. Tokens that come
// exactly at the end of the limit come in time. A failure takes nothing.
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
