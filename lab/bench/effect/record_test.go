//go:build !race

package effect

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/lab/bench/internal/cputime"
	"github.com/awsretry/awsretry/lab/bench/internal/failure"
)

// bubble is the world of a bubble of testing/synctest.
type bubble struct {
	clock.System
	sync.WaitGroup
}

var _ sim.World = (*bubble)(nil)

// record is a whole run.
type record struct {
	scenario scenario
	calls    []*sim.Call // in the order in which they ended
	wakeUps  int64
	delayed  int64
	sent     int
	cpu      time.Duration
}

// play runs a scenario with a contender in a bubble. Contenders of awsretry and the
// service do the same in every run with the same seed.
func play(t *testing.T, s scenario, c contender, seed uint64) *record {
	t.Helper()
	r := &record{scenario: s}
	synctest.Test(t, func(t *testing.T) {
		var world bubble
		before := cputime.Spent()
		load := newLoad(s.Scenario, c, seed, time.Now(), &r.calls)
		ctx, stop := context.WithCancel(t.Context())
		var w waits
		for i := range s.Clients {
			load.Begin(ctx, &world, c.make(t, &w, seed+uint64(i)))
		}
		for _, p := range s.Phases {
			_ = world.Sleep(ctx, p.From-time.Since(load.Start))
			load.Service.Change(time.Now(), p.Conditions)
		}
		_ = world.Sleep(ctx, s.Duration-time.Since(load.Start))
		r.wakeUps, r.delayed = w.wakeUps.Load(), w.delayed.Load()
		r.cpu = cputime.Spent() - before
		stop()
		world.Wait()
	})
	for _, call := range r.calls {
		r.sent += len(call.Attempts)
	}
	return r
}

// newLoad is the load of a table with the service of a scenario, which answers with errors
// as clients of aws-sdk-go-v2 return them. It adds the calls that have ended to a list.
func newLoad(s sim.Scenario, c contender, seed uint64, start time.Time, ended *[]*sim.Call) *sim.Load {
	service := sim.NewService(s, seed, start)
	service.Queues, service.Throttled, service.Failed = c.queues, failure.Throttle(), failure.Internal()
	var mu sync.Mutex // guards the list
	return &sim.Load{Scenario: &s, Service: service, Table: "table", Start: start, Seed: seed, Ended: func(call *sim.Call) {
		mu.Lock()
		defer mu.Unlock()
		*ended = append(*ended, call)
	}}
}
