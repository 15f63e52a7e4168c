package clock

import (
	"container/heap"
	"time"
)

// entry is something that happens at an instant of a Fake.
type entry struct {
	fire  func() // called with no lock held
	due   time.Time
	seq   uint64 // order of registration, for entries due at the same instant
	index int    // place in its queue, or outside
}

// outside is the index of an entry that is in no queue.
const outside = -1

func newEntry(fire func()) *entry { return &entry{fire: fire, index: outside} }

// before reports whether e happens before other.
func (e *entry) before(other *entry) bool {
	if order := e.due.Compare(other.due); order != 0 {
		return order < 0
	}
	return e.seq < other.seq
}

// queue is a heap of entries, the next one to happen first. Use head, add and
// remove; the other methods are for container/heap.
type queue []*entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].before(q[j]) }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.index = len(*q)
	*q = append(*q, e)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.index = outside
	return e
}

// head returns the next entry to happen, or nil.
func (q queue) head() *entry {
	if len(q) == 0 {
		return nil
	}
	return q[0]
}

// add puts in an entry that is in no queue.
func (q *queue) add(e *entry) { heap.Push(q, e) }

// remove takes e out and reports whether it was in.
func (q *queue) remove(e *entry) bool {
	if e.index == outside {
		return false
	}
	heap.Remove(q, e.index)
	return true
}
