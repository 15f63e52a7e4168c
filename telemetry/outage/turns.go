package outage

import (
	"container/heap"
	"context"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// turns is a clock on which one function runs at a time, and the clock decides which one. A
// clock.Fake is not enough here: where a deadline ends the waits of several callers at once, they
// all run at once. What runs may read and change the fields, and hands them on when it waits.
type turns struct {
	now     time.Time
	queue   queue
	armed   uint64 // timers ever armed; orders those that are due at the same instant
	waits   []*wait
	running int           // functions that have not returned
	idle    chan struct{} // receives when the function whose turn it is waits or has returned
}

var _ clock.Clock = (*turns)(nil)

func newTurns(start time.Time) *turns { return &turns{now: start, idle: make(chan struct{})} }

// run calls the functions, the first one first, and returns when all have returned.
func (t *turns) run(functions ...func()) {
	t.running = len(functions)
	for _, f := range functions {
		t.AfterFunc(0, func() {
			go func() {
				defer func() {
					t.running--
					t.idle <- struct{}{}
				}()
				f()
			}()
			<-t.idle
		})
	}
	for t.running > 0 {
		if w := t.over(); w != nil {
			close(w.turn)
			<-t.idle
			continue
		}
		next := heap.Pop(&t.queue).(*timer)
		t.now = next.due
		next.f()
	}
}

// wait is a function that waits.
type wait struct {
	done, canceled <-chan struct{}
	turn           chan struct{}
}

// over takes out the first wait that is over, in the order in which they began.
func (t *turns) over() *wait {
	for i, w := range t.waits {
		select {
		case <-w.done:
		case <-w.canceled:
		default:
			continue
		}
		t.waits = append(t.waits[:i], t.waits[i+1:]...)
		return w
	}
	return nil
}

// Await makes the waits for send tokens and for quota a part of the order.
func (t *turns) Await(ctx context.Context, done <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &wait{done: done, canceled: ctx.Done(), turn: make(chan struct{})}
	t.waits = append(t.waits, w)
	t.idle <- struct{}{}
	<-w.turn
	return ctx.Err()
}

func (t *turns) Now() time.Time { return t.now }

func (t *turns) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	done := make(chan struct{})
	if ctx.Done() == nil {
		t.AfterFunc(d, func() {
			close(done)
			<-t.idle
		})
		t.idle <- struct{}{}
		<-done
		return nil
	}
	over := t.AfterFunc(d, func() { close(done) })
	defer over.Stop()
	return t.Await(ctx, done)
}

// WithTimeout is for [clock.WithTimeout].
func (t *turns) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	until := t.now.Add(d)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(until) {
		until = earlier
	}
	ctx, end := context.WithCancelCause(parent)
	over := t.AfterFunc(d, func() { end(context.DeadlineExceeded) })
	return &deadline{ctx, until}, func() {
		over.Stop()
		end(nil)
	}
}

// deadline is a context of WithTimeout.
type deadline struct {
	context.Context //nolint:containedctx // it is a context
	until           time.Time
}

func (d *deadline) Deadline() (time.Time, bool) { return d.until, true }

func (d *deadline) Err() error {
	err := d.Context.Err()
	if err != nil && context.Cause(d.Context) == context.DeadlineExceeded { //nolint:errorlint // as it was given
		return context.DeadlineExceeded
	}
	return err
}

// timer is a call of a function at an instant.
type timer struct {
	clock *turns
	due   time.Time
	seq   uint64
	f     func()
	place int // in the queue; -1 if it is not there
}

func (t *turns) AfterFunc(d time.Duration, f func()) clock.Timer {
	armed := &timer{clock: t, f: f, place: -1}
	armed.Reset(d)
	return armed
}

func (t *timer) Reset(d time.Duration) bool {
	pending := t.Stop()
	t.clock.armed++
	t.due, t.seq = t.clock.now.Add(max(d, 0)), t.clock.armed
	heap.Push(&t.clock.queue, t)
	return pending
}

func (t *timer) Stop() bool {
	if t.place < 0 {
		return false
	}
	heap.Remove(&t.clock.queue, t.place)
	return true
}

// queue is a heap of timers.
type queue []*timer

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].seq < q[j].seq
	}
	return q[i].due.Before(q[j].due)
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *queue) Push(x any) {
	t := x.(*timer)
	t.place = len(*q)
	*q = append(*q, t)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	*q, t.place = (*q)[:last], -1
	return t
}
