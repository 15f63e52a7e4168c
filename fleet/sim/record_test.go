package sim

import (
	"sync"
	"time"
)

// second is what happened in one second of a run.
type second struct {
	accepted, throttled, calls int
	refused                    int // operations that were not sent because of their deadline
}

// record is what happened in a run. Attempts count when the service decides about them.
type record struct {
	began    time.Time
	entitled []float64 // what each member is due of the rate

	mu       sync.Mutex // guards what follows
	seconds  []second
	received [][]uint16 // of each member in each second
}

func newRecord(length int, demands []demand, entitled []float64) *record {
	r := &record{
		began: time.Now(), entitled: entitled, seconds: make([]second, length+1), received: make([][]uint16, len(demands)),
	}
	for i := range r.received {
		r.received[i] = make([]uint16, len(r.seconds))
	}
	return r
}

// note lets count count something in the second of now.
func (r *record) note(count func(s *second, at int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := min(int(time.Since(r.began).Seconds()), len(r.seconds)-1)
	count(&r.seconds[at], at)
}

// decided counts an attempt of a member.
func (r *record) decided(member int, accepted bool) {
	r.note(func(s *second, at int) {
		if !accepted {
			s.throttled++
			return
		}
		s.accepted++
		r.received[member][at]++
	})
}

func (r *record) called()  { r.note(func(s *second, _ int) { s.calls++ }) }
func (r *record) refused() { r.note(func(s *second, _ int) { s.refused++ }) }

// result is what a part of a run came to.
type result struct {
	goodput   float64 // accepted attempts over what the service allows without bursts
	throttled float64 // of all attempts
	calls     float64 // of the store, each second
	jain      float64 // of received over entitlement
	refused   float64 // operations
	settled   float64 // seconds
}

func (r *record) sum(from, to int) (sum second) {
	for _, s := range r.seconds[from:to] {
		sum.accepted += s.accepted
		sum.throttled += s.throttled
		sum.calls += s.calls
		sum.refused += s.refused
	}
	return sum
}

// part returns the result of the seconds from one on, before another, in which the service
// allows so many attempts a second.
func (r *record) part(from, to int, rate float64) result {
	sum, length := r.sum(from, to), float64(to-from)
	shares := make([]float64, len(r.received))
	for i, each := range r.received {
		for _, n := range each[from:to] {
			shares[i] += float64(n) / r.entitled[i]
		}
	}
	return result{
		goodput:   float64(sum.accepted) / (rate * length),
		throttled: float64(sum.throttled) / float64(max(sum.accepted+sum.throttled, 1)),
		calls:     float64(sum.calls) / length,
		jain:      jain(shares),
		refused:   float64(sum.refused),
	}
}

// settled returns how many seconds after the given one goodput is 0.9 of what the service
// allows, with at most a share of the attempts throttled, for five seconds. It is the length of the
// rest of the run if that is never so.
func (r *record) settled(from int, rate, throttled float64) float64 {
	const span = 5
	at, last := from, len(r.seconds)-1
	for ; at+span <= last; at++ {
		if got := r.part(at, at+span, rate); got.goodput >= 0.9 && got.throttled <= throttled {
			return float64(at - from)
		}
	}
	return float64(last - from)
}

// jain is Jain's index: 1 if all shares are the same, 1/n if one has everything.
func jain(shares []float64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// mean returns the means of the parts of several runs.
func mean(played [][]result) []result {
	all := make([]result, len(played[0]))
	n := float64(len(played))
	for _, parts := range played {
		for i, r := range parts {
			m := &all[i]
			m.goodput += r.goodput / n
			m.throttled += r.throttled / n
			m.calls += r.calls / n
			m.jain += r.jain / n
			m.refused += r.refused / n
			m.settled += r.settled / n
		}
	}
	return all
}
