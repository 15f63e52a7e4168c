//go:build long

package adaptive_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// run is one client with workers that together offer five times the rate.
type run struct {
	rate       float64
	burst      time.Duration
	workers    int
	then       float64 // the rate from the 30th second on; zero means the same
	controller ratelimit.Controller
	probeEvery int

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
			Controller: r.controller, ProbeEvery: r.probeEvery,
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
// the AWS SDKs, have no target; those with Steady have a higher one.
func TestSettlesAtTheRateOfTheService(t *testing.T) {
	t.Parallel()
	const short = 100 * time.Millisecond
	t.Log("| R | burst | N | goodput | throttled | longest wait | wake-ups | cut per throttle | steady |")
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
		perThrottle, steadily := r, r
		perThrottle.controller, steadily.controller = ratelimit.CutPerThrottle, ratelimit.Steady
		theirs, steady := perThrottle.do(t), steadily.do(t)
		t.Logf("| %s | %v | %d | %.3f R | %.2f %% | %.2f N/R | %.2f | %.3f R, %.2f N/R | %.3f R, %.2f N/R |",
			r.rates(), r.burst, r.workers, got.goodput, 100*got.throttled, r.inTurns(got.longest), got.wakeUps,
			theirs.goodput, r.inTurns(theirs.longest), steady.goodput, r.inTurns(steady.longest))
		require.GreaterOrEqual(t, got.goodput, r.goodput)
		require.LessOrEqual(t, got.throttled, r.throttled)
		require.LessOrEqual(t, r.inTurns(got.longest), 3.0)
		require.LessOrEqual(t, got.wakeUps, 1.1)
		require.GreaterOrEqual(t, steady.goodput, r.goodput)
		require.LessOrEqual(t, steady.throttled, r.throttled)
		if r.rate >= 50 {
			require.GreaterOrEqual(t, steady.goodput, 0.98)
			require.LessOrEqual(t, r.inTurns(steady.longest), 1.15)
		}
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

// -v prints the table.
func TestSettlesWithFewerThrottlesIfItProbesLessOften(t *testing.T) {
	t.Parallel()
	t.Log("| R | burst | N | probe every | goodput | throttled | longest wait |")
	for _, r := range []run{
		{rate: 5, burst: time.Second, workers: 10, goodput: 0.97, throttled: 0.10},
		{rate: 5, burst: time.Second, workers: 10, probeEvery: 30, goodput: 0.97, throttled: 0.03},
		{rate: 5, burst: 200 * time.Millisecond, workers: 10, goodput: 0.70, throttled: 0.10},
		{rate: 5, burst: 200 * time.Millisecond, workers: 10, probeEvery: 30, goodput: 0.80, throttled: 0.03},
		{rate: 5, burst: time.Second, workers: 10, then: 10, probeEvery: 30, goodput: 0.97, throttled: 0.03},
		{rate: 5, burst: time.Second, workers: 10, then: 2.5, probeEvery: 30, goodput: 0.97, throttled: 0.03},
	} {
		r.controller = ratelimit.Steady
		got := r.do(t)
		t.Logf("| %s | %v | %d | %d | %.3f R | %.2f %% | %.2f N/R |",
			r.rates(), r.burst, r.workers, r.probeEvery, got.goodput, 100*got.throttled, r.inTurns(got.longest))
		require.GreaterOrEqual(t, got.goodput, r.goodput)
		require.LessOrEqual(t, got.throttled, r.throttled)
		require.LessOrEqual(t, r.inTurns(got.longest), 3.0)
	}
}

// TestProbeEveryIsForAClientThatHasTheLimitForItself has ten clients that share a limit of 100
// requests a second. All are cut alike and all come back after the same number of requests, so
// the client with the lowest rate takes longest to ask for more.
func TestProbeEveryIsForAClientThatHasTheLimitForItself(t *testing.T) {
	t.Parallel()
	const runs = 5 // they differ
	often, seldom := 0.0, 0.0
	for range runs {
		often += fairness(t, 0) / runs
		seldom += fairness(t, 30) / runs
	}
	t.Logf("Jain index of ten clients: %.2f, with ProbeEvery 30 %.2f", often, seldom)
	require.GreaterOrEqual(t, often, 0.9)
	require.LessOrEqual(t, seldom, 0.85)
}

// fairness is the Jain index of the requests that ten clients are served in two minutes, after a
// minute to settle: 1 if all get the same, 0.1 if one gets all.
func fairness(t *testing.T, probeEvery int) (index float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		svc := newService(100, time.Second)
		var served [10]atomic.Int64
		var wg sync.WaitGroup
		for client := range served {
			s, err := adaptive.New(adaptive.Config{Controller: ratelimit.Steady, ProbeEvery: probeEvery})
			require.NoError(t, err)
			for range 10 {
				wg.Go(func() {
					for ctx.Err() == nil {
						if _, err := retry.Do(ctx, s, retry.Operation{}, svc.call); err == nil {
							served[client].Add(1)
						}
						pass(ctx, 200*time.Millisecond)
					}
				})
			}
		}
		pass(ctx, time.Minute)
		for client := range served {
			served[client].Store(0)
		}
		pass(ctx, 2*time.Minute)
		sum, squares := 0.0, 0.0
		for client := range served {
			n := float64(served[client].Load())
			sum, squares = sum+n, squares+n*n
		}
		stop()
		wg.Wait()
		index = sum * sum / (10 * squares)
	})
	return index
}
