package sim

import (
	"math"
	"time"
)

// Scenario is a service and its load.
type Scenario struct {
	// Rate is how many requests a second the service allows, and Burst the size of its bucket,
	// in requests.
	Rate, Burst float64
	// Latency is the shortest and the longest time of an answer.
	Latency [2]time.Duration
	// Fail is the share of the requests that fail though there is room for them.
	Fail float64
	// Changes are what the service does differently from an instant on, in order.
	Changes []Change
	// Clients is how many clients there are, and Workers how many workers each of them has. A
	// worker begins no call before its last one has ended. Without workers calls begin at random
	// instants, whatever became of those before.
	Clients, Workers int
	// Offered is how many calls a second begin if none of them has to wait.
	Offered float64
	// Healthy is how many more tables there are, each with the same load. The service allows all of
	// their requests. Their calls count for nothing but the pools of the clients.
	Healthy int
	// Duration is how long the run takes. Measured is the part of it that counts.
	Duration time.Duration
	Measured Window
}

// Change is what a service does from an instant on.
type Change struct {
	At      time.Duration
	Rate    float64
	Failing bool // all requests fail
}

// Window is a part of a run: from From until To, which is outside.
type Window struct{ From, To time.Duration }

// Has reports whether an instant is in the window.
func (w Window) Has(at time.Duration) bool { return w.From <= at && at < w.To }

// healthy is the scenario of a table that has no limit and no failures.
func (s *Scenario) healthy() Scenario {
	return Scenario{Rate: math.MaxInt32, Burst: math.MaxInt32, Latency: s.Latency}
}

// Pause is the time from one call of a worker to its next, on average.
func (s *Scenario) Pause() time.Duration {
	return time.Duration(float64(s.Clients*s.Workers) / s.Offered * float64(time.Second))
}

// Capacity is how many requests the service allows in the window, without bursts, or how many
// calls are offered if that is less.
func (s *Scenario) Capacity(w Window) float64 {
	sum, now := 0.0, Change{Rate: s.Rate}
	until := func(at time.Duration) {
		if part := min(at, w.To) - max(now.At, w.From); part > 0 && !now.Failing {
			sum += min(s.Offered, now.Rate) * part.Seconds()
		}
	}
	for _, next := range s.Changes {
		until(next.At)
		now = next
	}
	until(w.To)
	return sum
}

// LastChange is the instant since which the service has been the same.
func (s *Scenario) LastChange() time.Duration {
	if len(s.Changes) == 0 {
		return 0
	}
	return s.Changes[len(s.Changes)-1].At
}

// Settled is how long after an instant the successes came to 90 % of the capacity for five
// seconds; negative if they did not do that before the end of the run. ends are the instants of
// the successes, sorted.
func (s *Scenario) Settled(ends []time.Duration, from time.Duration) time.Duration {
	return settled(ends, Window{from, s.Duration}, s.Capacity)
}

// settled is how long after the begin of a window there are 90 % of the wanted instants for five
// seconds; negative if that does not come before its end, or if none are wanted.
func settled(sorted []time.Duration, in Window, wanted func(w Window) float64) time.Duration {
	const span, step = 5 * time.Second, 100 * time.Millisecond
	for at := in.From; at+span <= in.To; at += step {
		w := Window{at, at + span}
		if want := wanted(w); want > 0 && float64(count(sorted, w)) >= 0.9*want {
			return at - in.From
		}
	}
	return -1
}
