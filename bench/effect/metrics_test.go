package effect

import (
	"slices"
	"time"
)

// metrics is what a run came to in its window.
type metrics struct {
	goodput   float64 // successes over what the service allows
	throttled float64 // of the attempts
	attempts  float64 // for each success
	failed    float64 // of the operations
	noQuota   float64 // of the operations: failed for lack of quota, with the service as it is

	p50, p99, longest time.Duration // waits of successes until the attempt that succeeded
	initial           time.Duration // longest wait until a first attempt
	settled           time.Duration // from the last change until goodput is 90 %; negative if never

	fairness        float64       // of workers or, if there are several, clients
	wakeUps         float64       // for each attempt, in the whole run
	wakeUpsPerDelay float64       // for each attempt that was held back
	cpu             time.Duration // of this process, for each attempt
	inOutage        float64       // attempts for each operation in an outage, ten seconds after its begin
}

// metrics reads a record. Operations count where they end.
func (r record) metrics() metrics {
	s := r.scenario
	m := metrics{settled: r.settled(), fairness: r.fairness(), inOutage: r.overhead(s.outage())}
	var waits []time.Duration
	operations, attempts, throttled, failed, noQuota := 0, 0, 0, 0, 0
	for _, op := range r.operations {
		if !s.measured.has(op.ended) {
			continue
		}
		operations++
		attempts += op.attempts
		throttled += op.throttled
		if op.attempts > 0 {
			m.initial = max(m.initial, op.first-op.began)
		}
		switch {
		case op.err == nil:
			waits = append(waits, op.last-op.began)
		case forQuota(op.err) && op.last >= s.lastChange():
			noQuota++
			failed++
		default:
			failed++
		}
	}
	slices.Sort(waits)
	m.goodput = float64(len(waits)) / s.capacity(s.measured)
	m.throttled = share(throttled, attempts)
	m.attempts = share(attempts, len(waits))
	m.failed, m.noQuota = share(failed, operations), share(noQuota, operations)
	if n := len(waits); n > 0 {
		m.p50, m.p99, m.longest = waits[n/2], waits[n*99/100], waits[n-1]
	}
	m.wakeUps = share(int(r.wakeUps), r.sent)
	m.wakeUpsPerDelay = share(int(r.wakeUps), int(r.delayed))
	m.cpu = r.cpu / time.Duration(max(r.sent, 1))
	return m
}

// settled is how long after the last change of the service goodput came to 90 % of
// what it allows, for five seconds; negative if it never did.
func (r record) settled() time.Duration {
	const span, step = 5 * time.Second, 100 * time.Millisecond
	var ends []time.Duration
	for _, op := range r.operations {
		if op.err == nil {
			ends = append(ends, op.ended)
		}
	}
	slices.Sort(ends)
	from := r.scenario.lastChange()
	for at := from; at+span <= r.scenario.measured.to; at += step {
		first, _ := slices.BinarySearch(ends, at)
		last, _ := slices.BinarySearch(ends, at+span)
		if float64(last-first) >= 0.9*r.scenario.capacity(window{at, at + span}) {
			return at - from
		}
	}
	return -1
}

// fairness is Jain's index of the successes of the workers, or of the clients if
// there are several: 1 if all have the same, 1/n if one has all.
func (r record) fairness() float64 {
	s := r.scenario
	shares := make([]float64, s.workers)
	each := 1
	if s.clients > 1 {
		shares, each = make([]float64, s.clients), s.workers
	}
	for _, op := range r.operations {
		if op.err == nil && s.measured.has(op.ended) {
			shares[op.worker/each]++
		}
	}
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

// overhead is how many attempts the operations that began in a window took, for
// each.
func (r record) overhead(w window) float64 {
	operations, attempts := 0, 0
	for _, op := range r.operations {
		if w.has(op.began) {
			operations++
			attempts += op.attempts
		}
	}
	return share(attempts, operations)
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
