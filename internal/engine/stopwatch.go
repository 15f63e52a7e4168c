package engine

import "time"

// phase is what an operation spends its time on.
type phase uint8

const (
	attempting phase = iota // or no wait
	backingOff
	awaitingQuota
	awaitingSend
	phases
)

// stopwatch measures how long an operation was in each phase. Its instants count from the start of
// the operation. Its zero value begins with the first attempt.
type stopwatch struct {
	phase phase
	began time.Duration // when the phase began
	spent [phases]time.Duration
}

// enter begins a phase, adds the time since the last call to the phase that ends, and returns that
// time. A clock that goes backwards counts as standing still.
func (w *stopwatch) enter(p phase, now time.Duration) (took time.Duration) {
	now = max(now, w.began)
	took = now - w.began
	w.spent[w.phase] += took
	w.phase, w.began = p, now
	return took
}

// attempted is enter for the end of an attempt. Without a Wait, the attempt began with the phase.
func (w *stopwatch) attempted(now time.Duration) (took time.Duration) {
	w.phase = attempting
	return w.enter(attempting, now)
}

// waits turns the current phase into a backoff, if there is one.
func (w *stopwatch) waits(delay time.Duration) {
	if delay > 0 {
		w.phase = backingOff
	}
}
