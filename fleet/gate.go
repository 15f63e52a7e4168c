package fleet

import (
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// gate is the account of a line that lets all callers through at an instant, or as soon as the member has joined.
type gate struct{ *limiter }

func (g gate) Take(now time.Time, _ float64) (at time.Time, ok bool) {
	if g.joined.Load() {
		return now, true
	}
	member := g.lock(now)
	defer g.mu.Unlock()
	if member.Before(g.opens) {
		return g.time.Reading(g.opens), false
	}
	return now, true
}

// Until reports an unknown wait, because most waits are much shorter than the maximum.
func (gate) Until(time.Time, float64) time.Duration { return 0 }
func (gate) Give(time.Time, float64)                {}
func (gate) Lift(time.Time, float64)                {}
func (gate) Fill() ratelimit.Rate                   { return 0 }
