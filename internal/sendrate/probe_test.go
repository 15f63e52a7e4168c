package sendrate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// cutAt returns a rate that has just been cut from the given one, at 10 s.
func cutAt(t *testing.T, config sendrate.Config, rate float64) *sendrate.SendRate {
	t.Helper()
	config.StartingRate = ratelimit.Rate(rate)
	s := sendrate.New(config, at(10))
	require.True(t, s.Report(at(10), ratelimit.Response{Throttled: true}))
	return &s
}

func TestProbeEverySaysHowLongTheRateTakesToComeBack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rate, cost float64
		probeEvery int
		k          float64 // seconds
	}{
		"of 30 requests":                        {5, 0, 30, 6},
		"of 300 requests":                       {5, 0, 300, 60},
		"of requests that cost two tokens each": {5, 2, 30, 12},
		"of the curve, which takes longer":      {100, 0, 30, math.Cbrt(100 * 0.1 / 0.4)},
		"of none":                               {5, 0, 0, math.Cbrt(5 * 0.1 / 0.4)},
		"of fewer than none":                    {5, 0, -30, math.Cbrt(5 * 0.1 / 0.4)},
		"of a day at most":                      {5, 0, math.MaxInt, 24 * 60 * 60},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := sendrate.Config{Controller: ratelimit.Steady, ProbeEvery: tt.probeEvery, Cost: tt.cost}
			rate := cutAt(t, config, tt.rate)
			require.InEpsilon(t, 0.9*tt.rate, rate.State().FillRate, 1e-12)
			for _, part := range []float64{0, 0.5, 1, 1.5} {
				answers(rate, at(10+part*tt.k), 5000)
				d := part - 1 // so that the rate is 0.9 of what it was at once, and 1.1 after 2 k
				require.InEpsilon(t, tt.rate*(1+0.1*d*d*d), rate.State().FillRate, 1e-7, "%v k after the cut", part)
			}
		})
	}
}

// A cut before any success says nothing about the service.
func TestProbeEveryDoesNotKeepARateDownThatWasNotMeasured(t *testing.T) {
	t.Parallel()
	rate := sendrate.New(sendrate.Config{Controller: ratelimit.Steady, ProbeEvery: 30}, at(0))
	rate.Report(at(1), ratelimit.Response{Throttled: true})
	answers(&rate, at(4), 5000)
	require.InEpsilon(t, 0.4*3*3*3, rate.State().FillRate, 1e-7)
}

func TestProbeEveryIsForSteadyOnly(t *testing.T) {
	t.Parallel()
	for controller, same := range map[ratelimit.Controller]bool{
		ratelimit.CutPerEvent: true, ratelimit.CutPerThrottle: true, ratelimit.Steady: false,
	} {
		plain := sendrate.New(sendrate.Config{Controller: controller}, at(0))
		probing := sendrate.New(sendrate.Config{Controller: controller, ProbeEvery: 1000}, at(0))
		source := traffic{rand.New(rand.NewPCG(1, 9)), at(0)}
		differ := 0
		for range 300 {
			now, r := source.next()
			plain.Report(now, r)
			probing.Report(now, r)
			if plain.State() != probing.State() {
				differ++
			}
		}
		require.Equal(t, same, differ == 0, "%v: %d states differ", controller, differ)
	}
}

func TestStartingRateIsProbedAsSlowlyAsAnyOther(t *testing.T) {
	t.Parallel()
	config := sendrate.Config{Controller: ratelimit.Steady, ProbeEvery: 30, StartingRate: 5}
	rate := sendrate.New(config, at(0))
	for _, second := range []float64{1, 6} {
		answers(&rate, at(second), 5000)
		part := second / 6
		require.InEpsilon(t, 5*(1+0.1*part*part*part), rate.State().FillRate, 1e-7, "%v s", second)
	}
}
