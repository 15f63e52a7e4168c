package ratelimit

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}
