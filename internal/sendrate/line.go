package sendrate

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/ratelimit"
)

// Account holds the tokens of a [Line], such as a bucket, or a list of slots from a server. The
// line calls its methods with the lock of the line held. They may take another lock, but the
// account must not call the line while it holds that lock.
type Account interface {
	// Take takes cost tokens if they are there; cost is more than 0. It returns the instant that
	// the tokens count from: now, or a later one that the account has seen. If they are not there,
	// it takes none and returns when they will be, which is when the line asks again; the zero time
	// if that is unknown.
	Take(now time.Time, cost float64) (at time.Time, ok bool)
	// Until returns how long it takes until there are cost tokens, for the first in line and all
	// others together; zero if they are there or if that is unknown. It takes none.
	Until(now time.Time, cost float64) time.Duration
	// Give returns tokens that were taken but not used.
	Give(now time.Time, cost float64)
	// Lift makes room for a cost above the capacity, which the first in line needs; a cost
	// of 0 ends that. An account without a capacity does nothing.
	Lift(now time.Time, cost float64)
	// Fill returns how many tokens come each second. It is only for [ratelimit.Wait].FillRate.
	Fill() ratelimit.Rate
}

// Line makes callers wait for the tokens of an [Account], first come, first served. It has one
// queue and one timer, for the first in line. It holds no lock while callers wait, and needs no
// goroutine. It is safe for concurrent use. Use [NewLine].
type Line struct{ line }

// NewLine returns a line for the tokens of an account, on the given clock. Call [Line.Poke] after
// anything but the line has taken tokens from the account or given some to it.
func NewLine(account Account, clk clock.Clock) *Line {
	l := new(Line)
	l.begin(clk, account)
	return l
}

// Acquire returns when the caller may send, with that instant. It returns a [*ratelimit.WaitError] without waiting when
// the request does not allow the wait or when the wait would not leave [ratelimit.Request].AttemptTime before the deadline of
// ctx. It returns ctx.Err() when ctx is done first, and a [*ratelimit.WaitError] when [Line.Poke] finds that the wait
// has become too long, or when [ratelimit.Request].MaxWait or [ratelimit.Request].NotAfter has passed. A failed Acquire
// takes no token and leaves the queue.
func (l *Line) Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error) {
	return l.acquire(ctx, l.reading.Now(), r)
}

// Give returns unused tokens of an Acquire of this cost; they go to the next in line.
func (l *Line) Give(cost float64) { l.give(cost) }

// Expected returns how long a caller that came now would have to wait, as far as the account
// knows. A cost of zero or less means one.
func (l *Line) Expected(cost float64) time.Duration { return l.expected(l.reading.Now(), cost) }

// Waiting returns how many callers wait.
func (l *Line) Waiting() int { return int(l.waiting.Load()) }

// Poke tells the line that the account has changed. The line dismisses, with a
// [*ratelimit.WaitError], callers that can no longer be served before their deadline or before
// [ratelimit.Request].NotAfter. It serves those whose tokens are there, and sets its timer for the
// first of the others. It checks every waiting caller, some hundreds at a time, and others may come
// and go in between.
func (l *Line) Poke() { l.dismiss() }

// Wake is Poke for an account that has gained tokens, so that no wait has become longer. It checks
// only the callers that it serves and the next one.
func (l *Line) Wake() { l.wake() }
