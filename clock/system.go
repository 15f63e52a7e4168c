package clock

import (
	"context"
	"time"
)

// System is the clock of the machine. The zero value is ready to use, has no
// state and may be copied and shared freely.
//
// It measures on the monotonic clock: a wall clock that is set forward or back
// neither shortens nor prolongs a wait, and the difference between two results
// of Now is the time that really passed. Inside a testing/synctest bubble it
// follows the time of the bubble.
type System struct{}

var _ Clock = System{}

// Now returns time.Now(), which holds a monotonic reading besides the wall
// time. Sub, Before, After and Compare use that reading as long as neither side
// has lost it: do not pass the result through Round(0), UnixNano or an encoder
// and then measure with it. Now does not allocate.
func (System) Now() time.Time { return time.Now() }

// Sleep waits until d has passed or ctx is done, whichever is first. Where both
// have happened by the time it looks, it returns ctx.Err(). A ctx that is done
// beforehand is reported at once, and a d of zero or less does not sleep. No
// timer stays behind.
func (System) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// AfterFunc is time.AfterFunc: f runs in a goroutine of its own, at once if d
// is zero or less.
func (System) AfterFunc(d time.Duration, f func()) Timer {
	return time.AfterFunc(d, f)
}

// Readings reads a clock often, for the time between two of its results. Of System
// it reads the monotonic clock alone, which takes about half of what Now takes. Use
// NewReadings; it may be copied and shared freely.
type Readings struct {
	clock  Clock
	anchor time.Time // a reading of System
	system bool
}

// NewReadings returns readings of the clock.
func NewReadings(clk Clock) Readings {
	if system, ok := clk.(System); ok {
		return Readings{clock: clk, anchor: system.Now(), system: true}
	}
	return Readings{clock: clk}
}

// Clock returns the clock that is read.
func (r *Readings) Clock() Clock { return r.clock }

// Now returns what the Now of the clock does, but for one thing: what a result of
// System shows as its date is what the wall clock showed when the Readings were
// made, and the time that has passed since. Where the wall clock was set in the
// meantime the two differ; Sub, Before, After and Compare are right all the same,
// also beside results of the clock itself.
func (r *Readings) Now() time.Time {
	if r.system {
		return r.anchor.Add(time.Since(r.anchor))
	}
	return r.clock.Now()
}

// Mark is an instant to measure from. Its zero value means nothing.
type Mark struct {
	instant time.Time     // of any other clock
	since   time.Duration // the anchor, of System
}

// Mark returns the present instant, at less cost than Now.
func (r *Readings) Mark() Mark {
	if r.system {
		return Mark{since: time.Since(r.anchor)}
	}
	return Mark{instant: r.clock.Now()}
}

// Since returns the time that has passed since a mark of these readings.
func (r *Readings) Since(m Mark) time.Duration {
	if r.system {
		return time.Since(r.anchor) - m.since
	}
	return r.clock.Now().Sub(m.instant)
}
