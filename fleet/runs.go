package fleet

import (
	"math"
	"time"
)

// run is the remaining slots of a reply.
type run struct {
	next  time.Time
	gap   time.Duration
	left  int
	epoch uint64
}

func (r *run) slot(i int) time.Time { return r.next.Add(time.Duration(i) * r.gap) }

// drop removes the first n slots.
func (r *run) drop(n int) {
	r.next = r.slot(n)
	r.left -= n
}

// due returns how many slots are due at t.
func (r *run) due(t time.Time) int {
	switch since := t.Sub(r.next); {
	case since < 0:
		return 0
	case r.gap <= 0 || int64(since/r.gap) >= int64(r.left):
		return r.left
	default:
		return int(since/r.gap) + 1
	}
}

// runs are the slots that a member has in hand, in the order of their use.
type runs struct {
	list []run
	// A due slot becomes a token, for attempts that do not cost exactly one.
	tokens float64
	at     time.Time // when the last one came
	epoch  uint64    // and its epoch
	lifted float64   // what the first in line costs
	// Until then a late slot is kept for an attempt that does not wait, because the last one found
	// none.
	saveUntil time.Time
}

// Add appends a run.
func (r *runs) Add(new run) {
	if new.left > 0 {
		r.list = append(r.list, new)
	}
}

// Take takes slots for an attempt and returns their epoch. If they are not due, it takes none and
// returns when the last of them will be due; the zero time if they are not in hand.
func (r *runs) Take(now time.Time, cost float64) (at time.Time, epoch uint64, ok bool) {
	r.forget(now)
	for r.tokens < cost && r.pop(now) {
	}
	if r.tokens < cost {
		return r.nth(cost), 0, false
	}
	r.tokens -= cost
	return now, r.epoch, true
}

// Give returns tokens that were taken but not used.
func (r *runs) Give(now time.Time, cost float64) {
	r.forget(now)
	r.tokens += cost
	r.at = now
}

// InHand returns how many slots are left.
func (r *runs) InHand(now time.Time) float64 {
	r.forget(now)
	n := r.tokens
	for i := range r.list {
		n += float64(r.list[i].left)
	}
	return n
}

// Last returns when the last slot is due; the zero time if there is none.
func (r *runs) Last() time.Time {
	if len(r.list) == 0 {
		return time.Time{}
	}
	last := &r.list[len(r.list)-1]
	return last.slot(last.left - 1)
}

// nth returns when there will be that many tokens; the zero time if they are there or if that is
// unknown.
func (r *runs) nth(tokens float64) time.Time {
	n := int(math.Ceil(tokens - r.tokens))
	if n <= 0 {
		return time.Time{}
	}
	var at time.Time
	for i := range r.list { // a run may begin before the one in front of it is over
		run := &r.list[i]
		if n <= run.left {
			return later(at, run.slot(n-1))
		}
		at = later(at, run.slot(run.left-1))
		n -= run.left
	}
	return time.Time{}
}

// pop turns the next slot into a token if it is due.
func (r *runs) pop(now time.Time) bool {
	if len(r.list) == 0 || r.list[0].next.After(now) {
		return false
	}
	first := &r.list[0]
	r.tokens, r.at, r.epoch = r.tokens+1, now, first.epoch
	r.dropFirst(1)
	return true
}

func (r *runs) dropFirst(n int) {
	if r.list[0].drop(n); r.list[0].left == 0 {
		r.list = append(r.list[:0], r.list[1:]...)
	}
}

// forget drops slots that are too late. The first in line may keep them if it costs more than one,
// and an attempt that does not wait may keep one.
func (r *runs) forget(now time.Time) {
	save := r.lifted
	if save <= 1 && now.Before(r.saveUntil) {
		save = 1
	} else if save <= 1 {
		save = 0
	}
	for len(r.list) > 0 {
		late := r.list[0].due(now.Add(-lateBy))
		if late == 0 {
			break
		}
		if saved := min(late, int(save-r.tokens)); saved > 0 {
			r.tokens, r.at, r.epoch = r.tokens+float64(saved), now, r.list[0].epoch
		}
		r.dropFirst(late)
	}
	if save == 0 && now.Sub(r.at) > lateBy {
		r.tokens = 0
	}
}
