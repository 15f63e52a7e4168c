//go:build !race

package effect

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// scenario is one of the benchmarks. Its run ends when the part that counts does.
type scenario struct {
	sim.Scenario
	name  string
	burst time.Duration // that the bucket of the service holds
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
