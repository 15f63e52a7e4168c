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
	rate     float64   // of the service at the beginning
	entitled []float64 // what each member is due of it

	mu       sync.Mutex // guards what follows
	seconds  []second
	received [][]uint16 // of each member in each second
}

func newRecord(length time.Duration, rate float64, demands []demand) *record {
	r := &record{
		began: time.Now(), rate: rate, entitled: entitled(rate, demands),
		seconds: make([]second, int(length.Seconds())+1), received: make([][]uint16, len(demands)),
	}
	for i := range r.received {
		r.received[i] = make([]uint16, len(r.seconds))
	}
	return r
}

func (r *record) at() int { return min(int(time.Since(r.began).Seconds()), len(r.seconds)-1) }

// decided counts an attempt of a member.
func (r *record) decided(member int, accepted bool) {
	at := r.at()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.seconds[at]
	if !accepted {
		s.throttled++
		return
	}
	s.accepted++
	r.received[member][at]++
}

func (r *record) called() {
	at := r.at()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seconds[at].calls++
}

func (r *record) refused() {
	at := r.at()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seconds[at].refused++
}

// result is what a part of a run came to.
type result struct {
	goodput   float64 // accepted attempts over what the service allows without bursts
	throttled float64 // of all attempts
	calls     float64 // of the store, each second
	jain      float64 // of received over entitlement
}

// part returns the result of the seconds from one on, before another, in which the service
// allows so many attempts a second.
func (r *record) part(from, to int, rate float64) result {
	var accepted, throttled, calls int
	for _, s := range r.seconds[from:to] {
		accepted += s.accepted
		throttled += s.throttled
		calls += s.calls
	}
	length := float64(to - from)
	shares := make([]float64, len(r.received))
	for i, each := range r.received {
		for _, n := range each[from:to] {
			shares[i] += float64(n) / r.entitled[i]
		}
	}
	return result{
		goodput:   float64(accepted) / (rate * length),
		throttled: float64(throttled) / float64(max(accepted+throttled, 1)),
		calls:     float64(calls) / length,
		jain:      jain(shares),
	}
}

// settled returns how many seconds after the given one goodput is 0.9 of what the service
// allows, with at most 5 % of the attempts throttled, for five seconds. It is the length of the
// rest of the run if that is never so.
func (r *record) settled(from int, rate float64) int { return r.reached(from, rate, 0.05) }

// reached is settled with a part of the attempts that may be throttled.
func (r *record) reached(from int, rate, throttledPart float64) int {
	const span = 5
	last := len(r.seconds) - 1
	for at := from; at+span <= last; at++ {
		var accepted, throttled int
		for _, s := range r.seconds[at : at+span] {
			accepted += s.accepted
			throttled += s.throttled
		}
		if float64(accepted) >= 0.9*span*rate && float64(throttled) <= throttledPart*float64(accepted+throttled) {
			return at - from
		}
	}
	return last - from
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

// mean returns the mean of results of several seeds.
func mean(results []result) result {
	var m result
	n := float64(len(results))
	for _, r := range results {
		m.goodput += r.goodput / n
		m.throttled += r.throttled / n
		m.calls += r.calls / n
		m.jain += r.jain / n
	}
	return m
}
