package limit

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
)

// Both numbers are a choice between the rows of the table of storms in docs/modes.md, which were played with others too.
const (
	// debtFree is how long no debt is too large after a retry that found as many tokens as ever, because calls that begin together
	// fail together. Without it 3.0 % of the calls of new processes fail in bursts of 20 where a fifth of the attempts fails, not
	// 0.8 %. With three seconds a storm of a thousand processes takes 168 s, not 101 s.
	debtFree = time.Second
	// perFailure is how many successes one retry that fails outweighs. With three, the second storm takes 245 s, not 159 s. With
	// twelve, 1.6 % of the calls of those bursts fail in a process that goes on, not 0.9 %.
	perFailure = 6
)

// debtLimit is how many tokens a quota may lack when it pays for a retry. Many processes that each have a full quota keep a
// service down that cannot do what all retries ask for. None sees the others, but each sees that its retries fail. So the
// limit is one retry at first. Each success with a quota that is not full, or after a retry, adds one; each retry that
// fails takes six.
type debtLimit struct {
	step  int64 // what a retry costs: the least limit
	most  int64 // the largest one: all that a quota can lack, and one retry
	limit atomic.Int64
	top   atomic.Int64 // the most tokens that a retry has found, or the first ones
	clock clock.Clock
	start time.Time
	began atomic.Int64 // when debtFree began, since start; long ago at first
}

// newDebtLimit returns the limit of a quota with so many tokens. No sum of its numbers overflows.
func newDebtLimit(step int, capacity, tokens int64, start time.Time, clk clock.Clock) *debtLimit {
	d := &debtLimit{step: min(int64(step), maxAmount), clock: clk, start: start}
	d.most = min(capacity, maxAmount) + d.step
	d.limit.Store(d.step)
	d.top.Store(tokens)
	d.began.Store(math.MinInt64 / 2)
	return d
}

// refuses reports whether a quota with so many tokens pays for no retry at this cost.
func (d *debtLimit) refuses(tokens, cost int64) bool {
	if d.top.Load()-tokens <= d.limit.Load()-cost {
		return false
	}
	now, began := d.clock.Now(), d.start.Add(time.Duration(d.began.Load()))
	return now.Sub(began) >= debtFree || instant.WentBack(now, began)
}

// charge notes that a retry has found so many tokens.
func (d *debtLimit) charge(tokens int64) {
	for top := d.top.Load(); tokens >= top; top = d.top.Load() {
		if d.top.CompareAndSwap(top, tokens) {
			d.began.Store(int64(d.clock.Now().Sub(d.start)))
			return
		}
	}
}

// add raises the limit by so many retries.
func (d *debtLimit) add(retries int64) {
	for {
		was := d.limit.Load()
		next := min(max(was+retries*d.step, d.step), d.most)
		if next == was || d.limit.CompareAndSwap(was, next) {
			return
		}
	}
}
