package ratelimit

import "context"

// The state machines behind a SendRate, for their own tests.
type (
	Bucket       = bucket
	Cubic        = cubic
	MeasuredRate = measuredRate
	SuccessRate  = successRate
)

const MinCapacity = minCapacity

var (
	NewCubic        = newCubic
	NewMeasuredRate = newMeasuredRate

	ErrNoWait    = errNoWait
	ErrQueueFull = errQueueFull
	ErrWaitLimit = errWaitLimit
)

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Queue puts a caller in the queue that never looks whether it has been granted.
func (l *Limiter) Queue() {
	_, _, _ = l.enter(context.Background(), l.clock.Now(), Request{})
}
