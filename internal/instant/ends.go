package instant

import (
	"context"
	"time"
)

// Ends are the instants that bound a wait. The zero time bounds nothing.
type Ends struct {
	Deadline time.Time // the wait must be over before it
	Last     time.Time // the wait may be over at it
}

// End is one of [Ends].
type End string

// The ends that a wait may miss.
const (
	InTime   End = ""
	Deadline End = "deadline"
	Last     End = "last"
)

// EndsOf returns the ends of a wait that begins now, for a caller who needs some room before the deadline of ctx; half of
// the time until then is enough. last is the other end.
func EndsOf(ctx context.Context, now, last time.Time, room time.Duration) Ends {
	deadline, ok := ctx.Deadline()
	if ok {
		deadline = deadline.Add(-min(room, deadline.Sub(now)/2))
	}
	return Ends{deadline, last}
}

// Missed returns which end a wait misses that begins now and takes d: the earlier one if it misses both.
func (e Ends) Missed(now time.Time, d time.Duration) End {
	deadline := !e.Deadline.IsZero() && d >= e.Deadline.Sub(now)
	switch {
	case !e.Last.IsZero() && d > e.Last.Sub(now) && (!deadline || e.Last.Before(e.Deadline)):
		return Last
	case deadline:
		return Deadline
	default:
		return InTime
	}
}

// Late reports whether now is after the last instant.
func Late(now, last time.Time) bool { return !last.IsZero() && now.After(last) }
