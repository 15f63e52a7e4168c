package ratelimit

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Limiter makes callers wait for the send tokens of a SendRate, first come,
// first served. Those who wait stand in one queue with one timer, for the first
// in line; no lock is held while they wait, and a change of the rate moves the
// timer. It is safe for concurrent use and needs no goroutine of its own.
type Limiter struct {
	// limited is true once attempts may have to wait; before that Acquire takes no lock.
	limited atomic.Bool

	line
	state SendRate // what the account of the line is made of, so guarded by its lock
}

// NewLimiter returns a limiter that begins now, on the given clock.
func NewLimiter(config SendRateConfig, clk clock.Clock) *Limiter {
	start := config.Start
	if start.IsZero() {
		start = clk.Now()
	}
	l := &Limiter{state: NewSendRate(config, start)}
	l.begin(clk, sendAccount{&l.state})
	l.limited.Store(l.state.limited)
	return l
}

// Acquire returns when the caller may send, and that instant, which Report
// wants to know. Until the first throttle that is at once, unless there is a
// starting rate. It fails without waiting when the request does not allow the wait
// or ctx would be done before its end (*WaitError), and with ctx.Err() when ctx is
// done first. A wait that a cut of the rate has made too long for the deadline of ctx
// or for NotAfter fails when the cut comes (*WaitError). A failure takes no token and
// gives up the place in the queue.
func (l *Limiter) Acquire(ctx context.Context, r Request) (sent time.Time, err error) {
	now := l.reading.Now()
	if !l.limited.Load() {
		if late(now, r.NotAfter) {
			return time.Time{}, &WaitError{Reason: ErrNotAfter}
		}
		return now, nil
	}
	return l.acquire(ctx, now, r)
}

// Report counts the response to an attempt, see SendRate.Report.
func (l *Limiter) Report(r Response) Change {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.state.bucket.Fill()
	cut := l.state.Report(now, r)
	if limited := l.state.limited; limited != l.limited.Load() { // false only for a state that began anew
		l.limited.Store(limited)
	}
	if l.queue.Len() > 0 {
		if cut {
			l.dismissLocked(now)
		}
		l.grantLocked(now)
	}
	return Change{From: from, To: l.state.bucket.Fill(), Cut: cut, Limited: l.state.limited}
}

// Expected says how long a caller that asked now would have to wait if the rate
// stays as it is. A cost of zero or less means one.
func (l *Limiter) Expected(cost float64) time.Duration {
	now := l.reading.Now()
	if !l.limited.Load() {
		return 0
	}
	return l.expected(now, cost)
}

// State reports the send rate as of the last call, and how many callers wait.
func (l *Limiter) State() (state SendRateState, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.State(), l.queue.Len()
}

// sendAccount makes a send rate an account.
type sendAccount struct{ *SendRate }

// Take counts a token as taken at the instant as which now is read. Before the first
// throttle that is now itself.
func (a sendAccount) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	wait, ok := a.SendRate.Take(now, cost)
	if wait == endless {
		return time.Time{}, false
	}
	if a.limited {
		now = a.newest
	}
	return now.Add(wait), ok
}
