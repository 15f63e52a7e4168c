package effect

import (
	"fmt"
	"time"
)

// scenario is a service and its load. Everything but the rate is the same all the
// time.
type scenario struct {
	name    string
	rate    float64
	burst   time.Duration
	clients int
	workers int     // of each client
	offered float64 // by all workers together, in rates; no worker sends before its last operation has ended

	failures float64 // the share of requests that fail though there is room for them
	changes  []change
	measured window
}

// change is what the service does differently from an instant on.
type change struct {
	at      time.Duration
	rate    float64
	failing bool
}

// window is a part of a run.
type window struct{ from, to time.Duration }

func (w window) has(at time.Duration) bool { return w.from <= at && at < w.to }

const (
	short   = 100 * time.Millisecond
	settled = 30 * time.Second
)

// scenarios is everything but the two tables. All loads are closed, of workers that
// together offer five times the rate, but in the outage, where they offer half.
func scenarios() []scenario {
	all := []scenario{
		steady(5, time.Second, 1, 10),
		steady(50, time.Second, 1, 100),
		steady(50, short, 1, 100),
		steady(500, time.Second, 1, 100),
		steady(500, short, 1, 100),
		steady(500, time.Second, 10, 10),
		steady(500, short, 10, 10),
		steady(500, time.Second, 100, 1),
		steady(500, short, 100, 1),
	}
	halves, doubles := steady(500, time.Second, 1, 100), steady(500, time.Second, 1, 100)
	halves.name, halves.changes = "halves", []change{{at: settled, rate: 250}}
	doubles.name, doubles.changes = "doubles", []change{{at: settled, rate: 1000}}
	outage := steady(500, time.Second, 1, 100)
	outage.name, outage.offered, outage.failures = "outage", 0.5, 0.01
	outage.changes = []change{{at: settled, rate: 500, failing: true}, {at: settled + time.Minute, rate: 500}}
	outage.measured = window{settled + time.Minute, settled + 2*time.Minute}
	return append(all, halves, doubles, outage)
}

func steady(rate float64, burst time.Duration, clients, workers int) scenario {
	return scenario{
		name: "steady", rate: rate, burst: burst, clients: clients, workers: workers, offered: 5,
		measured: window{settled, settled + time.Minute},
	}
}

// String is the scenario as a part of the name of a benchmark.
func (s scenario) String() string {
	return fmt.Sprintf("scenario=%s/R=%v/burst=%v/clients=%d/workers=%d", s.name, s.rate, s.burst, s.clients, s.workers)
}

// pause is the time from one operation of a worker to its next.
func (s scenario) pause() time.Duration {
	return time.Duration(float64(s.clients*s.workers) / (s.offered * s.rate) * float64(time.Second))
}

// capacity is how many requests the service allows in the window, without bursts,
// or how many are offered if that is less.
func (s scenario) capacity(w window) float64 {
	sum := 0.0
	rate, failing, from := s.rate, false, time.Duration(0)
	for _, c := range append(s.changes, change{at: w.to}) {
		if part := min(c.at, w.to) - max(from, w.from); part > 0 && !failing {
			sum += rate * min(s.offered, 1) * part.Seconds()
		}
		rate, failing, from = c.rate, c.failing, c.at
	}
	return sum
}

// lastChange is the instant since which the service has been the same.
func (s scenario) lastChange() time.Duration {
	if len(s.changes) == 0 {
		return 0
	}
	return s.changes[len(s.changes)-1].at
}

// outage is when all requests fail, without its first ten seconds, in which clients
// use up their quota; empty if there is none.
func (s scenario) outage() window {
	for i, c := range s.changes {
		if c.failing {
			return window{c.at + 10*time.Second, s.changes[i+1].at}
		}
	}
	return window{}
}
