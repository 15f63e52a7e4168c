//go:build !race

package effect

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
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
		start := time.Now()
		loads := s.loads(c, seed, start, &r.calls)
		ctx, stop := context.WithCancel(t.Context())
		w := waits{late: s.late.draws(seed)}
		var client sim.Client
		for i, load := range loads {
			if client == nil || s.hot == 0 {
				client = c.make(t, &w, seed+uint64(i))
				if s.batch > 0 {
					client = &looping{client: client, entries: s.batch, service: load.Service, bucket: bucket{s.Rate, s.Burst, s.Burst, start}}
				}
			}
			if i == s.Clients-1 && s.joins > 0 {
				world.AfterFunc(s.joins, func() { load.Begin(ctx, &world, client) })
			} else {
				load.Begin(ctx, &world, client)
			}
		}
		for _, p := range s.Phases {
			_ = world.Sleep(ctx, p.From-time.Since(start))
			loads[0].Service.Change(time.Now(), p.Conditions)
		}
		_ = world.Sleep(ctx, s.Duration-time.Since(start))
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

// metrics is what a run came to in its window.
type metrics struct {
	goodput   float64 // successes over what the service allows
	throttled float64 // of the attempts
	attempts  float64 // for each success
	failed    float64 // of the calls
	noQuota   float64 // of the calls: failed for lack of quota, with the service as it is

	p50, p99, longest time.Duration // waits of successes until the attempt that succeeded
	initial           time.Duration // longest wait until a first attempt
	settled           time.Duration // from the last change until goodput is 90 %; negative if never

	fairness        float64       // of workers or, if there are several, clients
	wakeUps         float64       // for each attempt, in the whole run
	wakeUpsPerDelay float64       // for each attempt that was held back
	cpu             time.Duration // of this process, for each attempt
	inOutage        float64       // attempts for each call in an outage, ten seconds after its begin
}

// metrics reads a record. Calls count where they end.
func (r *record) metrics() metrics {
	s := &r.scenario
	m := metrics{settled: r.settled(), fairness: r.fairness(), inOutage: r.overhead(s.outage())}
	var waits []time.Duration
	calls, attempts, throttled, failed, noQuota := 0, 0, 0, 0, 0
	for _, c := range r.calls {
		if !s.Measured.Has(c.Ended) {
			continue
		}
		calls++
		attempts += len(c.Attempts)
		throttled += c.Throttled()
		var last time.Duration // when the service took up the last attempt
		if n := len(c.Attempts); n > 0 {
			m.initial = max(m.initial, c.Attempts[0].Sent-c.Began)
			last = c.Attempts[n-1].Sent
		}
		switch {
		case c.Err == nil:
			waits = append(waits, last-c.Began)
		case forQuota(c.Err) && last >= s.LastChange():
			noQuota++
			failed++
		default:
			failed++
		}
	}
	slices.Sort(waits)
	m.goodput = float64(len(waits)) / s.Capacity(s.Measured)
	m.throttled = share(throttled, attempts)
	m.attempts = share(attempts, len(waits))
	m.failed, m.noQuota = share(failed, calls), share(noQuota, calls)
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
func (r *record) settled() time.Duration {
	var ends []time.Duration
	for _, c := range r.calls {
		if c.Err == nil {
			ends = append(ends, c.Ended)
		}
	}
	slices.Sort(ends)
	return r.scenario.Settled(ends, r.scenario.LastChange())
}

// fairness is Jain's index of the successes of the workers, or of the clients if
// there are several: 1 if all have the same, 1/n if one has all.
func (r *record) fairness() float64 {
	s := &r.scenario
	shares, each := make([]float64, s.Workers), 1
	if s.Clients > 1 {
		shares, each = make([]float64, s.Clients), s.Workers
	}
	for _, c := range r.calls {
		if c.Err == nil && s.Measured.Has(c.Ended) {
			shares[c.Worker/each]++
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

// overhead is how many attempts the calls that began in a window took, for each.
func (r *record) overhead(w sim.Window) float64 {
	calls, attempts := 0, 0
	for _, c := range r.calls {
		if w.Has(c.Began) {
			calls++
			attempts += len(c.Attempts)
		}
	}
	return share(attempts, calls)
}

// share is a part of a whole, and 0 of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
