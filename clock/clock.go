// Package clock is the time that everything in this module runs on: the
// system's for programs, a fake one for tests.
package clock

import (
	"context"
	"time"
)

// Clock tells the time and waits. Everything that sleeps, expires or measures
// takes one, so that a test can move time by hand.
//
// An implementation is safe for concurrent use, its Now never goes backwards,
// and it never runs the function of a timer inside AfterFunc, Reset or Stop:
// callers read the clock and arm timers while they hold locks that the function
// takes.
type Clock interface {
	// Now returns the current time.
	Now() time.Time

	// Sleep returns nil after d has passed, and ctx.Err() as soon as ctx is
	// done. A ctx that is already done wins over a d that is zero or negative,
	// and such a d does not sleep at all.
	Sleep(ctx context.Context, d time.Duration) error

	// AfterFunc calls f once, in a goroutine of its own or in that of whoever
	// moves a fake clock, after d has passed. A zero or negative d is due at once.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a call that AfterFunc has scheduled.
type Timer interface {
	// Stop cancels the call. It reports whether the call was still to come; if
	// not, f has been started, and Stop does not wait for it.
	Stop() bool

	// Reset schedules the call to come d from now instead, whether or not it
	// was still to come, which it reports.
	Reset(d time.Duration) bool
}
