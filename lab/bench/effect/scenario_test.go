//go:build !race

package effect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
)

// scenario is one of the benchmarks. Its run ends when the part that counts does.
type scenario struct {
	sim.Scenario
	name  string
	burst time.Duration // that the bucket of the service holds

	joins time.Duration               // when the last client begins
	last  func(own *sim.Scenario)     // the load of the last client, if it is another
	hot   float64                     // the last client is the calls of the others to a hot key, which allows so many
	admit func() func(time.Time) bool // makes what decides in place of the bucket
	late  lateness                    // of those who wait for a send token
	known adaptive.SendLimit          // to clients of awsretry
	batch int                         // entries of a call; 0: a call has none
}

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
	doubles := steady(500, time.Second, 1, 100)
	doubles.name = "doubles"
	doubles.change(settled, func(now *sim.Conditions) { now.Rate = 1000 })
	return append(all, halves(500), doubles, outage(500))
}

func halves(rate float64) scenario {
	s := steady(rate, time.Second, 1, 100)
	s.name = "halves"
	s.change(settled, func(now *sim.Conditions) { now.Rate /= 2 })
	return s
}

func outage(rate float64) scenario {
	s := steady(rate, time.Second, 1, 100)
	s.name, s.Offered, s.Fail = "outage", rate/2, 0.01
	s.change(settled, func(now *sim.Conditions) { now.Fail = 1 })
	s.change(settled+time.Minute, func(*sim.Conditions) {})
	s.measure(settled + time.Minute)
	return s
}

func steady(rate float64, burst time.Duration, clients, workers int) scenario {
	s := scenario{Scenario: limited(rate, burst), name: "steady", burst: burst}
	s.Clients, s.Workers, s.Offered = clients, workers, 5*rate
	s.measure(settled)
	return s
}

// limited is a service without a load.
func limited(rate float64, burst time.Duration) sim.Scenario {
	return sim.Scenario{Clients: 1, Conditions: sim.Conditions{
		Rate: rate, Burst: max(rate*burst.Seconds(), 1),
		Latency: [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond},
	}}
}

// loads returns the load of each client, with one service.
func (s *scenario) loads(c contender, seed uint64, start time.Time, ended *[]*sim.Call) []*sim.Load {
	all := newLoad(s.Scenario, c, seed, start, ended)
	if s.admit != nil {
		all.Service.Admit = s.admit()
	}
	loads := slices.Repeat([]*sim.Load{all}, s.Clients)
	if s.last == nil {
		return loads
	}
	own := s.Scenario
	own.Clients = 1
	s.last(&own)
	last, note := newLoad(own, c, seed+1<<32, start, ended), all.Ended
	last.Ended = func(call *sim.Call) {
		call.Worker += (s.Clients - 1) * s.Workers
		note(call)
	}
	if s.hot > 0 {
		last.Service.Throttled = hotError{last.Service.Throttled}
	} else {
		last.Service = all.Service
	}
	loads[s.Clients-1] = last
	return loads
}

// hotError is a throttle of one key of a table.
type hotError struct{ error }

func (e hotError) Unwrap() error { return e.error }

func (hotError) ThrottledBy() []classify.Reason {
	return []classify.Reason{{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}}
}

// lateness is by how much those who wait for a send token wake up late, on a machine with too much to do: 90 and 99 % of
// them by no more than so much. The zero value is never late.
type lateness struct{ p90, p99 time.Duration }

// draws returns what draws such a time, of a lognormal distribution, up to a second; nil for the zero value.
func (l lateness) draws(seed uint64) func() time.Duration {
	if l == (lateness{}) {
		return nil
	}
	random := rand.New(rand.NewPCG(6, seed))
	const z90, z99 = 1.2816, 2.3263 // of the normal distribution
	sigma := math.Log(l.p99.Seconds()/l.p90.Seconds()) / (z99 - z90)
	mu := math.Log(l.p90.Seconds()) - z90*sigma
	return func() time.Duration {
		return time.Duration(min(1, math.Exp(mu+sigma*random.NormFloat64())) * float64(time.Second))
	}
}

// busyWorld is the virtual time of a client on a machine where those who wait for a send token wake up late.
type busyWorld struct {
	*sim.Clock
	late func() time.Duration
}

func (w busyWorld) Await(ctx context.Context, done <-chan struct{}) error {
	if err := w.Clock.Await(ctx, done); err != nil {
		return err
	}
	return w.Sleep(ctx, w.late())
}

// change begins a phase in which the conditions are those at first but for a change.
func (s *scenario) change(from time.Duration, change func(now *sim.Conditions)) {
	now := s.Conditions
	change(&now)
	s.Phases = append(s.Phases, sim.Phase{From: from, Conditions: now})
}

// measure lets a minute count, the last one of the run.
func (s *scenario) measure(from time.Duration) {
	s.Measured = sim.Window{From: from, To: from + time.Minute}
	s.Duration = s.Measured.To
}

// String is the scenario as a part of the name of a benchmark.
func (s *scenario) String() string {
	return fmt.Sprintf("scenario=%s/R=%v/burst=%v/clients=%d/workers=%d", s.name, s.Rate, s.burst, s.Clients, s.Workers)
}

// outage is when all requests fail, without its first ten seconds, in which clients
// use up their quota; empty if there is none.
func (s *scenario) outage() sim.Window {
	for i, p := range s.Phases {
		if p.Fail >= 1 {
			return sim.Window{From: p.From + 10*time.Second, To: s.Phases[i+1].From}
		}
	}
	return sim.Window{}
}

// twoTables is how many calls on a table without a limit succeed in a minute, over how
// many do when its client has no other table: one with five requests a second, on
// which it has four workers too.
func twoTables(t *testing.T, c contender, seed uint64) float64 {
	t.Helper()
	alone, together := oneMinute(t, c, seed, false), oneMinute(t, c, seed, true)
	return share(together, alone)
}

// again has four workers that call again at once.
func again(s sim.Scenario) sim.Scenario {
	s.Workers, s.Offered = 4, math.Inf(1)
	return s
}

// oneMinute returns the successes on the table without a limit.
func oneMinute(t *testing.T, c contender, seed uint64, withNeighbor bool) int {
	t.Helper()
	var calls, others []*sim.Call
	synctest.Test(t, func(t *testing.T) {
		var world bubble
		ctx, stop := context.WithCancel(t.Context())
		client := c.make(t, &waits{}, seed)
		free := newLoad(again(limited(1e6, time.Second)), c, seed, time.Now(), &calls)
		free.Begin(ctx, &world, client)
		if withNeighbor {
			neighbor := newLoad(again(limited(5, time.Second)), c, seed, time.Now(), &others)
			neighbor.Table = "limited"
			neighbor.Begin(ctx, &world, client)
		}
		_ = world.Sleep(ctx, time.Minute)
		stop()
		world.Wait()
	})
	successes := 0
	for _, call := range calls {
		if call.Err == nil {
			successes++
		}
	}
	return successes
}
