package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/retry"
)

// MaxOpen is the largest number of calls that may be open at once. Each takes some kilobytes of
// memory.
const MaxOpen = 20_000

// ErrOpen is the error of a run in which more than [MaxOpen] calls were open at once.
var ErrOpen = fmt.Errorf("more than %d calls are open at once", MaxOpen)

// start is when each run begins. It is a whole second, so that the windows of the measured rate
// begin at the same times in each run.
func start() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// troubled is the table whose calls count.
const troubled = "table"

// Play plays a scenario with a variant. The same seed gives the same result. It returns the errors of ctx and of the
// variant, and [ErrOpen].
func Play(ctx context.Context, s Scenario, v Variant, seed uint64) (*Result, error) {
	clk := NewClock(start())
	plan, err := v.Plan()
	if err != nil {
		return nil, err
	}
	r := newRecorder(&s, plan.QuotaCapacity)
	load := &Load{Scenario: &s, Service: NewService(s, seed, clk.Now()), Table: troubled, Start: clk.Now(), Seed: seed}
	load.Began = func(at time.Duration) {
		if r.began(at); r.openCalls > MaxOpen || ctx.Err() != nil {
			clk.Stop()
		}
	}
	load.Ended = func(c *Call) {
		if r.ended(c); s.Calls > 0 && s.Step != nil {
			s.Step(1 / float64(s.Calls))
		}
	}
	var clients []*client
	var worlds []World
	for i := range s.Clients {
		world := clk.Beside()
		c, err := v.newClient(world, jitter(seed+uint64(i)), retry.ObserverFunc(r.observe))
		if err != nil {
			return nil, err
		}
		if v.AttemptTimeout == 0 {
			c.attemptTimeout = func() time.Duration {
				now, _ := s.at(world.Now().Sub(load.Start))
				return now.Timeout
			}
		}
		clients, worlds = append(clients, c), append(worlds, world)
	}
	for i, c := range clients {
		load.Begin(context.Background(), worlds[i], c)
	}
	for _, p := range s.Phases {
		clk.AfterFunc(p.From, func() { load.Service.Change(clk.Now(), p.Conditions) })
	}
	for i := range r.bins {
		clk.AfterFunc(r.end(i)-1, func() {
			r.sample(i, clients)
			if i == len(r.bins)-1 {
				r.stop()
			}
			if ctx.Err() != nil {
				clk.Stop()
			}
			if s.Calls == 0 && s.Step != nil {
				s.Step(1 / float64(len(r.bins)))
			}
		})
	}
	clk.Run(start().Add(s.Duration))
	if s.Calls > 0 && !r.stopped && ctx.Err() == nil { // the calls ended before the run
		for i := range r.bins {
			if r.end(i) > clk.Now().Sub(start()) {
				r.sample(i, clients)
			}
		}
		r.stop()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case r.most > MaxOpen:
		return nil, ErrOpen
	default:
		return r.result(plan), nil
	}
}
