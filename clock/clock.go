// Package clock provides the time: [System] in programs, [Fake] in tests. Everything in this
// module that sleeps, expires or measures does so on a [Clock].
//
// # In a program
//
// Programs need nothing from this package: without a clock, the strategies and clients of
// this module use [System]. Code that you want to test without real waits takes a Clock,
// sleeps with its Sleep, and limits the time with [WithTimeout].
//
// # In a test, with Run
//
// A test gives the code a [Fake] and calls the code inside of [Fake.Run]. The time
// moves whenever the code waits, so the test takes no real time, and it is the same
// each time:
//
//	var clk clock.Fake
//	var err error
//	clk.Run(func() { err = work(ctx, &clk) })
//	require.NoError(t, err)
//	require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, clk.Waits())
//
// [Fake.Waits] returns what the code has slept for, [Fake.Now] the time at the end.
// [Fake.AfterFunc] lets a thing happen at a given time, such as the recovery of a
// service, and [Fake.WithTimeout] makes a context whose deadline follows the clock.
// If several parts of the code wait at the same time, pass them to Run as several
// functions. If its goroutines come and go, use System in a bubble of testing/synctest
// instead.
//
// # In a test, by hand
//
// To look at the code during a wait, start it in a goroutine, let [Fake.BlockUntil] see
// that it waits, and move the time with [Fake.AdvanceToNext] or [Fake.Advance].
//
// # A clock of your own
//
// A type that embeds a *Fake or a System and replaces some of its methods is a Clock
// too, and keeps the rest: WithTimeout asks a clock for a method of this name, and Run
// can see a wait for a send token or for retry quota only on a clock that has
// [Fake.Await]. A type that embeds a Clock hides both.
package clock

import (
	"context"
	"time"
)

// Clock tells the time and waits. All of this module that sleeps, expires or measures
// takes one, so that a test can move the time.
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

	// AfterFunc calls f once, after d has passed, in a goroutine of its own or in the
	// one that moves a fake clock. A zero or negative d is due at once.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a call that AfterFunc has scheduled. It is safe for concurrent use.
type Timer interface {
	// Stop cancels the call. It reports whether the call was still to come; if
	// not, f has been started, or the timer stopped before, and Stop does not wait for f.
	Stop() bool

	// Reset schedules the call to come d from now instead, whether or not it
	// was still to come, which it reports.
	Reset(d time.Duration) bool
}
