package sendrate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestSuccessRateIsRightFromTheStart(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []float64{5, 50, 500, 5000} {
		var m sendrate.SuccessRate
		for i := range int(10 * perSecond) {
			rate := float64(m.Response(at(7+float64(i)/perSecond), 1))
			if seconds := float64(i) / perSecond; seconds > 2/perSecond && seconds > 0.05 {
				// The first success is counted and no time has passed for it.
				require.InEpsilon(t, perSecond, rate, 1.1/(perSecond*min(seconds, 1)), "%v/s after %v s", perSecond, seconds)
			}
		}
	}
}

func TestSuccessRateCountsSuccessesOnly(t *testing.T) {
	t.Parallel()
	var mixed, alone sendrate.SuccessRate
	alone.Response(at(0), 0) // so that both begin at the same time
	for i := range 1000 {
		now := at(float64(i) / 100)
		if i%4 != 1 {
			mixed.Response(now, 0)
		} else {
			rate := mixed.Response(now, 1)
			require.InEpsilon(t, float64(alone.Response(now, 1)), float64(rate), 1e-9)
		}
	}
	require.InEpsilon(t, 25, float64(mixed.Rate()), 0.1)
}

func TestSuccessRateForgets(t *testing.T) {
	t.Parallel()
	full := func() *sendrate.SuccessRate {
		var m sendrate.SuccessRate
		for i := range 2000 {
			m.Response(at(float64(i)/100), 1)
		}
		return &m
	}
	last := 1999.0 / 100
	before := float64(full().Rate())
	for _, tt := range []struct {
		name         string
		after, share float64
	}{
		{"at once", 0, 1},
		{"after a second", 1, 1 / math.E},
		{"just before it begins anew", 5, math.Exp(-5)},
		{"when it begins anew", 5.001, 0},
	} {
		m := full()
		require.InDelta(t, tt.share*before, float64(m.Response(at(last+tt.after), 0)), 1e-6*before, tt.name)
	}
}

func TestSuccessRateAfterIdlingIsThatOfTheNewBurst(t *testing.T) {
	t.Parallel()
	var m sendrate.SuccessRate
	m.Response(at(0), 1)
	for i := range 100 {
		m.Response(at(600+float64(i)/1000), 1)
	}
	require.InEpsilon(t, 1000, float64(m.Rate()), 0.1)
}

func TestZeroSuccessRateIsZero(t *testing.T) {
	t.Parallel()
	var m sendrate.SuccessRate
	require.Zero(t, m.Rate())
	require.Zero(t, m.Response(at(0), 0))
	require.InEpsilon(t, 1/(1-math.Exp(-0.05)), float64(m.Response(at(0), 1)), 1e-9, "50 ms is the shortest time")
}

func TestSteadyIsBackAtItsRateAfterK(t *testing.T) {
	t.Parallel()
	rate := sendrate.New(sendrate.Config{Controller: ratelimit.Steady}, at(0))
	for i := range 2000 {
		rate.Report(at(float64(i)/200), ratelimit.Response{})
	}
	rate.Report(at(10), ratelimit.Response{Throttled: true})
	peak := rate.State().FillRate / 0.9
	k := math.Cbrt(peak * 0.1 / 0.4)
	for _, after := range []float64{0, k / 2, k, k + 1} {
		answers(&rate, at(10+after), 500)
		d := after - k
		want := 0.4*d*d*d + peak
		require.InEpsilon(t, want, rate.State().FillRate, 1e-6, "%v s after the cut", after)
	}
}

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
