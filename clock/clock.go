// Package clock provides the time: [System] in programs, [Fake] in tests. Everything in this
// module that sleeps, expires or measures does so on a [Clock].
//
// # In a program
//
// Programs need nothing from this package: without a clock, the strategies and clients of
// this module use [System]. Code that you want to test without real waits takes a Clock,
// sleeps with its Sleep, and limits the time with [WithTimeout]. A [Timer] calls a function later.
//
// # In a test, with Run
//
// A test gives the code a [Fake] and calls the code inside of [Fake.Run]. The time moves whenever
// the code waits, so the test takes no real time and has the same result every time:
//
//	var clk clock.Fake
//	var err error
//	clk.Run(func() { err = work(ctx, &clk) })
//	require.NoError(t, err)
//	require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, clk.Waits())
//
// [Fake.Waits] returns what the code has slept for, [Fake.Now] the time at the end.
// [Fake.AfterFunc] makes something happen at a given time, such as the recovery of a service, and
// [Fake.WithTimeout] makes a context whose deadline follows the clock. If several parts of the code
// wait at the same time, pass them to Run as several functions. If its goroutines come and go, use
// System in a bubble of testing/synctest instead.
//
// # In a test, by hand
//
// To look at the code during a wait, start it in a goroutine, wait for it with [Fake.BlockUntil],
// and move the time with [Fake.AdvanceToNext] or [Fake.Advance].
//
// # A clock of your own
//
// Embed a *Fake or a System and replace some of its methods. Do not embed a Clock, which hides the
// methods WithTimeout and Await: the function WithTimeout calls the first, and Run sees a wait for
// a send token or for retry quota only on a clock that has [Fake.Await]. The deadline of
// a context is compared with Now, so a System with another Now needs another WithTimeout too.
package clock

import (
	"context"
	"time"
)

// Clock tells the time and waits. Everything in this module that sleeps, expires or measures takes
// one, so that a test can move the time.
//
// An implementation must be safe for concurrent use, its Now must never go backwards, and it must
// never run a timer function inside AfterFunc, Reset or Stop: callers read the clock and arm timers
// while they hold locks that the function takes.
type Clock interface {
	// Now returns the current time.
	Now() time.Time

	// Sleep returns nil after d has passed, and ctx.Err() as soon as ctx is done. A zero or
	// negative d does not sleep, but a ctx that is already done still returns its error.
	Sleep(ctx context.Context, d time.Duration) error

	// AfterFunc calls f once, after d has passed, in its own goroutine or in the one that moves a
	// fake clock. A zero or negative d is due at once.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a call scheduled by AfterFunc. It is safe for concurrent use.
type Timer interface {
	// Stop cancels the call and reports whether it was still pending. If not, f has started or the
	// timer was stopped before. Stop does not wait for f.
	Stop() bool

	// Reset reschedules the call to d from now, or to now if d is zero or negative. It reports
	// whether it was still pending.
	Reset(d time.Duration) bool
}
