package ratelimit

import (
	"context"
	"time"
)

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Queue puts a caller in the queue who never looks whether it has been granted.
func (l *Limiter) Queue() {
	_, _, _ = l.enter(context.Background(), l.clock.Now(), Request{})
}

// Until returns the wait for a timer of a QuotaLine.
func (q *Quota) Until(now time.Time, cost int) time.Duration { return q.until(now, cost) }
