package limit

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
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
	case instant.Late(now, r.NotAfter):
		return ratelimit.ErrNotAfter
	case r.NoWait:
		return ErrNoWait
	case r.MaxQueue > 0 && w.Ahead >= r.MaxQueue:
		return ErrQueueFull
	default:
		return e.refuse(now, w.Expected)
	}
}

// ends are the instants at which a caller stops waiting: the deadline of its context, less the room that it needs, and the
// end of the operation or of the wait.
type ends struct {
	instant.Ends
	after error // why tokens that come after Last are too late
}

// endsOf returns the ends of a caller that begins to wait now.
func endsOf(ctx context.Context, r *ratelimit.Request, now time.Time) ends {
	e := ends{instant.EndsOf(ctx, now, r.NotAfter, r.AttemptTime), ratelimit.ErrNotAfter}
	if end := now.Add(r.MaxWait); r.MaxWait > 0 && (e.Last.IsZero() || end.Before(e.Last)) {
		e.Last, e.after = end, ErrWaitLimit
	}
	return e
}

// refuse returns why a wait that begins now and takes d is too long, or nil.
func (e ends) refuse(now time.Time, d time.Duration) error {
	switch missed := e.Missed(now, d); {
	case missed == instant.Last:
		return e.after
	case missed == instant.Deadline:
		return context.DeadlineExceeded
	case d == Endless:
		return errEndless
	default:
		return nil
	}
}
