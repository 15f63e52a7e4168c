package ratelimit

import "context"

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Queue puts a caller in the queue who never looks whether it has been granted.
func (l *Limiter) Queue() {
	_, _ = l.enter(context.Background(), l.clock.Now(), Request{})
}
