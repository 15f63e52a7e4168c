package engine

import "time"

// phase is what an operation does with its time.
type phase uint8

const (
	attempting phase = iota // or it does not wait
	backingOff
	awaitingQuota
	awaitingSend
	phases
)

// stopwatch says for how long an operation was in each phase. Its instants count from the start of
// the operation. Its zero value begins with the first attempt.
type stopwatch struct {
	phase phase
	began time.Duration // when the phase did
	spent [phases]time.Duration
	due   time.Duration // when the backoff of the present token is over
	fades bool          // the phase is the backoff until then, and the attempt afterwards
}

// enter begins a phase and adds the time since the last call to the phase that ends, whose length
// it returns. A clock that goes backwards counts as one that stands still.
func (w *stopwatch) enter(p phase, now time.Duration) (took time.Duration) {
	now = max(now, w.began)
	if w.fades {
		w.fades = false
		w.enter(attempting, min(w.due, now))
	}
	took = now - w.began
	w.spent[w.phase] += took
	w.phase, w.began = p, now
	return took
}

// attempted is enter for the end of an attempt. Without a Wait before, the attempt began with the phase.
func (w *stopwatch) attempted(now time.Duration) (took time.Duration) {
	if !w.fades {
		w.phase = attempting
	}
	return w.enter(attempting, now)
}

// granted turns the phase that began last into the backoff of a retry.
func (w *stopwatch) granted(delay time.Duration) {
	w.phase, w.due = backingOff, w.began+delay
}

// waits turns the phase that began last into a backoff, if there is one.
func (w *stopwatch) waits(delay time.Duration) {
	if delay > 0 {
		w.phase = backingOff
	}
}

// fade is for a loop that sleeps what is left of the backoff after the other waits: the phase
// becomes that of the attempt when the backoff is due.
func (w *stopwatch) fade() {
	if w.due > w.began {
		w.phase, w.fades = backingOff, true
	}
}
