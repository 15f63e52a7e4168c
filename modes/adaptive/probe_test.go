package adaptive_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestProbeEveryHasToBePossible(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		config adaptive.Config
		want   string // of the error; empty means none
	}{
		{adaptive.Config{Controller: ratelimit.Steady, ProbeEvery: 30}, ""},
		{adaptive.Config{Controller: ratelimit.Steady, ProbeEvery: -1}, "adaptive: ProbeEvery -1: must not be negative"},
		{adaptive.Config{ProbeEvery: 30}, "adaptive: ProbeEvery 30: needs the Controller steady, not cut-per-event"},
		{
			adaptive.Config{Controller: ratelimit.CutPerThrottle, ProbeEvery: 1},
			"adaptive: ProbeEvery 1: needs the Controller steady, not cut-per-throttle",
		},
	} {
		_, err := adaptive.New(tt.config)
		if tt.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, tt.want)
		}
	}
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
