package sendrate

import (
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/ratelimit"
)

// Part is the send rate of retries after throttles of a part of a scope, in front of the line of the scope.
// There is none before the first such throttle. The zero value is ready for use.
type Part struct{ limited atomic.Pointer[limitedPart] }

type limitedPart struct {
	line  *line.Line
	state SendRate // guarded by the lock of the line
}

// Line returns the line in which an attempt waits, which may be one of those retries: theirs, or that of the scope.
func (p *Part) Line(retry bool, scope *line.Line) *line.Line {
	if limited := p.limited.Load(); retry && limited != nil {
		return limited.line
	}
	return scope
}

// Waiting returns how many callers wait for a token of the part.
func (p *Part) Waiting() int {
	if limited := p.limited.Load(); limited != nil {
		return limited.line.Waiting()
	}
	return 0
}

// Report counts the response to an attempt in the scope if it is about the part, and returns whether it cut
// the rate of that. The first throttle makes the part: a rate like that of the scope, which begins at
// what the scope measures. The caller holds the lock of the line of the scope.
func (p *Part) Report(now time.Time, r ratelimit.Response, scope *line.Line, like *SendRate, measured float64) (cut bool) {
	limited := p.limited.Load()
	switch {
	case !r.PartThrottled && (limited == nil || !r.Part):
		return false
	case limited == nil: // with a token for the first retry at any rate
		limited = &limitedPart{state: New(Config{
			Controller: like.config.Controller, Cost: like.config.Cost, StartingRate: max(ratelimit.Rate(measured), 1), clocked: like.config.clocked,
		}, now)}
		limited.line = scope.InFront(&limited.state)
		p.limited.Store(limited)
	}
	r.Throttled = r.PartThrottled
	return limited.state.Report(now, r)
}
