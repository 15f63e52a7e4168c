package clock

import "time"

// fakeTimer is the Timer of a Fake. Its entry is in the queue at most once, and is
// there exactly as long as the call is still to come.
type fakeTimer struct {
	clock *Fake
	entry *entry
}

// Stop takes the call off the clock.
func (t *fakeTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.queue.remove(t.entry)
}

// Reset moves the call to its new instant, behind everything already due there. A d of zero or less
// starts it at once, in its own goroutine because the caller may hold locks that it needs.
func (t *fakeTimer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	pending := t.clock.queue.remove(t.entry)
	switch r := t.clock.run; {
	case d > 0:
		t.clock.enqueueLocked(t.entry, d)
		t.clock.signalLocked()
	case r != nil && r.active > 0:
		r.active++
		r.due = append(r.due, t.entry.fire)
		r.signal()
	default:
		t.clock.starting++
		go t.fire()
	}
	return pending
}

// fire calls the function of a timer that was due at once.
func (t *fakeTimer) fire() {
	defer func() {
		t.clock.mu.Lock()
		defer t.clock.mu.Unlock()
		t.clock.starting--
		t.clock.signalLocked()
	}()
	t.entry.fire()
}
