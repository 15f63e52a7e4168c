package line

import (
	"context"

	"github.com/awsretry/awsretry/ratelimit"
)

// Batch is how many callers a sweep looks at while it holds the lock.
const Batch = batch

// Queue puts a caller in the line that never looks whether it has been served. It returns what makes the
// caller leave.
func (l *Line) Queue(r ratelimit.Request) (leave func()) {
	_, w, err := l.enter(context.Background(), &r, false)
	if w == nil {
		panic(err)
	}
	return func() { l.leave(w) }
}

// BeginSweep and SweepOn are a sweep, step by step.
func (l *Line) BeginSweep() (more bool) { return l.beginSweep() }
func (l *Line) SweepOn() (more bool)    { return l.sweepOn() }

// Swept returns what the sweep under way has counted, and what is true.
func (l *Line) Swept() (ahead int, owed float64, wantAhead int, wantOwed float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.queue.Front(); e != l.sweep.next; e = e.Next() {
		wantAhead++
		wantOwed += e.Value.(*waiter).cost
	}
	return l.sweep.ahead, l.sweep.owed, wantAhead, wantOwed
}
