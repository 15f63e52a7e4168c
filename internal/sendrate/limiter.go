package sendrate

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Limiter makes callers wait for the send tokens of a [SendRate], first come, first served. It is safe for
// concurrent use. Use [NewLimiter].
//
// After a throttle of a part of the scope it has a second send rate, for attempts with
// [ratelimit.Request].Part. Those wait for a token of the part first, and then for one of the scope. Both
// waits are one: in what the caller has to expect, in the limits of the request, and in the number of those
// who wait.
type Limiter struct {
	// limited is true once attempts may have to wait; before that Acquire takes no lock.
	limited atomic.Bool

	line  *limit.Line
	state SendRate // guarded by the lock of the line
	part  Part
}

// NewLimiter returns a limiter on the given clock that begins at config.Start, or now if that is
// zero.
func NewLimiter(config Config, clk clock.Clock) *Limiter {
	if config.Start.IsZero() {
		config.Start = clk.Now()
	}
	config.clocked = true
	l := &Limiter{state: New(config, config.Start)}
	l.line = limit.NewLine(&l.state, clk)
	l.limited.Store(l.state.limited)
	return l
}

// Acquire returns when the caller may send, with that instant, for [ratelimit.Response].Sent; its errors
// are those of [limit.Line.Acquire]. Before the first throttle it returns at once, unless there is a starting
// rate. A rate cut ends waits that it has made too long.
func (l *Limiter) Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error) {
	if waits := l.part.Line(r.Part, l.line); waits != l.line || l.limited.Load() {
		sent, _, err = waits.Acquire(ctx, r)
		return sent, err
	}
	now := l.line.Now()
	if instant.Late(now, r.NotAfter) {
		return time.Time{}, &ratelimit.WaitError{Reason: ratelimit.ErrNotAfter}
	}
	return now, nil
}

// Report counts the response to an attempt, as [SendRate.Report] says. After a cut it checks every
// waiting caller.
func (l *Limiter) Report(r ratelimit.Response) (change ratelimit.Change) {
	now := l.line.Lock()
	change.From = l.state.fill
	change.Cut = l.state.Report(now, r)
	change.To, change.Limited = l.state.fill, l.state.limited
	if change.Limited != l.limited.Load() { // false only for a state that was reset
		l.limited.Store(change.Limited)
	}
	partCut := l.part.Report(now, r, l.line, &l.state, float64(l.state.measured.rate))
	l.line.Serve(now, change.Cut || partCut)
	return change
}

// Give returns the tokens of an Acquire of this request for an attempt that is not made; they go
// to the next in line. Do not call Report for such an attempt.
func (l *Limiter) Give(r ratelimit.Request) { l.part.Line(r.Part, l.line).Give(r.Cost) }

// Expected returns how long a caller with this request that came now would have to wait if the rates stay
// as they are.
func (l *Limiter) Expected(r ratelimit.Request) time.Duration {
	return l.part.Line(r.Part, l.line).Expected(r.Cost)
}

// State returns the send rate fields of a snapshot, as of the last call, and the number of waiting
// callers.
func (l *Limiter) State() retry.ScopeSnapshot {
	l.line.Lock()
	defer l.line.Unlock()
	state := l.state.State()
	state.Waiting = l.line.Waiting() + l.part.Waiting()
	return state
}

// Part is the send rate of retries after throttles of a part of a scope, in front of the line of the scope.
// There is none before the first such throttle. The zero value is ready for use.
type Part struct {
	line  atomic.Pointer[limit.Line]
	state *SendRate // guarded by the lock of the line
}

// Line returns the line in which an attempt waits, which may be one of those retries: theirs, or that of the scope.
func (p *Part) Line(retry bool, scope *limit.Line) *limit.Line {
	if own := p.line.Load(); retry && own != nil {
		return own
	}
	return scope
}

// Waiting returns how many callers wait for a token of the part.
func (p *Part) Waiting() int { return p.line.Load().Waiting() }

// Report counts the response to an attempt in the scope if it is about the part, and returns whether it cut
// the rate of that. The first throttle makes the part: a rate like that of the scope, which begins at
// what the scope measures. The caller holds the lock of the line of the scope.
func (p *Part) Report(now time.Time, r ratelimit.Response, scope *limit.Line, like *SendRate, measured float64) (cut bool) {
	switch {
	case !r.PartThrottled && (p.state == nil || !r.Part):
		return false
	case p.state == nil: // with a token for the first retry at any rate
		state := New(Config{
			Controller: like.config.Controller, Cost: like.config.Cost, StartingRate: max(ratelimit.Rate(measured), 1), clocked: true,
		}, now)
		p.state = &state
		p.line.Store(scope.InFront(p.state))
	}
	r.Throttled = r.PartThrottled
	return p.state.Report(now, r)
}
