package clock

import "time"

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
