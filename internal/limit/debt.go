package limit

import (
	"math"
	"sync/atomic"
	"time"
)

const (
	// debtFree is how long no debt is too large after a retry that found as many tokens as ever, because calls that begin together
	// fail together.
	debtFree = time.Second
	// perFailure is how many successes one retry that fails outweighs.
	perFailure = 6
)

// debtLimit is how many tokens a quota may lack when it pays for a retry. Many processes that each have a full quota keep a
// service down that cannot do what all retries ask for. None sees the others, but each sees that its retries fail. So the
// limit is one retry at first. Each success with a quota that is not full, or after a retry, adds one; each retry that
// fails takes six.
type debtLimit struct {
	step  int64        // what a retry costs: the least limit
	limit atomic.Int64 // less step
	top   atomic.Int64 // the most tokens that a retry has found, or the first ones
	start time.Time
	free  atomic.Int64 // when debtFree ends, since start; long ago at first
}

func newDebtLimit(step int, tokens int64, start time.Time) *debtLimit {
	d := &debtLimit{step: int64(step), start: start}
	d.top.Store(tokens)
	d.free.Store(math.MinInt64 / 2)
	return d
}

// refuses reports whether a quota with so many tokens pays for no retry at this cost.
func (d *debtLimit) refuses(tokens, cost int64, now time.Time) bool {
	left := d.free.Load() - int64(now.Sub(d.start))
	return d.top.Load()-tokens > d.most()-cost && (left <= 0 || left > int64(debtFree))
}

func (d *debtLimit) most() int64 { return d.step + d.limit.Load() }

// charge notes that a retry has found so many tokens.
func (d *debtLimit) charge(tokens int64, now time.Time) {
	for top := d.top.Load(); tokens >= top; top = d.top.Load() {
		if d.top.CompareAndSwap(top, tokens) {
			d.free.Store(int64(now.Sub(d.start) + debtFree))
			return
		}
	}
}

// add raises the limit by so many retries, up to all that a quota can lack and one retry more.
func (d *debtLimit) add(retries, capacity int64) {
	for {
		was := d.limit.Load()
		next := min(max(was+retries*d.step, 0), capacity)
		if next == was || d.limit.CompareAndSwap(was, next) {
			return
		}
	}
}
