package fleet

import (
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// gate is the account of a line that lets all callers through at an instant, or as soon as open is
// true.
type gate struct {
	open *atomic.Bool
	at   time.Time
}

func (g *gate) Take(now time.Time, _ float64) (at time.Time, ok bool) {
	if g.open.Load() || !now.Before(g.at) {
		return now, true
	}
	return g.at, false
}

// Until reports an unknown wait, because most waits are much shorter than the maximum.
func (g *gate) Until(time.Time, float64) time.Duration { return 0 }
func (g *gate) Give(time.Time, float64)                {}
func (g *gate) Lift(time.Time, float64)                {}
func (g *gate) Fill() ratelimit.Rate                   { return 0 }
