package ratelimit

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Account is what a Line hands tokens out of, such as a bucket, or a list of slots that
// a server has handed out. The line calls its methods with the lock of the line held.
// An account may take a lock of its own in them, but must not call the line while it
// holds that.
type Account interface {
	// Take takes cost tokens, which is more than 0, if they are there, and returns the
	// instant that it counts them at: now, or a later one that it has seen. If they are
	// not there it takes none and returns when they will be, which is when the line asks
	// again; the zero time if that is not known.
	Take(now time.Time, cost float64) (at time.Time, ok bool)
	// Until returns how long it takes until there are cost tokens, for the first in line
	// and all others together; zero if they are there, or if that is not known. It takes
	// none.
	Until(now time.Time, cost float64) time.Duration
	// Give takes tokens back that were taken and not used.
	Give(now time.Time, cost float64)
	// Lift makes room for a cost above the capacity, because the caller that is first in
	// line needs that many; a cost of 0 ends that. An account without a capacity does
	// nothing.
	Lift(now time.Time, cost float64)
	// Fill returns how many tokens come each second, for Wait.FillRate only.
	Fill() Rate
}

// Line makes callers wait for the tokens of an Account, first come, first served. Those
// who wait stand in one queue with one timer, for the first in line. No lock is held
// while they wait. A Line is safe for concurrent use and needs no goroutine of its own.
type Line struct{ line }

// NewLine returns a line for the tokens of an account, on the given clock. Tokens that
// are taken from the account by other means than the line, or given to it, are a change
// for Poke.
func NewLine(account Account, clk clock.Clock) *Line {
	l := new(Line)
	l.begin(clk, account)
	return l
}

// Acquire returns when the caller may send, and that instant. It fails without waiting
// when the request does not allow the wait or ctx would be done before its end
// (*WaitError), and with ctx.Err() when ctx is done first. A wait that Poke finds too
// long fails then (*WaitError). A failure takes no token and gives up the place in the
// queue.
func (l *Line) Acquire(ctx context.Context, r Request) (sent time.Time, err error) {
	return l.acquire(ctx, l.reading.Now(), r)
}

// Expected says how long a caller that asked now would have to wait, as far as the
// account knows. A cost of zero or less means one.
func (l *Line) Expected(cost float64) time.Duration { return l.expected(l.reading.Now(), cost) }

// Waiting reports how many callers wait.
func (l *Line) Waiting() int { return int(l.waiting.Load()) }

// Poke says that the account has changed. Callers that can no longer be served before
// their deadline or before NotAfter fail with ErrDeadline or ErrNotAfter. Those whose
// tokens are there get them. The timer moves to when the first of the others is due.
func (l *Line) Poke() {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dismissLocked(now)
	l.grantLocked(now)
}
