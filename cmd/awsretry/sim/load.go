package sim

import (
	"context"
	"math/rand/v2"
	"time"
)

// Client makes calls and retries them.
type Client interface {
	// Do makes one call on a table, with as many attempts as it decides, one at a time.
	Do(ctx context.Context, table string, attempt func(ctx context.Context) error) error
}

// Call is the outcome of one call. Times count from the start of the run.
type Call struct {
	Worker       int // number among all clients; without workers that of the client
	Began, Ended time.Duration
	Attempts     []Attempt
	Err          error
}

// Attempt is one attempt of a call.
type Attempt struct {
	// Sent is when the service decided on it, and Ended when the answer came.
	Sent, Ended time.Duration
	Throttled   bool
	Err         error
}

// Waited returns how long the call waited before, between and after its attempts.
func (c *Call) Waited() time.Duration {
	waited := c.Ended - c.Began
	for _, a := range c.Attempts {
		waited -= a.Ended - a.Sent
	}
	return waited
}

// Throttled returns how many of the attempts were throttled.
func (c *Call) Throttled() int {
	n := 0
	for _, a := range c.Attempts {
		if a.Throttled {
			n++
		}
	}
	return n
}

// Load is the load of clients: calls on one table of a service.
type Load struct {
	// Scenario says how many calls callers want, and when.
	Scenario *Scenario
	Service  *Service
	Table    string
	Start    time.Time
	// Seed is the seed for the pauses of the workers.
	Seed uint64
	// The task of each call calls Began at its start and Ended at its end. Began may be nil.
	Began func(at time.Duration)
	Ended func(call *Call)

	workers, begun int
}

// Begin starts the load of one client: its workers or, if the scenario has none, a task that begins calls at
// random instants.
func (l *Load) Begin(ctx context.Context, w World, c Client) {
	if l.Scenario.Workers == 0 {
		l.open(ctx, w, c)
		return
	}
	most := l.Scenario.Workers
	for _, p := range l.Scenario.Phases {
		most = max(most, p.Workers)
	}
	for own := range most {
		number := l.workers
		l.workers++
		w.Go(func() { l.work(ctx, w, c, number, own) })
	}
}

// work runs the worker with this number, which is own in its client. The time between the starts of two calls
// is 0.5 to 1.5 pauses, so that workers do not fall into step: else a bucket would serve the same ones again
// and again. If a call takes longer, the next one begins at its end.
func (l *Load) work(ctx context.Context, w World, c Client, number, own int) {
	random := rand.New(rand.NewPCG(uint64(number)<<8|5, l.Seed))
	pause := func(now *Conditions) time.Duration {
		if own >= now.Workers {
			return -1
		}
		return l.Scenario.pause(now)
	}
	// The workers begin within a pause, each at a different instant.
	next := time.Duration(number+1)*100_003 + l.Scenario.after(0, random.Float64(), pause)
	for next < forever && w.Sleep(ctx, l.Start.Add(next).Sub(w.Now())) == nil {
		if l.enough() {
			return
		}
		l.call(ctx, w, c, number)
		next = max(l.Scenario.after(next, 0.5+random.Float64(), pause), w.Now().Sub(l.Start))
	}
}

// open starts a task that begins calls at random instants, at the offered rate on average.
func (l *Load) open(ctx context.Context, w World, c Client) {
	client := l.workers
	l.workers++
	random := rand.New(rand.NewPCG(3, l.Seed+uint64(client)))
	gap := func(now *Conditions) time.Duration { return each(now.Offered / float64(l.Scenario.Clients)) }
	w.Go(func() {
		next := time.Duration(0)
		for {
			next = max(l.Scenario.after(next, random.ExpFloat64(), gap), next+1)
			if next >= forever || w.Sleep(ctx, l.Start.Add(next).Sub(w.Now())) != nil {
				return
			}
			if l.enough() {
				return
			}
			w.Go(func() { l.call(ctx, w, c, client) })
		}
	})
}

// enough reports whether all calls that callers want have begun, and else counts one more.
func (l *Load) enough() bool {
	if l.Scenario.Calls == 0 {
		return false
	}
	l.begun++
	return l.begun > l.Scenario.Calls
}

// call makes one call.
func (l *Load) call(ctx context.Context, w World, c Client, worker int) {
	if l.Began != nil {
		l.Began(w.Now().Sub(l.Start))
	}
	call := &Call{Worker: worker, Began: w.Now().Sub(l.Start)}
	call.Err = c.Do(ctx, l.Table, func(ctx context.Context) error {
		at, err := l.Service.Call(ctx, w)
		call.Attempts = append(call.Attempts, Attempt{
			Sent: at.Sub(l.Start), Ended: w.Now().Sub(l.Start), Err: err,
			Throttled: err == l.Service.Throttled, //nolint:errorlint // the service's own
		})
		return err
	})
	call.Ended = w.Now().Sub(l.Start)
	l.Ended(call)
}
