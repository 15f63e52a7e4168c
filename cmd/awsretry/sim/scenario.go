package sim

import (
	"slices"
	"time"
)

// Scenario is a service and its load.
type Scenario struct {
	// Conditions hold until the first phase.
	Conditions
	// Phases are the changes, in order. The conditions of a phase hold until the next one begins.
	Phases []Phase
	// Lose are the instants at which all connections are lost, and with them the requests that have no answer yet.
	Lose []time.Duration
	// Queue makes requests wait their turn instead of being throttled. The service works on each,
	// even if the caller has gone.
	Queue bool
	// Jitter is the longest time that a request takes to the service.
	Jitter time.Duration
	// SlowThrottles is the shortest time of the answer to a request that is throttled.
	SlowThrottles time.Duration
	// Calls is how many calls callers want in the whole run, which ends when they have ended; zero is no limit.
	Calls int
	// Clients is how many clients there are.
	Clients int
	// Duration is how long the run takes. Measured is the part of it that counts, and Within the time
	// in which a call has to succeed to be in time.
	Duration time.Duration
	Measured Window
	Within   time.Duration
	// Step, unless nil, is called with each part of a run that [Play] has played, such as 0.01. Runs that are played at the same
	// time call it so.
	Step func(part float64)
}

// Conditions are the behavior of a service and the demand of its callers.
type Conditions struct {
	// Rate is how many requests a second the service allows, and Burst the size of its bucket,
	// in requests.
	Rate, Burst float64
	// Latency is the shortest and the longest time of an answer.
	Latency [2]time.Duration
	// Fail and Throttle are the shares of the requests that fail or are throttled though there is room
	// for them. A Fail of 1 is an outage: no request counts against the rate.
	Fail, Throttle float64
	// Offered is how many calls a second callers want to make. With an infinite number workers call again at once.
	Offered float64
	// Workers is how many workers each client has. A worker begins no call before its last one has
	// ended. If there are none at first, calls begin at random instants, regardless of earlier
	// calls.
	Workers int
	// Timeout is how long a client waits for an answer; zero is forever.
	Timeout time.Duration
}

// Phase has the conditions from an instant on.
type Phase struct {
	From time.Duration
	Conditions
}

// Window is a part of a run: from From until To, which is outside.
type Window struct{ From, To time.Duration }

// Has reports whether an instant is in the window.
func (w Window) Has(at time.Duration) bool { return w.From <= at && at < w.To }

// forever is longer than any run.
const forever = 1000 * time.Hour

// at returns the conditions of an instant, and when they change.
func (s *Scenario) at(at time.Duration) (c *Conditions, until time.Duration) {
	c = &s.Conditions
	for i := range s.Phases {
		if s.Phases[i].From > at {
			return c, s.Phases[i].From
		}
		c = &s.Phases[i].Conditions
	}
	return c, forever
}

// after returns the instant at which this many units have passed since from. unit returns how long one takes; if
// it is negative, none passes.
func (s *Scenario) after(from time.Duration, units float64, unit func(c *Conditions) time.Duration) time.Duration {
	for {
		c, until := s.at(from)
		if one := unit(c); one >= 0 {
			if at := from + time.Duration(min(units*float64(one), float64(forever))); at <= until {
				return at
			}
			units -= float64(until-from) / float64(max(one, 1))
		}
		if from = until; from >= forever {
			return forever
		}
	}
}

// answered returns how long the answer to a request takes that would take so long, and whether its connection is lost before.
func (s *Scenario) answered(from, latency time.Duration) (took time.Duration, lost bool) {
	took = latency
	for _, at := range s.Lose {
		if wait := at - from; wait > 0 && wait < took {
			took, lost = wait, true
		}
	}
	return took, lost
}

// pause is the mean time from one call of a worker to the next.
func (s *Scenario) pause(c *Conditions) time.Duration {
	return each(c.Offered / float64(s.Clients*max(c.Workers, 1)))
}

// each returns the time for one at this rate per second; negative if the rate is zero.
func each(rate float64) time.Duration {
	if rate <= 0 {
		return -1
	}
	return time.Duration(min(1/rate*float64(time.Second), float64(forever)))
}

// sum adds up a rate per second over a window.
func (s *Scenario) sum(w Window, rate func(c *Conditions) float64) (sum float64) {
	for from := w.From; from < w.To; {
		c, until := s.at(from)
		until = min(until, w.To)
		sum += rate(c) * (until - from).Seconds()
		from = until
	}
	return sum
}

// Wanted is how many calls callers want to make in a window.
func (s *Scenario) Wanted(w Window) float64 {
	return s.sum(w, func(c *Conditions) float64 { return c.Offered })
}

// Allowed is how many requests the service allows in a window, without bursts.
func (s *Scenario) Allowed(w Window) float64 { return s.sum(w, (*Conditions).allowed) }

// allowed returns the allowed rate, which is zero in an outage.
func (c *Conditions) allowed() float64 {
	if c.Fail >= 1 {
		return 0
	}
	return c.Rate
}

// Capacity is how many calls of a window can succeed, without bursts: what callers want or the service allows,
// whichever is less.
func (s *Scenario) Capacity(w Window) float64 {
	return s.sum(w, func(c *Conditions) float64 { return min(c.Offered, c.allowed()) })
}

// LastChange is the instant since which the conditions have been the same.
func (s *Scenario) LastChange() time.Duration {
	if len(s.Phases) == 0 {
		return 0
	}
	return s.Phases[len(s.Phases)-1].From
}

// Settled returns how long after an instant the successes reached 90 % of the capacity for five
// seconds; negative if they did not before the end of the run. ends are the sorted instants of the
// successes.
func (s *Scenario) Settled(ends []time.Duration, from time.Duration) time.Duration {
	return settled(ends, Window{from, s.Duration}, s.Capacity)
}

// settled returns how long after the start of a window there are 90 % of the wanted instants for
// five seconds; negative if that does not happen before its end, or if none are wanted.
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

// count returns how many of the sorted instants are in a window.
func count(sorted []time.Duration, w Window) int {
	first, _ := slices.BinarySearch(sorted, w.From)
	last, _ := slices.BinarySearch(sorted, w.To)
	return last - first
}
