package limit

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/ratelimit"
)

// Quota counts tokens. It is safe for concurrent use. Giving to a full quota with a full pool writes
// nothing, so that healthy traffic does not share a cache line. A nil Quota has no tokens and no room for any.
type Quota struct {
	capacity int64
	tokens   atomic.Int64
	lent     atomic.Uint64 // see Lend: Loans in the upper half, Debt in the lower
	owed     atomic.Int64  // of a pool, see Owe
	pool     *Quota        // or nil
	line     *Line         // of the callers that wait for tokens; nil if none may wait
	refill   *growth       // nil if time brings no tokens
	limit    *debtLimit    // nil if there is none
}

// perLoan is the debt for a retry without tokens: what a retry costs in the AWS SDKs.
const perLoan = 14

// QuotaConfig describes a Quota.
type QuotaConfig struct {
	// Capacity is the largest number of tokens. 0 refuses every retry; a negative number counts as 0.
	Capacity int
	// Initial is the number of tokens at the start, cut to [0, Capacity].
	Initial int
	// Refill is how many tokens per second the quota gains over time. 0 means none, as in the AWS
	// SDKs; a rate that is negative or not a number counts as 0.
	Refill ratelimit.Rate
	// DebtStep is what a retry costs, if there is a limit on what the quota may lack, see Limits. 0 means no limit.
	DebtStep int
	// Waits says that callers may wait for tokens, see Wait. A quota with a pool does as its pool.
	Waits bool
	// Pool is a second quota, which several quotas may share. It gets refunds beyond the capacity,
	// and pays when this quota cannot, see Charge. Nil means none. A pool has no pool, and no refill.
	Pool *Quota
}

// PoolOf returns the config of the pool for quotas with this capacity, where a retry costs
// retryCost tokens. It holds a fifth of a quota, but at least two retries and at most a quota. It
// starts empty, but full where retries cost nothing and it can only be full.
func PoolOf(capacity, retryCost int, waits bool) QuotaConfig {
	switch {
	case retryCost == 0:
		return QuotaConfig{Capacity: capacity / 5, Initial: capacity / 5, Waits: waits}
	case retryCost > capacity/2:
		return QuotaConfig{Capacity: capacity, Waits: waits}
	default:
		return QuotaConfig{Capacity: max(capacity/5, 2*retryCost), Waits: waits}
	}
}

// NewQuota returns a quota on the given clock. Its refill, if any, counts from start.
func NewQuota(config QuotaConfig, start time.Time, clk clock.Clock) *Quota {
	q := &Quota{capacity: int64(max(config.Capacity, 0)), pool: config.Pool}
	q.tokens.Store(min(max(int64(config.Initial), 0), q.capacity))
	if config.Refill > 0 {
		q.refill = &growth{rate: min(float64(config.Refill), math.MaxFloat64), clock: clk}
		q.refill.since = q.refill.time.At(start)
	}
	if config.DebtStep > 0 {
		q.limit = newDebtLimit(config.DebtStep, q.capacity, q.tokens.Load(), start, clk)
	}
	switch {
	case q.pool != nil && q.pool.line != nil:
		q.line = q.pool.line.Beside(account{q}, float64(q.pool.capacity))
	case q.pool == nil && config.Waits:
		q.line = NewLine(account{q}, clk)
	}
	return q
}

// Charge takes cost tokens from the quota, or else all of them from its pool. It returns which of the two paid and so gets
// a refund; nil if neither could pay, and then nothing has changed. No caller is served past those who wait: for this
// quota, and in the case of the pool for any that shares it. A negative cost counts as 0.
func (q *Quota) Charge(cost int) (payer *Quota) {
	if q != nil && q.limit != nil {
		q.limit.charge(q.tokens.Load())
	}
	if q == nil || q.Waiting() == 0 && q.take(cost) {
		return q
	}
	return q.pool.Charge(cost)
}

// Limits reports whether the quota lacks too many tokens for a retry at this cost, also one that the pool would pay. What was
// lent does not count, because it has a bound of its own.
func (q *Quota) Limits(cost int) bool {
	return q.limit != nil && q.limit.refuses(int64(q.Available()), int64(cost))
}

// DebtLimit returns how many tokens the quota may lack after it has paid for a retry; 0 without a limit.
func (q *Quota) DebtLimit() int {
	if q.limit == nil {
		return 0
	}
	return int(min(q.limit.limit.Load(), math.MaxInt))
}

// Helped notes a success after a retry, or on the first attempt with a quota that is not full, see Limits.
func (q *Quota) Helped() {
	if q.limit != nil {
		q.limit.add(1)
	}
}

// Failed notes a retry that failed, see Limits.
func (q *Quota) Failed() {
	if q.limit != nil {
		q.limit.add(-perFailure)
	}
}

func (q *Quota) take(cost int) bool {
	q.advance()
	want := int64(max(cost, 0))
	for {
		have := q.tokens.Load()
		if have < want {
			return false
		}
		if q.tokens.CompareAndSwap(have, have-want) {
			return true
		}
	}
}

// Refund adds tokens, first for waiting callers. Tokens beyond the capacity go to the pool, up to
// its capacity, and then pay what is owed, see Owe. They also pay what was lent, see Lend. A negative number of tokens
// counts as 0.
func (q *Quota) Refund(tokens int) {
	if q.refill == nil && q.Full() && q.pool.Full() && q.Debt() == 0 && q.pool.Owed() == 0 { // as in healthy traffic, where no caller waits
		return
	}
	q.give(tokens)
	if q.line != nil && (q.line.Waiting() > 0 || q.pool != nil && q.pool.line.Waiting() > 0) {
		q.line.Changed(false)
	}
}

// Full reports whether nothing can be added.
func (q *Quota) Full() bool { return q == nil || q.tokens.Load() == q.capacity }

func (q *Quota) give(tokens int) {
	q.advance()
	_, beyond := q.add(int64(max(tokens, 0)))
	if beyond > 0 {
		q.repay(uint64(beyond))
	}
	if q.pool != nil && beyond > 0 {
		if _, beyond = q.pool.add(beyond); beyond > 0 {
			q.pool.Settle(int(beyond))
		}
	}
}

// Lend reports whether a retry may be made without tokens, after an attempt that lost its connection and was sent when Loans
// had the given value. When a connection goes, all that is in flight on it fails at once, which says no more than one
// failure. So a quota without debt lends, and one with debts lends only to what was in flight when they began. A debt is paid by
// tokens that a full quota has no room for; the success of the retry pays nothing. So the retries without tokens are
// at most those in flight once, and then one for each 14 first successes. A quota that can never pay the cost lends nothing.
func (q *Quota) Lend(cost int, loans uint32) bool {
	for q != nil && int64(cost) <= q.capacity {
		was := q.lent.Load()
		next := was + perLoan
		switch debt := uint32(was); { //nolint:gosec // the lower half
		case debt == 0:
			next += 1 << 32
		case loans == uint32(was>>32), debt > math.MaxInt32-perLoan:
			return false
		}
		if q.lent.CompareAndSwap(was, next) {
			return true
		}
	}
	return false
}

// begin takes what a new quota owes from its tokens, and notes the rest as a debt.
func (q *Quota) begin(owed int) {
	tokens := min(owed, int(q.tokens.Load()))
	q.tokens.Add(-int64(tokens))
	q.lent.Store(uint64(owed - tokens)) //nolint:gosec // not negative
}

// Loans returns how often the quota has lent without a debt.
func (q *Quota) Loans() uint32 { return uint32(q.lent.Load() >> 32) }

// Debt returns how many tokens are owed for retries that were lent.
func (q *Quota) Debt() int { return int(uint32(q.lent.Load())) } //nolint:gosec // the lower half

func (q *Quota) repay(tokens uint64) {
	for {
		was := q.lent.Load()
		paid := min(tokens, was&math.MaxUint32)
		if paid == 0 || q.lent.CompareAndSwap(was, was-paid) {
			return
		}
	}
}

// Owe notes in a pool what a quota lacks that is no longer used, and whose tokens others shall get. A negative number counts as 0.
func (q *Quota) Owe(lacked int) { q.owed.Add(int64(max(lacked, 0))) }

// Owed returns how many tokens are owed; 0 for nil.
func (q *Quota) Owed() int {
	if q == nil {
		return 0
	}
	return int(q.owed.Load())
}

// Settle pays at most so many of the tokens that are owed, and returns how many.
func (q *Quota) Settle(tokens int) (paid int) {
	for {
		owed := q.owed.Load()
		if paid = int(min(int64(tokens), owed)); paid == 0 || q.owed.CompareAndSwap(owed, owed-int64(paid)) {
			return paid
		}
	}
}

// add adds as many tokens as fit, and returns how many are available now and how many did not fit.
func (q *Quota) add(tokens int64) (available, beyond int64) {
	for {
		have := q.tokens.Load()
		more := min(tokens, q.capacity-have)
		if more == 0 || q.tokens.CompareAndSwap(have, have+more) {
			return have + more, tokens - more
		}
	}
}

// Wait takes cost tokens as soon as the quota or its pool has them and all callers that came before have
// been served: those that wait for this quota, and in the case of the pool those that wait for any that
// shares it. It returns which of the two paid. It fails with a [*ratelimit.WaitError] after limit, after notAfter, or at once
// if the cost is above the capacity or no caller may wait, and with ctx.Err() when ctx is done first. Tokens that come
// exactly at the limit are in time. A failure takes nothing. A cost of zero or less counts as 1, and no caller waits for more
// than 2^53 tokens, which the floats of the line would round.
func (q *Quota) Wait(ctx context.Context, cost int, limit time.Duration, notAfter time.Time) (payer *Quota, err error) {
	if q.line == nil || int64(cost) > min(q.capacity, 1<<53) {
		return nil, &ratelimit.WaitError{Reason: ErrWaitLimit}
	}
	request := ratelimit.Request{Cost: float64(cost), NoWait: limit <= 0, MaxWait: limit, NotAfter: notAfter}
	_, paid, err := q.line.Acquire(ctx, request)
	if err != nil {
		return nil, err
	}
	return paid.(account).Quota, nil //nolint:forcetypeassert // all accounts of these lines are quotas
}

// Available returns how many tokens could be taken if no caller waits.
func (q *Quota) Available() int {
	if q == nil {
		return 0
	}
	q.advance()
	return int(q.tokens.Load())
}

// Capacity returns the largest number of tokens.
func (q *Quota) Capacity() int { return int(q.capacity) }

// Pooled returns how many tokens are in the pool; 0 without one.
func (q *Quota) Pooled() int { return q.pool.Available() }

// Waiting returns how many callers wait: in the case of a pool, for any of its quotas.
func (q *Quota) Waiting() int { return q.line.Waiting() }

// advance adds the whole tokens that time has brought.
func (q *Quota) advance() {
	g := q.refill
	if g == nil {
		return
	}
	reading := g.clock.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	now, whole := g.time.At(reading), q.capacity
	if due := Grown(0, g.rate, now.Sub(g.since)) - float64(g.given); due < float64(whole) {
		whole = int64(due)
	}
	if sum, _ := q.add(whole); sum == q.capacity {
		g.since, g.given = now, 0
	} else {
		g.given += whole
	}
}

// growth is what time brings to a quota. It counts the tokens from when the quota was last full, so that a
// slow refill is not rounded away, and no sum of fractions rounds at each call.
type growth struct {
	rate  float64 // tokens per second, finite
	clock clock.Clock

	mu    sync.Mutex // guards what follows
	time  instant.Forward
	since time.Time // when the quota last was full, or the start
	given int64     // how many tokens time has added since
}

// until returns how long the refill takes to bring the missing tokens if no caller takes or adds any. The
// wait is never zero.
func (g *growth) until(reading time.Time, missing int64) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Left(TimeUntil(0, float64(g.given+missing), g.rate), g.time.Of(reading).Sub(g.since))
}

// account adapts a quota to its line, where costs are whole numbers.
type account struct{ *Quota }

// Take also says when the refill will have brought the tokens; without a refill that is not known.
func (a account) Take(now time.Time, cost float64) (time.Time, bool) {
	switch {
	case a.take(int(cost)):
		return now, true
	case a.refill == nil:
		return time.Time{}, false
	default:
		now = a.refill.clock.Now() // as the refill reads it
		return now.Add(a.refill.until(now, int64(cost)-int64(a.Available()))), false
	}
}

// Until predicts nothing, because refunds may come at any time.
func (a account) Until(time.Time, float64) time.Duration { return 0 }

func (a account) Give(_ time.Time, cost float64) { a.give(int(cost)) }
func (a account) Lift(time.Time, float64)        {}
func (a account) Fill() ratelimit.Rate           { return 0 }
