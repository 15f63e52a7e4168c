//go:build long

package sdktest

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// trial is a case that both sides play.
type trial struct {
	name     string
	tables   []demand
	clients  int           // that are made from the config, each with the whole load; 0 is one
	attempts int           // RetryMaxAttempts
	deadline time.Duration // of each call; 0 is none
	goodput  string        // why more calls may fail: the calls that succeed in time count instead; empty where those that fail count
	better   bool          // fewer calls on the last table fail with awsretry
	patience time.Duration // of the callers on average, until they cancel; 0 is for ever
	lasts    time.Duration // until the last call begins

	faults  func(at time.Duration, draw float64) fault // of connections
	connect func(*awshttp.BuildableClient) aws.HTTPClient
}

// demand is a table and the calls on it.
type demand struct {
	rate  float64          // requests a second that the table allows, and its burst; 0 is no limit
	fails float64          // share of the requests that fail with status 500
	away  [2]time.Duration // from when until when all requests fail
	hint  time.Duration    // of throttles and failures; 0 is none

	workers int     // of each client, which call again after a pause
	open    float64 // calls a second that begin at random
	burst   int     // calls that begin at once, every ten seconds
}

// pauseOfWorkers is how long a worker waits after a call, on average.
const pauseOfWorkers = 50 * time.Millisecond

// kept is the table as the server has it.
func (d demand) kept(seed uint64) *keptTable {
	rate := d.rate
	if rate == 0 {
		rate = 1e6
	}
	usual := sim.Conditions{Rate: rate, Burst: rate, Fail: d.fails, Latency: [2]time.Duration{30 * time.Millisecond, 70 * time.Millisecond}}
	service := sim.NewService(sim.Scenario{Conditions: usual}, seed, time.Now())
	service.Throttled = sim.ServiceError{Code: "ProvisionedThroughputExceededException", Status: 400}
	if d.hint > 0 {
		service.Failed = sim.ServiceError{Code: "ServiceUnavailable", Status: 503}
	}
	return &keptTable{Service: service, usual: usual, hint: d.hint}
}

// change lets the table be away for its time.
func (d demand) change(ctx context.Context, table *keptTable) {
	if d.away[1] == 0 {
		return
	}
	sleep(ctx, d.away[0])
	outage := table.usual
	outage.Fail = 1
	table.Change(time.Now(), outage)
	sleep(ctx, d.away[1]-d.away[0])
	table.Change(time.Now(), table.usual)
}

// load begins the calls of a client until ctx ends.
func (d demand) load(ctx context.Context, w *bubbleWorld, c *tester, seed uint64) {
	calls := sim.Scenario{Clients: 1}
	load := sim.Load{Scenario: &calls, Start: c.began, Seed: seed, Ended: func(*sim.Call) {}}
	switch {
	case d.workers > 0:
		calls.Workers, calls.Offered = d.workers, math.Inf(1)
		load.Begin(ctx, w, c)
	case d.open > 0:
		calls.Offered = d.open
		load.Begin(ctx, w, c)
	default:
		w.Go(func() {
			for ctx.Err() == nil {
				for i := range d.burst {
					w.Go(func() {
						sleep(ctx, time.Duration(i)*time.Microsecond) // so that each run has the same order
						_ = c.Do(ctx, "", nil)
					})
				}
				sleep(ctx, 10*time.Second)
			}
		})
	}
}

func (d demand) String() string {
	switch {
	case d.workers == 1:
		return "1 worker"
	case d.workers > 0:
		return fmt.Sprintf("%d workers", d.workers)
	case d.open > 0:
		return fmt.Sprintf("%v/s", d.open)
	default:
		return fmt.Sprintf("%d at once", d.burst)
	}
}

// everyFifth lets a fifth of the requests meet a fault.
func everyFifth(f fault) func(time.Duration, float64) fault {
	return func(_ time.Duration, draw float64) fault {
		if draw < 0.2 {
			return f
		}
		return none
	}
}

// resetFrom5To25 resets all connections for 20 s.
func resetFrom5To25(at time.Duration, _ float64) fault {
	if 5*time.Second < at && at < 25*time.Second {
		return reset
	}
	return none
}

// resetTogether resets the connections of the first instants, a little later.
func resetTogether(at time.Duration, _ float64) fault {
	if at < time.Millisecond {
		return resetLater
	}
	return none
}

// The ways of a program to end an attempt that takes longer than a second.
func wholeTimeout(c *awshttp.BuildableClient) aws.HTTPClient { return c.WithTimeout(time.Second) }

func readTimeout(c *awshttp.BuildableClient) aws.HTTPClient { return c.WithReadTimeout(time.Second) }

func ownContext(c *awshttp.BuildableClient) aws.HTTPClient {
	return answerFunc(func(r *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		context.AfterFunc(r.Context(), cancel) // with the end of the call: the body of the response is still to be read
		return c.Do(r.WithContext(ctx))
	})
}

// trials are all cases.
func trials() []trial {
	const s, ms = time.Second, time.Millisecond
	alone := func(d demand) []demand { return []demand{d} }
	beside := func(a, healthy demand) []demand { return []demand{a, healthy} }
	away := [2]time.Duration{5 * s, 25 * s}
	all := []trial{
		{name: "throttled, 5/s", lasts: 30 * s, tables: alone(demand{rate: 5, workers: 8})},
		{name: "throttled, 5/s", lasts: 30 * s, tables: alone(demand{rate: 5, open: 10})},
		{name: "throttled, 5/s, beside a healthy table", lasts: 30 * s, tables: beside(demand{rate: 5, workers: 8}, demand{workers: 6})},
		{name: "throttled, 5/s, beside a healthy table", lasts: 30 * s, tables: beside(demand{rate: 5, open: 10}, demand{open: 40})},
		{
			name: "throttled, 5/s, a client for each worker", lasts: 30 * s, clients: 8, goodput: "the clients share a quota on purpose",
			tables: alone(demand{rate: 5, workers: 1}),
		},
		{name: "throttled, 5/s, 10 attempts", lasts: 30 * s, attempts: 10, tables: alone(demand{rate: 5, workers: 8})},
		{name: "ten times the limit of 2/s", lasts: 10 * s, tables: alone(demand{rate: 2, open: 20})},
		{name: "ten times the limit of 2/s, beside a healthy table", lasts: 10 * s, tables: beside(demand{rate: 2, open: 20}, demand{open: 20})},
		{name: "ten times the limit of 5/s, deadline 1 s", lasts: 10 * s, deadline: s, tables: alone(demand{rate: 5, open: 50})},
		{name: "100 at once, 20/s", lasts: 15 * s, tables: alone(demand{rate: 20, burst: 100})},
		{name: "100 at once, 20/s, beside a healthy table", lasts: 15 * s, tables: beside(demand{rate: 20, burst: 100}, demand{open: 20})},
		{name: "10 % fail", lasts: 20 * s, tables: alone(demand{fails: 0.1, workers: 2})},
		{name: "50 % fail", lasts: 20 * s, tables: alone(demand{fails: 0.5, workers: 2})},
		{name: "50 % fail", lasts: 20 * s, tables: alone(demand{fails: 0.5, open: 15})},
		{name: "50 % fail, beside a healthy table", lasts: 20 * s, tables: beside(demand{fails: 0.5, open: 15}, demand{open: 15})},
		{name: "away for 20 s", lasts: 35 * s, tables: alone(demand{away: away, workers: 2})},
		{name: "away for 20 s", lasts: 35 * s, tables: alone(demand{away: away, open: 10})},
		{
			name: "away for 20 s, beside another table", better: true, lasts: 35 * s,
			tables: beside(demand{away: away, open: 10}, demand{fails: 0.05, open: 10}),
		},
		{name: "away for the first 20 s", lasts: 30 * s, tables: alone(demand{away: [2]time.Duration{1, 20 * s}, workers: 2})},
		{name: "all connections reset for 20 s", lasts: 30 * s, faults: resetFrom5To25, connect: wholeTimeout, tables: alone(demand{open: 5})},
		{
			name: "all connections reset at once", better: true, lasts: 5 * s, faults: resetTogether, connect: wholeTimeout,
			tables: alone(demand{burst: 100}),
		},
		{name: "20 % of connections reset", lasts: 20 * s, faults: everyFifth(reset), connect: wholeTimeout, tables: alone(demand{workers: 2})},
		{name: "20 % reset in the body", lasts: 20 * s, faults: everyFifth(resetInBody), connect: wholeTimeout, tables: alone(demand{workers: 2})},
		{name: "20 % stall, `WithTimeout` of 1 s", lasts: 20 * s, faults: everyFifth(silence), connect: wholeTimeout, tables: alone(demand{workers: 4})},
		{
			name: "20 % stall in the body, `WithTimeout` of 1 s", lasts: 20 * s, faults: everyFifth(silenceInBody), connect: wholeTimeout,
			tables: alone(demand{workers: 4}),
		},
		{name: "20 % stall, `WithReadTimeout` of 1 s", lasts: 20 * s, faults: everyFifth(silence), connect: readTimeout, tables: alone(demand{workers: 4})},
		{
			name: "20 % stall, a context of 1 s for each attempt", lasts: 20 * s, faults: everyFifth(silence), connect: ownContext,
			tables: alone(demand{workers: 4}),
		},
		{name: "30 % fail with a hint of 3 s", lasts: 20 * s, tables: alone(demand{fails: 0.3, hint: 3 * s, workers: 8})},
		{
			name: "30 % fail with a hint of 9 s, deadline 7 s", better: true, lasts: 20 * s, deadline: 7 * s,
			tables: alone(demand{fails: 0.3, hint: 9 * s, open: 10}),
		},
		{name: "throttled, 5/s, with a hint of 2 s", lasts: 20 * s, tables: alone(demand{rate: 5, hint: 2 * s, workers: 8})},
		{name: "throttled, 5/s, canceled after 2 s on average", lasts: 20 * s, patience: 2 * s, tables: alone(demand{rate: 5, open: 7})},
		{name: "50 % fail, canceled after 0.2 s on average", lasts: 20 * s, patience: 200 * ms, tables: alone(demand{fails: 0.5, open: 15})},
		{name: "50 % fail, deadline 0.3 s", lasts: 20 * s, deadline: 300 * ms, tables: alone(demand{fails: 0.5, workers: 2})},
		{name: "50 % fail, deadline 0.3 s", lasts: 20 * s, deadline: 300 * ms, tables: alone(demand{fails: 0.5, open: 15})},
	}
	const early = "fails early on purpose, and workers call again"
	for _, deadline := range []time.Duration{300 * ms, s, 3 * s, 10 * s} {
		throttled := fmt.Sprintf("throttled, 5/s, deadline %v s", deadline.Seconds())
		hinted := fmt.Sprintf("50 %% fail with a hint of 1 s, deadline %v s", deadline.Seconds())
		all = append(all,
			trial{name: throttled, goodput: early, lasts: 15 * s, deadline: deadline, tables: alone(demand{rate: 5, workers: 6})},
			trial{name: throttled, lasts: 15 * s, deadline: deadline, tables: alone(demand{rate: 5, open: 10})},
			trial{
				name: hinted, goodput: early, better: deadline <= 3*s, lasts: 15 * s, deadline: deadline,
				tables: alone(demand{fails: 0.5, hint: s, workers: 4}),
			},
			trial{
				name: hinted, better: deadline <= 3*s, lasts: 15 * s, deadline: deadline,
				tables: alone(demand{fails: 0.5, hint: s, open: 15}),
			},
		)
	}
	return all
}
