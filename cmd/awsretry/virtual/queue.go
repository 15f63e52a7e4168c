package virtual

import (
	"container/heap"
	"time"
)

// timer is a call of a function at an instant.
type timer struct {
	clock *Clock
	due   time.Time
	seq   uint64
	f     func()
	place int // in the queue, or outside
}

// outside is the place of a timer that is in no queue.
const outside = -1

func (t *timer) Reset(d time.Duration) bool {
	pending := t.Stop()
	t.clock.armed++
	t.due, t.seq = t.clock.now.Add(max(d, 0)), t.clock.armed
	heap.Push(&t.clock.queue, t)
	return pending
}

func (t *timer) Stop() bool {
	if t.place == outside {
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

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	t := x.(*timer)
	t.place = len(*q)
	*q = append(*q, t)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q, t.place = (*q)[:last], outside
	return t
}
