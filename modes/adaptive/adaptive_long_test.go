//go:build long

package adaptive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// service allows rate requests a second, with a burst, and answers after 5 to 20 ms. It runs on
// the time of a bubble.
type service struct {
	mu                sync.Mutex
	rate, burst       float64
	tokens            float64
	last              time.Time
	random            *rand.Rand
	served, throttled int
}

func newService(rate float64, burst time.Duration) *service {
	capacity := max(rate*burst.Seconds(), 1)
	return &service{rate: rate, burst: capacity, tokens: capacity, last: time.Now(), random: rand.New(rand.NewPCG(1, 2))}
}

// call is one request.
func (s *service) call(ctx context.Context) (struct{}, error) {
	s.mu.Lock()
	now := time.Now()
	s.tokens = min(s.tokens+now.Sub(s.last).Seconds()*s.rate, s.burst)
	s.last = now
	latency := 5*time.Millisecond + time.Duration(s.random.Int64N(int64(15*time.Millisecond)))
	served := s.tokens >= 1
	if served {
		s.tokens--
		s.served++
	} else {
		s.throttled++
	}
	s.mu.Unlock()
	if err := (clock.System{}).Sleep(ctx, latency); err != nil {
		return struct{}{}, err
	}
	if !served {
		return struct{}{}, errThrottle
	}
	return struct{}{}, nil
}

// set changes the rate from now on.
func (s *service) set(rate float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rate = rate
}

// take returns what has been counted since the last call.
func (s *service) take() (served, throttled int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	served, throttled = s.served, s.throttled
	s.served, s.throttled = 0, 0
	return served, throttled
}

func pass(ctx context.Context, d time.Duration) { _ = clock.System{}.Sleep(ctx, d) }

// work sends an operation each pause, or as soon as the one before has ended.
func work(ctx context.Context, s retry.Strategy, svc *service, m *meter, pause time.Duration) {
	next := time.Now()
	for ctx.Err() == nil {
		began, first := time.Now(), true
		_, _ = retry.Do(ctx, s, retry.Operation{}, func(ctx context.Context) (struct{}, error) {
			if first {
				m.waited(time.Since(began))
			}
			first = false
			return svc.call(ctx)
		})
		if next = next.Add(pause); next.Before(time.Now()) {
			next = time.Now()
		}
		pass(ctx, time.Until(next))
	}
}

// meter keeps the longest wait before a first attempt.
type meter struct {
	mu  sync.Mutex
	on  bool
	max time.Duration
}

func (m *meter) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = true
}

func (m *meter) waited(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on {
		m.max = max(m.max, d)
	}
}

func (m *meter) longest() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.max
}

// run is one client with workers that together offer five times the rate.
type run struct {
	rate       float64
	burst      time.Duration
	workers    int
	then       float64 // the rate from the 30th second on; zero means the same
	controller ratelimit.Controller

	goodput, throttled float64 // what it has to reach
}

// result is what a run reached in a minute.
type result struct {
	goodput   float64 // of the rate
	throttled float64 // of the requests
	longest   time.Duration
	wakeUps   float64 // timers that fired for each attempt that was delayed
}

// do runs the load: half a minute to settle, a minute more if the rate changes, and a minute
// that is measured.
func (r run) do(t *testing.T) (got result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		timers, delayed := &timers{}, &atomic.Int64{}
		s, err := adaptive.New(adaptive.Config{
			Controller: r.controller,
			Standard: standard.Config{Clock: timers, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.SendWaitBegan {
					delayed.Add(1)
				}
			})},
		})
		require.NoError(t, err)
		svc := newService(r.rate, r.burst)
		ctx, stop := context.WithCancel(t.Context())
		meter := &meter{}
		var wg sync.WaitGroup
		for range r.workers {
			wg.Go(func() { work(ctx, s, svc, meter, time.Duration(float64(r.workers)/(5*r.rate)*float64(time.Second))) })
		}
		pass(ctx, 30*time.Second)
		if r.then > 0 {
			svc.set(r.then)
			pass(ctx, time.Minute)
		}
		svc.take()
		meter.start()
		pass(ctx, time.Minute)
		served, throttled := svc.take()
		got.longest = meter.longest()
		stop()
		wg.Wait()
		got.wakeUps = float64(timers.fired.Load()) / float64(delayed.Load())
		got.goodput = float64(served) / (r.final() * 60)
		got.throttled = float64(throttled) / float64(served+throttled)
	})
	return got
}

// timers is the clock of the bubble. It counts the timers of queues that fire; backoffs are
// sleeps.
type timers struct {
	clock.System
	fired atomic.Int64
}

func (c *timers) AfterFunc(d time.Duration, f func()) clock.Timer {
	return c.System.AfterFunc(d, func() {
		c.fired.Add(1)
		f()
	})
}

// TestSettlesAtTheRateOfTheService is the proof that adaptive mode finds the rate of a service,
// stays there, and follows it. -v prints the table. The runs with a cut for each throttle, as in
// the AWS SDKs, have no target; those with Hold may be 0.05 R
// below the target.
func TestSettlesAtTheRateOfTheService(t *testing.T) {
	t.Parallel()
	const short = 100 * time.Millisecond
	t.Log("| R | burst | N | goodput | throttled | longest wait | wake-ups | cut per throttle | hold |")
	for _, r := range []run{
		{rate: 5, burst: time.Second, workers: 10, goodput: 0.97, throttled: 0.10},
		{rate: 5, burst: short, workers: 10, goodput: 0.70, throttled: 0.10},
		{rate: 50, burst: time.Second, workers: 10, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: short, workers: 10, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: time.Second, workers: 100, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: short, workers: 100, goodput: 0.95, throttled: 0.02},
		{rate: 500, burst: time.Second, workers: 100, goodput: 0.95, throttled: 0.02},
		{rate: 500, burst: short, workers: 100, goodput: 0.95, throttled: 0.02},
		{rate: 5, burst: time.Second, workers: 10, then: 10, goodput: 0.97, throttled: 0.10},
		{rate: 5, burst: short, workers: 10, then: 10, goodput: 0.70, throttled: 0.10},
		{rate: 5, burst: time.Second, workers: 10, then: 2.5, goodput: 0.97, throttled: 0.25},
		{rate: 5, burst: short, workers: 10, then: 2.5, goodput: 0.60, throttled: 0.25},
		{rate: 50, burst: time.Second, workers: 100, then: 25, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: time.Second, workers: 100, then: 100, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: short, workers: 100, then: 25, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: short, workers: 100, then: 100, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: time.Second, workers: 10, then: 25, goodput: 0.95, throttled: 0.02},
		{rate: 50, burst: time.Second, workers: 10, then: 100, goodput: 0.95, throttled: 0.02},
		{rate: 500, burst: time.Second, workers: 100, then: 250, goodput: 0.95, throttled: 0.02},
		{rate: 500, burst: short, workers: 100, then: 250, goodput: 0.95, throttled: 0.02},
		{rate: 500, burst: time.Second, workers: 100, then: 1000, goodput: 0.93, throttled: 0.02},
		{rate: 500, burst: short, workers: 100, then: 1000, goodput: 0.93, throttled: 0.02},
	} {
		got := r.do(t)
		perThrottle, holding := r, r
		perThrottle.controller, holding.controller = ratelimit.CutPerThrottle, ratelimit.Hold
		hold := holding.do(t)
		var theirs result
		if testing.Verbose() {
			theirs = perThrottle.do(t)
		}
		t.Logf("| %s | %v | %d | %.3f R | %.2f %% | %.2f N/R | %.2f | %.3f R, %.2f N/R | %.3f R, %.2f %%, %.2f N/R |",
			r.rates(), r.burst, r.workers, got.goodput, 100*got.throttled, r.inTurns(got.longest), got.wakeUps,
			theirs.goodput, r.inTurns(theirs.longest), hold.goodput, 100*hold.throttled, r.inTurns(hold.longest))
		require.GreaterOrEqual(t, got.goodput, r.goodput)
		require.LessOrEqual(t, got.throttled, r.throttled)
		require.LessOrEqual(t, r.inTurns(got.longest), 3.0)
		require.LessOrEqual(t, got.wakeUps, 1.1)
		require.GreaterOrEqual(t, hold.goodput, r.goodput-0.05)
		require.LessOrEqual(t, hold.throttled, min(r.throttled, 0.05))
		require.LessOrEqual(t, r.inTurns(hold.longest), 1.7)
	}
}

// rates names the rate of the service, or both.
func (r run) rates() string {
	if r.then > 0 {
		return fmt.Sprintf("%v/s, then %v/s", r.rate, r.then)
	}
	return fmt.Sprintf("%v/s", r.rate)
}

// inTurns expresses a wait in the time that the service needs to serve every worker once.
func (r run) inTurns(wait time.Duration) float64 {
	return wait.Seconds() * r.final() / float64(r.workers)
}

// final is the rate that is measured.
func (r run) final() float64 {
	if r.then > 0 {
		return r.then
	}
	return r.rate
}

// After a throttle the rate is at most twice the measured rate (A06) for as long as the limiter
// lives (A04), so that a day of little traffic leaves it at the floor. The figures are those of
// the comment on standard.Config.ScopeIdle.
func TestBurstAfterADayOfLittleTraffic(t *testing.T) {
	t.Parallel()
	orders := retry.Operation{Scope: "orders"}
	for _, c := range []struct {
		name     string
		throttle bool
		idle     time.Duration
		off      time.Duration // of the burst, from a request that would be due
		want     float64       // seconds until the last of the burst is sent
	}{
		{"without a throttle", false, 0, 0, 0},
		{"after a throttle", true, 0, 0, 6.454},
		{"after a throttle, between two windows of the measured rate", true, 0, 4750 * time.Millisecond, 6.776},
		{"after a throttle, the scope being dropped between requests", true, time.Second, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, err := adaptive.New(adaptive.Config{Standard: standard.Config{ScopeIdle: c.idle, MaxAttempts: 1}})
				require.NoError(t, err)
				call := func(op retry.Operation, errs ...error) {
					_, err := retry.Do(t.Context(), s, op, play.Answers(errs...))
					require.Equal(t, len(errs) > 0, err != nil)
				}
				if c.throttle {
					call(orders, errThrottle)
				}
				pause := func(d time.Duration) { require.NoError(t, clock.System{}.Sleep(t.Context(), d)) }
				others := 0
				for began := time.Now(); time.Since(began) < 24*time.Hour; {
					call(orders)
					for range 2 { // another scope, so that unused ones are evicted
						pause(2500 * time.Millisecond)
						if c.idle > 0 {
							others++
							call(retry.Operation{Scope: strconv.Itoa(others)})
						}
					}
				}
				pause(c.off)
				start := time.Now()
				var burst sync.WaitGroup
				for range 50 {
					burst.Go(func() { call(orders) })
				}
				burst.Wait()
				require.InDelta(t, c.want, time.Since(start).Seconds(), 0.001)
			})
		})
	}
}
