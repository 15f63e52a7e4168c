package sendrate

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/refill"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Limiter makes callers wait for the send tokens of a [SendRate], first come, first served. It has
// one queue and one timer, for the first in line; a change of the rate moves the timer. It holds no
// lock while callers wait, and needs no goroutine. It is safe for concurrent use. Use [NewLimiter].
type Limiter struct {
	// limited is true once attempts may have to wait; before that Acquire takes no lock.
	limited atomic.Bool

	line
	state SendRate // behind the account of the line, so guarded by its lock
}

// NewLimiter returns a limiter on the given clock that begins at config.Start, or now if that is
// zero.
func NewLimiter(config Config, clk clock.Clock) *Limiter {
	start := config.Start
	if start.IsZero() {
		start = clk.Now()
	}
	l := &Limiter{state: New(config, start)}
	l.begin(clk, sendAccount{&l.state})
	l.limited.Store(l.state.limited)
	return l
}

// Acquire returns when the caller may send, with that instant, for [ratelimit.Response].Sent. Before the first
// throttle it returns at once, unless there is a starting rate. It returns a [*ratelimit.WaitError] without
// waiting when the request does not allow the wait or when the wait would not leave [ratelimit.Request].AttemptTime
// before the deadline of ctx. It returns ctx.Err() when ctx is done first, and a [*ratelimit.WaitError] when a
// rate cut has made the wait too long for the deadline of ctx, for [ratelimit.Request].NotAfter or for
// [ratelimit.Request].MaxWait, or when one of the latter two has passed. A failed Acquire takes no token and
// leaves the queue.
func (l *Limiter) Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error) {
	now := l.reading.Now()
	if !l.limited.Load() {
		if late(now, r.NotAfter) {
			return time.Time{}, &ratelimit.WaitError{Reason: ratelimit.ErrNotAfter}
		}
		return now, nil
	}
	return l.acquire(ctx, now, r)
}

// Report counts the response to an attempt, as [SendRate.Report] says. After a cut it checks every
// waiting caller, some hundreds at a time, and others may come and go in between.
func (l *Limiter) Report(r ratelimit.Response) ratelimit.Change {
	now := l.reading.Now()
	change := l.report(now, r)
	if change.Cut && l.waiting.Load() > 0 {
		l.dismiss()
	}
	return change
}

func (l *Limiter) report(now time.Time, r ratelimit.Response) ratelimit.Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.state.bucket.Fill()
	cut := l.state.Report(now, r)
	if limited := l.state.limited; limited != l.limited.Load() { // false only for a state that was reset
		l.limited.Store(limited)
	}
	if l.queue.Len() > 0 && !cut { // after a cut, those who leave do so before others are served
		l.grantLocked(now)
	}
	return ratelimit.Change{From: from, To: l.state.bucket.Fill(), Cut: cut, Limited: l.state.limited}
}

// Give returns the tokens of an Acquire of this cost for an attempt that is not made; they go to
// the next in line. Do not call Report for such an attempt.
func (l *Limiter) Give(cost float64) { l.give(cost) }

// Expected returns how long a caller that came now would have to wait if the rate stays as
// it is. cost is in send tokens; zero or less means one.
func (l *Limiter) Expected(cost float64) time.Duration {
	now := l.reading.Now()
	if !l.limited.Load() {
		return 0
	}
	return l.expected(now, cost)
}

// State returns the send rate fields of a snapshot, as of the last call, and the number of waiting
// callers.
func (l *Limiter) State() retry.ScopeSnapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state.State()
	state.Waiting = l.queue.Len()
	return state
}

// sendAccount adapts a send rate to an account.
type sendAccount struct{ *SendRate }

// Take counts a token as taken at the instant that the send rate uses for now. Before the first
// throttle that is now itself.
func (a sendAccount) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	wait, ok := a.SendRate.Take(now, cost)
	if wait == refill.Endless {
		return time.Time{}, false
	}
	if a.limited {
		now = a.newest
	}
	return now.Add(wait), ok
}
