// Package instant reads a clock often and cheaply, knows the ends of waits, and tells the instants of two clocks
// apart.
package instant

import (
	"context"
	"math"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Readings reads a clock where only the time between two results matters. From
// [clock.System] it reads the monotonic clock alone, which takes about half as long as
// Now. Use NewReadings. It may be copied, and it is safe for concurrent use.
type Readings struct {
	clock  clock.Clock
	anchor time.Time // a reading of clock.System
	system bool
}

// NewReadings returns readings of the clock.
func NewReadings(clk clock.Clock) Readings {
	if system, ok := clk.(clock.System); ok {
		return Readings{clock: clk, anchor: system.Now(), system: true}
	}
	return Readings{clock: clk}
}

// Clock returns the clock that is read.
func (r *Readings) Clock() clock.Clock { return r.clock }

// Now is like Now of the clock. From [clock.System] the monotonic part of the result is
// exact, so that Sub, Before, After and Compare are right, also beside results of the clock
// itself. The wall-clock part counts from the instant at which the Readings were created
// and does not follow a wall clock that is set later.
func (r *Readings) Now() time.Time {
	if r.system {
		return r.anchor.Add(time.Since(r.anchor)) //nolint:forbidigo // of the system
	}
	return r.clock.Now()
}

// Mark is an instant to measure from. Its zero value means nothing.
type Mark struct {
	instant time.Time     // of any other clock
	since   time.Duration // since the anchor, of clock.System
}

// Mark returns the present instant, at less cost than Now.
func (r *Readings) Mark() Mark {
	if r.system {
		return Mark{since: time.Since(r.anchor)} //nolint:forbidigo // of the system
	}
	return Mark{instant: r.clock.Now()}
}

// Sub returns the time from an earlier mark of the same readings to m.
func (m Mark) Sub(earlier Mark) time.Duration {
	return m.since - earlier.since + m.instant.Sub(earlier.instant)
}

// Since returns the time that has passed since a mark of these readings.
func (r *Readings) Since(m Mark) time.Duration {
	return r.Mark().Sub(m)
}

// OfAnotherClock reports whether now is so far away from the newest instant seen that it is from
// another clock, such as that of a testing/synctest bubble: more than 365 days older, or so much
// newer that a Duration cannot hold it, as any time of today is beside the zero time. An instant
// that is less old is only late.
func OfAnotherClock(now, newest time.Time) bool {
	const late = 365 * 24 * time.Hour
	older := newest.Sub(now)
	return older > late || older == math.MinInt64
}

// wentBackBy is how much older than the newest instant seen one must be to show that the clock has gone
// back. A caller that was held up between its reading of the clock and the use of it is less late.
const wentBackBy = 5 * time.Second

// WentBack reports whether now shows that the clock has gone back. What is measured then goes on from now,
// as if no time had passed: otherwise it would stand still until the clock is where it was.
func WentBack(now, newest time.Time) bool { return newest.Sub(now) > wentBackBy }

// Forward is a time that never goes back, although a clock may: it then stands still, or goes on from there as
// WentBack says. Its zero value is ready for use. It is not safe for concurrent use.
type Forward struct {
	newest time.Time
	ahead  time.Duration // of a clock that has gone back
}

// At returns the time now, at this reading of the clock.
func (f *Forward) At(reading time.Time) time.Time {
	now := reading
	if f.ahead != 0 {
		now = now.Add(f.ahead)
	}
	if back := f.newest.Sub(now); back <= 0 {
		f.newest = now
	} else if back > wentBackBy {
		f.ahead += back
	}
	return f.newest
}

// Of returns the time of a reading that may be old; zero for the zero time.
func (f *Forward) Of(reading time.Time) time.Time {
	if f.ahead == 0 || reading.IsZero() {
		return reading
	}
	return reading.Add(f.ahead)
}

// Reading returns what the clock reads at an instant of this time; zero for the zero time.
func (f *Forward) Reading(at time.Time) time.Time {
	if f.ahead == 0 || at.IsZero() {
		return at
	}
	return at.Add(-f.ahead)
}

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
