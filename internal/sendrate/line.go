package sendrate

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/ratelimit"
)

// Account is what a [Line] hands tokens out of, such as a bucket, or a list of slots that a
// server has handed out. The line calls its methods with the lock of the line held. They may
// take a lock of their own, but the account must not call the line while it holds that lock.
type Account interface {
	// Take takes cost tokens, which is more than 0, if they are there. It returns the
	// instant that the tokens count from: now, or a later one that the account has seen. If
	// they are not there, it takes none and returns when they will be, which is when the
	// line asks again; the zero time if that is not known.
	Take(now time.Time, cost float64) (at time.Time, ok bool)
	// Until returns how long it takes until there are cost tokens, for the first in line
	// and all others together; zero if they are there or if that is not known. It takes
	// none.
	Until(now time.Time, cost float64) time.Duration
	// Give takes tokens back that were taken and not used.
	Give(now time.Time, cost float64)
	// Lift makes room for a cost above the capacity, which the first in line needs; a cost
	// of 0 ends that. An account without a capacity does nothing.
	Lift(now time.Time, cost float64)
	// Fill returns how many tokens come each second. It is only for [ratelimit.Wait].FillRate.
	Fill() ratelimit.Rate
}

// Line makes callers wait for the tokens of an [Account], first come, first served. It has
// one queue and one timer, for the first in line. It holds no lock while callers wait, and
// needs no goroutine of its own. It is safe for concurrent use. Use [NewLine].
type Line struct{ line }

// NewLine returns a line for the tokens of an account, on the given clock. Where tokens are
// taken from the account or given to it by other means than the line, call [Line.Poke].
func NewLine(account Account, clk clock.Clock) *Line {
	l := new(Line)
	l.begin(clk, account)
	return l
}

// Acquire returns when the caller may send, and that instant. It returns a [*ratelimit.WaitError]
// without waiting when the request does not allow the wait or when the wait would not leave
// [ratelimit.Request].Room before the deadline of ctx. It returns ctx.Err() when ctx is done first, and a [*ratelimit.WaitError]
// when [Line.Poke] finds that the wait has become too long, or when it has taken [ratelimit.Request].MaxWait or
// until [ratelimit.Request].NotAfter. A failure takes no token and gives up the place in the queue.
func (l *Line) Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error) {
	return l.acquire(ctx, l.reading.Now(), r)
}

// Give puts tokens back that an Acquire of this cost has got and that are not used; they go to the
// next in line.
func (l *Line) Give(cost float64) { l.give(cost) }

// Expected returns how long a caller that came now would have to wait, as far as the account
// knows. A cost of zero or less means one.
func (l *Line) Expected(cost float64) time.Duration { return l.expected(l.reading.Now(), cost) }

// Waiting returns how many callers wait.
func (l *Line) Waiting() int { return int(l.waiting.Load()) }

// Poke tells the line that the account has changed. The line sends away, with a
// [*ratelimit.WaitError], callers that can no longer be served before their deadline or before
// [ratelimit.Request].NotAfter. It serves those whose tokens are there, and sets its timer for the
// first of the others. It looks at every caller that waits, some hundreds at a time, and others
// may come and go in between.
func (l *Line) Poke() { l.dismiss() }

// Wake is Poke for tokens that have come to the account, where no wait has become longer.
// It looks only at the callers that it serves and at the next one.
func (l *Line) Wake() { l.wake() }
