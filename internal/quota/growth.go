package quota

import (
	"math"
	"sync"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/refill"
)

// growth is what time brings to a quota. It counts the tokens from when the quota was last full, so that a
// slow refill is not rounded away, and no sum of fractions rounds at each call.
type growth struct {
	rate float64 // tokens per second

	mu     sync.Mutex // guards what follows
	newest time.Time  // the newest instant seen
	since  time.Time  // when the quota last was full, or the start
	given  int64      // how many tokens time has added since
}

// advance adds the whole tokens that time has brought.
func (g *growth) advance(q *Quota, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case now.After(g.newest):
		g.newest = now
	case instant.WentBack(now, g.newest):
		g.newest, g.since = now, now.Add(-g.newest.Sub(g.since))
	}
	whole := int64(0)
	if passed := g.newest.Sub(g.since); passed > 0 {
		whole = math.MaxInt64
		if due := refill.Grown(0, g.rate, passed) - float64(g.given); due < float64(q.capacity) {
			whole = int64(due)
		}
	}
	if sum, _ := q.add(whole); sum == q.capacity {
		g.since, g.given = g.newest, 0
	} else {
		g.given += whole
	}
}

// until returns how long the refill takes to bring the missing tokens if no caller takes or adds any. The
// wait is never zero.
func (g *growth) until(now time.Time, missing int64) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return refill.Left(refill.Wait(0, float64(g.given+missing), g.rate), now.Sub(g.since))
}
