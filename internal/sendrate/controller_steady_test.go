package sendrate_test

import (
	"math"
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

// Two hundred answers a second, until a throttle comes: both controllers cut the rate that they
// have measured.
func TestControllersCutWhatTheyMeasure(t *testing.T) {
	t.Parallel()
	for controller, want := range map[ratelimit.Controller]float64{
		ratelimit.CutPerEvent: 0.7 * 200, ratelimit.Steady: 0.9 * 200,
	} {
		t.Run(controller.String(), func(t *testing.T) {
			t.Parallel()
			rate := sendrate.New(sendrate.Config{Controller: controller}, at(0))
			for i := range 2000 {
				rate.Report(at(float64(i)/200), ratelimit.Response{})
			}
			require.InEpsilon(t, 200, rate.State().MeasuredRate, 0.01)
			require.True(t, rate.Report(at(10), ratelimit.Response{Throttled: true}))
			require.InEpsilon(t, want, rate.State().FillRate, 0.01)
			require.Equal(t, at(10), rate.State().LastThrottle)

			// Throttles that answer the same congestion are answers, not successes.
			for i := range 300 {
				rate.Report(at(10+float64(i)/200), ratelimit.Response{Sent: at(9), Throttled: true})
			}
			measured := rate.State().MeasuredRate
			if controller == ratelimit.Steady {
				require.InEpsilon(t, 200*math.Exp(-1.5), measured, 0.02)
			} else {
				require.InEpsilon(t, 200, measured, 0.02)
			}
		})
	}
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

func TestControllersHaveNames(t *testing.T) {
	t.Parallel()
	for controller, name := range map[ratelimit.Controller]string{
		ratelimit.CutPerEvent: "cut-per-event", ratelimit.CutPerThrottle: "cut-per-throttle",
		ratelimit.Steady: "steady", 99: "unknown",
	} {
		require.Equal(t, name, controller.String())
	}
}
