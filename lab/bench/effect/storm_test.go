//go:build !race

package effect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/lab/bench/internal/failure"
	"github.com/awsretry/awsretry/modes/standard"
)

// retryer is a way to retry in a storm, which a thousand processes make, each with a quota of its own: the standard mode of a config,
// or without one the SDK's.
type retryer struct {
	name   string
	config *standard.Config
}

func retryers() []retryer {
	return []retryer{
		{"aws-sdk-go-v2", nil},
		{"awsretry", &standard.Config{}},
		{"DebtLimit", &standard.Config{DebtLimit: true}},
		{"quota of 14", &standard.Config{QuotaCapacity: new(14)}},
	}
}

// in plays in virtual time until an end: in a bubble for the SDK, which sleeps on the clock of programs.
func (r *retryer) in(t *testing.T, until time.Duration, play func(ctx context.Context, beside func() sim.World)) {
	t.Helper()
	if r.config == nil {
		synctest.Test(t, func(t *testing.T) {
			var world bubble
			ctx, stop := context.WithCancel(t.Context())
			play(ctx, func() sim.World { return &world })
			if until > 0 {
				_ = world.Sleep(ctx, until)
				stop()
			}
			world.Wait()
			stop()
		})
		return
	}
	clk, end := sim.NewClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)), time.Time{}
	if until > 0 {
		end = clk.Now().Add(until)
	}
	play(t.Context(), func() sim.World { return clk.Beside() })
	clk.Run(end)
}

// client returns a process, which waits so long for the answer to an attempt; 0 is for ever.
func (r *retryer) client(t *testing.T, w sim.World, seed uint64, timeout time.Duration) sim.Client {
	t.Helper()
	var made sim.Client
	if r.config == nil {
		made = sdkStandard(t, nil, 0)
	} else {
		config := *r.config
		config.Clock, config.Random = w, seeded(seed)
		strategy, err := standard.New(config)
		require.NoError(t, err)
		made = looped{strategy}
	}
	if timeout == 0 {
		return made
	}
	return impatient{made, w, timeout}
}

// impatient is a client with a timeout of each attempt.
type impatient struct {
	sim.Client
	clock   clock.Clock
	timeout time.Duration
}

func (c impatient) Do(ctx context.Context, table string, attempt func(context.Context) error) error {
	return c.Client.Do(ctx, table, func(ctx context.Context) error {
		limited, cancel := clock.WithTimeout(ctx, c.clock, c.timeout)
		defer cancel()
		return attempt(limited)
	})
}

// ending is what a storm comes to.
type ending struct {
	well time.Duration // from the start of the brown-out until 99 % of the calls that begin in ten seconds succeed; negative if never
	lost int           // calls that fail
	sent int           // requests

	begun, failed []int // calls that begin in a second, and those of them that fail
}

func (e ending) String() string {
	if e.well < 0 {
		return fmt.Sprintf("never, %d, %d", e.lost, e.sent)
	}
	return fmt.Sprintf("%.0f s, %d, %d", e.well.Seconds(), e.lost, e.sent)
}

// storm plays processes that make 80 calls a second together, of a service that does 100 and queues. From second 30 on it does none
// for ten seconds. Attempts time out after a second, and the service still works on them. A second brown-out may follow.
func (r *retryer) storm(t *testing.T, processes int, brownOuts ...time.Duration) (e ending) {
	t.Helper()
	s := sim.Scenario{Clients: processes, Queue: true}
	s.Rate, s.Burst, s.Offered = 100, 100, 80
	s.Latency = [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}
	for _, at := range brownOuts {
		down := s.Conditions
		down.Rate = 0
		s.Phases = append(s.Phases, sim.Phase{From: at, Conditions: down}, sim.Phase{From: at + 10*time.Second, Conditions: s.Conditions})
	}
	last := brownOuts[len(brownOuts)-1]
	s.Duration = last + 10*time.Minute
	e.begun, e.failed = make([]int, s.Duration/time.Second+1), make([]int, s.Duration/time.Second+1)
	var mu sync.Mutex
	r.in(t, s.Duration, func(ctx context.Context, beside func() sim.World) {
		world := beside()
		load := &sim.Load{Scenario: &s, Service: sim.NewService(s, 1, world.Now()), Table: "table", Start: world.Now(), Seed: 1, Ended: func(call *sim.Call) {
			mu.Lock()
			defer mu.Unlock()
			e.sent += len(call.Attempts)
			if call.Ended >= s.Duration { // the end cut it off
				return
			}
			e.begun[call.Began/time.Second]++
			if call.Err != nil {
				e.failed[call.Began/time.Second]++
				e.lost++
			}
		}}
		for i := range processes {
			world := beside()
			load.Begin(ctx, world, r.client(t, world, uint64(i)+1, time.Second)) //nolint:gosec // not negative
		}
		for _, p := range s.Phases {
			world.AfterFunc(p.From, func() { load.Service.Change(world.Now(), p.Conditions) })
		}
	})
	e.well = -1
	for at := int(last / time.Second); at+20 < len(e.begun) && e.well < 0; at++ {
		calls, bad := 0, 0
		for second := at; second < at+10; second++ {
			calls, bad = calls+e.begun[second], bad+e.failed[second]
		}
		if float64(bad) <= 0.01*float64(calls) {
			e.well = time.Duration(at)*time.Second - last
		}
	}
	return e
}

// bursts plays a process that makes n calls at once, of which a share of the attempts fails with status 500, and does so again after a
// pause; without a pause another process does. It returns the share of the calls that fail.
func (r *retryer) bursts(t *testing.T, n int, pause time.Duration, share float64, calls int) float64 {
	t.Helper()
	return r.calls(t, calls, share, failure.Internal(), func(ctx context.Context, beside func() sim.World, call func(w sim.World, c sim.Client)) {
		world := beside()
		world.Go(func() {
			var client sim.Client
			for i := range calls / n {
				if client == nil || pause == 0 {
					client = r.client(t, world, uint64(i)+1, 0) //nolint:gosec // not negative
				}
				for range n {
					world.Go(func() { call(world, client) })
				}
				_ = world.Sleep(ctx, max(pause, 5*time.Second))
			}
		})
	})
}

// timeouts plays a process that makes a call in 12.5 s, of which a share of the attempts times out.
func (r *retryer) timeouts(t *testing.T, share float64, calls int) float64 {
	t.Helper()
	return r.calls(t, calls, share, context.DeadlineExceeded, func(ctx context.Context, beside func() sim.World, call func(w sim.World, c sim.Client)) {
		world := beside()
		client := r.client(t, world, 1, 0)
		world.Go(func() {
			for range calls {
				_ = world.Sleep(ctx, 12500*time.Millisecond)
				call(world, client)
			}
		})
	})
}

// calls makes calls of a service of which a share of the answers is a failure. A timeout takes a second, other answers a tenth of it.
func (r *retryer) calls(t *testing.T, n int, share float64, failed error, play func(context.Context, func() sim.World, func(sim.World, sim.Client))) float64 {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	var mu sync.Mutex // guards what follows, and the random numbers
	lost := 0
	r.in(t, 0, func(ctx context.Context, beside func() sim.World) {
		play(ctx, beside, func(w sim.World, c sim.Client) {
			err := c.Do(ctx, "table", func(ctx context.Context) error {
				mu.Lock()
				latency, fails := time.Duration(50+random.IntN(100))*time.Millisecond, random.Float64() < share
				mu.Unlock()
				if fails && failed == context.DeadlineExceeded { //nolint:errorlint // the same value
					latency = time.Second
				}
				_ = w.Sleep(ctx, latency)
				if fails {
					return failed
				}
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				lost++
			}
		})
	})
	return float64(lost) / float64(n)
}

// dead returns how many requests a process makes for 10,000 calls of a hundred tables that answer nothing but status 500, a call a second each.
func (r *retryer) dead(t *testing.T) (requests int) {
	t.Helper()
	var mu sync.Mutex
	r.in(t, 0, func(ctx context.Context, beside func() sim.World) {
		world := beside()
		client := r.client(t, world, 1, 0)
		for i := range 100 {
			random := rand.New(rand.NewPCG(7, uint64(i))) //nolint:gosec // not negative
			world.Go(func() {
				for range 100 {
					_ = world.Sleep(ctx, time.Duration(random.ExpFloat64()*float64(time.Second)))
					_ = client.Do(ctx, fmt.Sprint("table ", i), func(ctx context.Context) error {
						mu.Lock()
						requests++
						mu.Unlock()
						_ = world.Sleep(ctx, 100*time.Millisecond)
						return failure.Internal()
					})
				}
			})
		}
	})
	return requests
}

// TestDebtLimitEndsAStorm has the rows that take no time; those of the page are in the long test.
func TestDebtLimitEndsAStorm(t *testing.T) {
	t.Parallel()
	ended := map[string]map[int]ending{}
	for _, r := range retryers()[1:3] {
		ended[r.name] = map[int]ending{}
		for _, processes := range []int{1, 100, 1000} {
			ended[r.name][processes] = r.storm(t, processes, 30*time.Second)
			t.Log(r.name, processes, ended[r.name][processes])
		}
	}
	with, without := ended["DebtLimit"], ended["awsretry"]
	require.Equal(t, without[1], with[1], "a process alone is not limited")
	require.Less(t, with[100].well, without[100].well/3)
	require.Negative(t, without[1000].well)
	require.Less(t, with[1000].well, 110*time.Second)
	require.Positive(t, with[1000].well)
	require.Less(t, with[1000].lost, without[1000].lost/4)
}

func TestDebtLimitCostsLittleInBursts(t *testing.T) {
	t.Parallel()
	const calls = 20_000
	without, with := retryers()[1], retryers()[2]
	for _, n := range []int{20, 100} {
		for _, pause := range []time.Duration{0, 5 * time.Second} {
			require.LessOrEqual(t, with.bursts(t, n, pause, 0.05, calls), 2*without.bursts(t, n, pause, 0.05, calls)+1.0/calls)
			require.LessOrEqual(t, with.bursts(t, n, pause, 0.2, calls), 1.5*without.bursts(t, n, pause, 0.2, calls))
		}
	}
	require.LessOrEqual(t, with.timeouts(t, 0.2, calls), 1.5*without.timeouts(t, 0.2, calls))
	require.Less(t, with.dead(t), without.dead(t))
}
