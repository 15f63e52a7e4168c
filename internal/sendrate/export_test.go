package sendrate

import (
	"context"

	"github.com/awsretry/awsretry/ratelimit"
)

// The state machines behind a SendRate, for their own tests.
type (
	Bucket       = bucket
	Cubic        = cubic
	MeasuredRate = measuredRate
	SuccessRate  = successRate
)

const (
	MinCapacity   = minCapacity
	CubicBeta     = cubicBeta
	CubicScale    = cubicScale
	MeasureSmooth = measureSmooth
	MeasureWindow = measureWindow
)

var (
	NewCubic        = newCubic
	NewMeasuredRate = newMeasuredRate

	ErrNoWait    = errNoWait
	ErrQueueFull = errQueueFull
	ErrWaitLimit = errWaitLimit
)

// Batch is how many callers a sweep looks at while it holds the lock.
const Batch = batch

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Queue puts a caller in the queue that never looks whether it has been granted. It returns
// what makes the caller leave.
func (l *line) Queue(r ratelimit.Request) (leave func()) {
	_, w, err := l.enter(context.Background(), l.clock.Now(), r)
	if w == nil {
		panic(err)
	}
	return func() { l.leave(w) }
}

// BeginSweep and SweepOn are a sweep, step by step.
func (l *line) BeginSweep() (more bool) { return l.beginSweep() }
func (l *line) SweepOn() (more bool)    { return l.sweepOn() }

// Swept returns what the sweep under way has counted, and what is true.
func (l *line) Swept() (ahead int, owed float64, wantAhead int, wantOwed float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.queue.Front(); e != l.sweep.next; e = e.Next() {
		wantAhead++
		wantOwed += e.Value.(*waiter).cost
	}
	return l.sweep.ahead, l.sweep.owed, wantAhead, wantOwed
}
