package line

import (
	"container/list"

	"github.com/awsretry/awsretry/ratelimit"
)

// sweep checks all waiting callers of a line, from the first to the last. It releases the lock of the
// line after each batch, so that others can get it.
type sweep struct {
	number uint64        // of the sweep; 0 before the first
	next   *list.Element // the next caller to look at
	ahead  int           // checked callers that still wait
	owed   float64       // the cost of those
}

// batch is how many callers a sweep checks before it releases the lock.
const batch = 256

// Poke tells the line that its account has changed. It refuses, with a [*ratelimit.WaitError], callers
// that can no longer be served in time if the rate stays as it is; each refusal shortens the wait of
// those behind. It serves callers whose tokens are there, and sets the timer for the first of the
// others. When Poke returns, a sweep that began after the call has checked all callers that waited then.
func (l *Line) Poke() {
	l.dismiss()
	if front := l.frontLine(); front != nil {
		front.dismiss()
	}
}

func (l *Line) frontLine() *Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.front
}

func (l *Line) dismiss() {
	cut := l.cuts.Add(1)
	l.sweeping.Lock()
	defer l.sweeping.Unlock()
	if l.swept >= cut {
		return // by a sweep for a later cut
	}
	l.swept = l.cuts.Load()
	for more := l.beginSweep(); more; {
		more = l.sweepOn()
	}
}

// beginSweep begins a sweep and reports whether there is a caller to check.
func (l *Line) beginSweep() (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep = sweep{number: l.sweep.number + 1, next: l.queue.Front()}
	return l.sweep.next != nil
}

// sweepOn checks a batch of callers, and serves those that are due. It reports whether there are
// more to check.
func (l *Line) sweepOn() (more bool) {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.sweep
	for range batch {
		if s.next == nil {
			break
		}
		w, _ := s.next.Value.(*waiter)
		wait := l.waitLocked(now, s.ahead, s.owed, w.cost)
		if reason := w.ends.refuse(now, wait.Expected); reason != nil {
			w.refuseLocked(now, &ratelimit.WaitError{Wait: wait, Reason: reason})
			continue
		}
		w.swept, s.next = s.number, s.next.Next()
		s.ahead++
		s.owed += w.cost
	}
	l.serveLocked(now)
	return s.next != nil
}
