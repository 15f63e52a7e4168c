package line

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/internal/refill"
	"github.com/awsretry/awsretry/ratelimit"
)

// Reasons that differ only in their text.
var (
	ErrNoWait    = errors.New("ratelimit: waiting is not allowed")
	ErrQueueFull = errors.New("ratelimit: too many callers wait already")
	ErrWaitLimit = errors.New("ratelimit: the wait would be longer than allowed")
	errEndless   = errors.New("ratelimit: the wait would never end")
)

// refuse returns why a request does not accept a wait that begins now, or nil.
func refuse(r *ratelimit.Request, now time.Time, w ratelimit.Wait, e ends) error {
	switch {
	case Late(now, r.NotAfter):
		return ratelimit.ErrNotAfter
	case r.NoWait:
		return ErrNoWait
	case r.MaxQueue > 0 && w.Ahead >= r.MaxQueue:
		return ErrQueueFull
	default:
		return e.refuse(now, w.Expected)
	}
}

// ends are the instants at which a caller stops waiting; zero means none.
type ends struct {
	deadline time.Time // of the context, less the room that the caller needs
	last     time.Time // of the operation or of the wait, and still in time
	after    error     // why tokens that come after last are too late
}

// endsOf returns the ends of a caller that begins to wait now.
func endsOf(ctx context.Context, r *ratelimit.Request, now time.Time) ends {
	e := ends{last: r.NotAfter, after: ratelimit.ErrNotAfter}
	if deadline, ok := ctx.Deadline(); ok {
		e.deadline = deadline.Add(-min(r.AttemptTime, deadline.Sub(now)/2))
	}
	if end := now.Add(r.MaxWait); r.MaxWait > 0 && (e.last.IsZero() || end.Before(e.last)) {
		e.last, e.after = end, ErrWaitLimit
	}
	return e
}

// refuse returns why a wait that begins now and takes d is too long, or nil. It names the earlier of two ends.
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
