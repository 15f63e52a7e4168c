package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/internal/refill"
)

// Request is what a caller of [Limiter.Acquire] or [Line.Acquire] wants and accepts. The
// zero Request asks for one token and accepts every wait that ends before the deadline of
// the context.
type Request struct {
	// Cost is the number of tokens; zero or less means one, and more than 2^53 counts as
	// 2^53. A cost above the capacity of the bucket takes its time and is served too. Where
	// every attempt costs more than one, set [SendRateConfig].Cost as well.
	Cost float64
	// NoWait refuses every wait.
	NoWait bool
	// MaxWait bounds the wait; zero means no limit. A wait that is expected to be longer is
	// refused. One that becomes longer ends at the cut of the rate that shows it, and any other
	// after MaxWait. Tokens that come exactly at its end come in time.
	MaxWait time.Duration
	// MaxQueue refuses to wait behind that many callers; zero means no limit.
	MaxQueue int
	// NotAfter is the latest instant to send at; zero means any.
	NotAfter time.Time
	// Room is the time that a wait has to leave before the deadline of the context, so that the
	// attempt can end before it; half of the time until the deadline is always enough. Zero means that
	// any time will do. A caller that need not wait is not refused for want of room.
	Room time.Duration
	// OnWait is called before a wait begins, with no lock held; nil means none. A caller
	// whose OnWait panics leaves the queue.
	OnWait func(Wait)
}

// Wait says what a caller has to expect in the queue.
type Wait struct {
	// Expected is how long the wait takes if the rate stays as it is; zero if that is not
	// known.
	Expected time.Duration
	// Ahead is the number of callers that wait in front.
	Ahead int
	// FillRate is the present send rate.
	FillRate Rate
}

// ErrNotAfter is the Reason of a [WaitError] where the wait would end after
// [Request].NotAfter.
var ErrNotAfter = errors.New("ratelimit: the wait would end too late")

// Reasons that only their text tells apart.
var (
	errNoWait    = errors.New("ratelimit: waiting is not allowed")
	errQueueFull = errors.New("ratelimit: too many callers wait already")
	errWaitLimit = errors.New("ratelimit: the wait would be longer than allowed")
	errEndless   = errors.New("ratelimit: the wait would never end")
)

// WaitError is the error of [Limiter.Acquire] and [Line.Acquire] for a wait that is refused
// or given up.
type WaitError struct {
	// Wait is the wait that was refused or given up.
	Wait Wait
	// Reason is [context.DeadlineExceeded] if the wait would not leave [Request].Room before the
	// deadline of the context, [ErrNotAfter], or an error whose text says which limit of the [Request]
	// forbids the wait, or that the wait would never end: it is 292 years or more.
	Reason error
}

// Error says why the wait was refused, and then what it would have been.
func (e *WaitError) Error() string {
	reason := fmt.Sprint(e.Reason)
	if e.Reason == context.DeadlineExceeded { //nolint:errorlint // the value itself
		reason = "ratelimit: the wait would leave too little time before the caller's deadline"
	}
	return fmt.Sprintf("%s: %v to wait, %d ahead, %.4g tokens/s", reason, e.Wait.Expected, e.Wait.Ahead, float64(e.Wait.FillRate))
}

// Unwrap returns the reason.
func (e *WaitError) Unwrap() error { return e.Reason }

func (r Request) cost() float64 {
	if cost := amount(r.Cost); cost > 0 {
		return cost
	}
	return 1
}

// late reports whether now is too late to send.
func late(now, notAfter time.Time) bool { return !notAfter.IsZero() && now.After(notAfter) }

// refuse returns why the wait that begins now is not acceptable, or nil.
func (r Request) refuse(now time.Time, w Wait, e ends) error {
	switch {
	case late(now, r.NotAfter):
		return ErrNotAfter
	case r.NoWait:
		return errNoWait
	case r.MaxQueue > 0 && w.Ahead >= r.MaxQueue:
		return errQueueFull
	default:
		return e.refuse(now, w.Expected)
	}
}

// ends are the instants at which a caller does not wait any more; zero where there is none.
type ends struct {
	deadline time.Time // of the context, less the room that the caller needs
	last     time.Time // of the operation or of the wait, and still in time
	after    error     // why tokens that come after last are too late
}

// ends returns those of a caller that begins to wait now.
func (r Request) ends(ctx context.Context, now time.Time) ends {
	e := ends{last: r.NotAfter, after: ErrNotAfter}
	if deadline, ok := ctx.Deadline(); ok {
		e.deadline = deadline.Add(-min(r.Room, deadline.Sub(now)/2))
	}
	if end := now.Add(r.MaxWait); r.MaxWait > 0 && (e.last.IsZero() || end.Before(e.last)) {
		e.last, e.after = end, errWaitLimit
	}
	return e
}

// refuse returns why a wait that begins now and takes d is too long, or nil. Of two ends it
// names the one that comes first.
func (e ends) refuse(now time.Time, d time.Duration) error {
	switch {
	case !e.last.IsZero() && d > e.last.Sub(now) && (e.deadline.IsZero() || e.last.Before(e.deadline)):
		return e.after
	case !e.deadline.IsZero() && d >= e.deadline.Sub(now):
		return context.DeadlineExceeded
	case d == refill.Endless:
		return errEndless
	default:
		return nil
	}
}
