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

// Limiter makes callers wait for the send tokens of a [SendRate], first come, first served.
// It has one queue and one timer, for the first in line, which a change of the rate moves.
// It holds no lock while callers wait, and needs no goroutine of its own. It is safe for
// concurrent use. Use [NewLimiter].
type Limiter struct {
	// limited is true once attempts may have to wait; before that Acquire takes no lock.
	limited atomic.Bool

	line
	state SendRate // what the account of the line is made of, so guarded by its lock
}

// NewLimiter returns a limiter on the given clock. It begins at config.Start, or now if that
// is zero.
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

// Acquire returns when the caller may send, and that instant, for [ratelimit.Response].Sent. Until the first
// throttle that is at once, unless there is a starting rate. It returns a [*ratelimit.WaitError] without waiting
// when the request does not allow the wait or when the wait would not leave [ratelimit.Request].Room before the
// deadline of ctx. It returns ctx.Err() when ctx is done first, and a [*ratelimit.WaitError] when a cut of the
// rate has made the wait too long for the deadline of ctx, for [ratelimit.Request].NotAfter or for
// [ratelimit.Request].MaxWait, or when one of the latter two has come. A failure takes no token and gives up
// the place in the queue.
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

// Report counts the response to an attempt, as [SendRate.Report] says. After a cut it looks at
// every caller that waits, some hundreds at a time, and others may come and go in between.
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
	if limited := l.state.limited; limited != l.limited.Load() { // false only for a state that began anew
		l.limited.Store(limited)
	}
	if l.queue.Len() > 0 && !cut { // after a cut, those who leave do so before others are served
		l.grantLocked(now)
	}
	return ratelimit.Change{From: from, To: l.state.bucket.Fill(), Cut: cut, Limited: l.state.limited}
}

// Give puts tokens back that an Acquire of this cost has got for an attempt that is not made; they
// go to the next in line. Report is not called for such an attempt.
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

// State returns what a snapshot says of the send rate, as of the last call, and of those who wait.
func (l *Limiter) State() retry.ScopeSnapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state.State()
	state.Waiting = l.queue.Len()
	return state
}

// sendAccount makes a send rate an account.
type sendAccount struct{ *SendRate }

// Take counts a token as taken at the instant as which the send rate reads now. Before the
// first throttle that is now itself.
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
