package sendrate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestKnownLimitsHoldFromTheStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config   sendrate.Config
		wantFill float64 // 0 if nothing is limited
	}{
		"neither":                          {},
		"a starting rate":                  {sendrate.Config{StartingRate: 5}, 5},
		"a ceiling is a starting rate too": {sendrate.Config{Ceiling: 5}, 5},
		"a start below the ceiling":        {sendrate.Config{StartingRate: 2, Ceiling: 5}, 2},
		"a start above the ceiling":        {sendrate.Config{StartingRate: 9, Ceiling: 5}, 5},
		"below the lowest rate":            {sendrate.Config{StartingRate: 0.1}, 0.1},
		"a ceiling below the lowest rate":  {sendrate.Config{Ceiling: 0.1}, 0.1},
		"negative":                         {sendrate.Config{StartingRate: -1, Ceiling: -1}, 0},
		"not a number": {sendrate.Config{
			StartingRate: ratelimit.Rate(math.NaN()), Ceiling: ratelimit.Rate(math.NaN()),
		}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rate := sendrate.New(tt.config, at(3))
			state := rate.State()
			require.Equal(t, tt.wantFill > 0, state.Limited)
			require.InDelta(t, tt.wantFill, state.FillRate, 0)
			require.True(t, state.LastThrottle.IsZero(), "nothing has throttled")

			_, first := rate.Take(at(3), 1)
			require.True(t, first, "the first attempt waits for nothing")
			due, second := rate.Take(at(3), 1)
			require.Equal(t, tt.wantFill == 0, second)
			if !second {
				require.Equal(t, time.Duration(float64(time.Second)/tt.wantFill), due.Sub(at(3)))
			}
		})
	}
}

// A measured rate of zero, in the first half second, or a low one, of a client that has little
// to send, must not lower a known rate.
func TestStartingRateOutlastsLowDemand(t *testing.T) {
	t.Parallel()
	for _, gap := range []float64{0.001, 0.1, 0.5, 1, 10, 60} {
		rate := sendrate.New(sendrate.Config{StartingRate: 100, Ceiling: 100}, at(0))
		for i := range 100 {
			rate.Report(at(float64(i)*gap), ratelimit.Response{})
			require.InDelta(t, 100, rate.State().FillRate, 1e-6, "gap of %v s, response %d", gap, i)
		}
	}
}

func TestStartingRateGrowsAsCubicDoesFromItsOldMaximum(t *testing.T) {
	t.Parallel()
	rate := sendrate.New(sendrate.Config{StartingRate: 10}, at(0))
	for _, second := range []float64{0.1, 1, 2} {
		answers(&rate, at(second), 1000) // so that the cap of twice the measured rate is far away
		want := 10 + 0.4*second*second*second
		require.InEpsilon(t, want, rate.State().FillRate, 1e-6, "after %v s", second)
	}
}

func TestStartingRateDoublesAtMostWithoutDemand(t *testing.T) {
	t.Parallel()
	rate := sendrate.New(sendrate.Config{StartingRate: 10}, at(0))
	answers(&rate, at(60), 1)
	require.InDelta(t, 20, rate.State().FillRate, 1e-9)
}

// The first window has not been measured yet, so the known rate is cut and not a rate of zero.
func TestThrottleInTheFirstHalfSecondCutsTheStartingRate(t *testing.T) {
	t.Parallel()
	rate := sendrate.New(sendrate.Config{StartingRate: 10}, at(0))
	require.True(t, rate.Report(at(0.1), ratelimit.Response{Throttled: true}))
	require.InEpsilon(t, 7, rate.State().FillRate, 1e-9)
	require.Equal(t, at(0.1), rate.State().LastThrottle)

	require.False(t, rate.Report(at(0.2), ratelimit.Response{Sent: at(0.05), Throttled: true}), "the same congestion")
	rate.Report(at(0.2), ratelimit.Response{})
	require.Greater(t, rate.State().FillRate, 7.0, "it climbs again")
	require.True(t, rate.Report(at(0.3), ratelimit.Response{Throttled: true}))
	require.Less(t, rate.State().FillRate, 7.0)
}

func TestStartingRateIsForgottenOnceThereIsAMeasurementAfterAThrottle(t *testing.T) {
	t.Parallel()
	rate := sendrate.New(sendrate.Config{StartingRate: 100}, at(0))
	rate.Report(at(0.1), ratelimit.Response{Throttled: true})
	rate.Report(at(1), ratelimit.Response{})
	measured := rate.State().MeasuredRate
	require.Positive(t, measured)
	require.InEpsilon(t, 2*measured, rate.State().FillRate, 1e-9)
}

func TestNoRateExceedsItsCeiling(t *testing.T) {
	t.Parallel()
	reached := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 8))
		config := sendrate.Config{
			Ceiling:    ratelimit.Rate(between(random, 0.1, 1000)),
			Controller: ratelimit.Controller(seed / 3 % 3),
		}
		if seed%3 == 0 {
			config.StartingRate = ratelimit.Rate(between(random, 0.1, 1000))
		}
		ceiling := float64(config.Ceiling)
		rate := sendrate.New(config, at(0))
		source := traffic{random, at(0)}
		for range 300 {
			now, r := source.next()
			if random.IntN(20) == 0 {
				rate.SetRate(now, ratelimit.Rate(between(random, 0.1, 1e6)))
			} else {
				rate.Report(now, r)
			}
			state := rate.State()
			require.LessOrEqual(t, state.FillRate, ceiling, "seed %d", seed)
			require.LessOrEqual(t, state.SendCapacity, max(ceiling, sendrate.MinCapacity), "seed %d", seed)
			require.True(t, state.Limited)
			if state.FillRate == ceiling {
				reached++
			}
		}
	}
	require.Positive(t, reached, "no rate ever reached its ceiling")
}

// The lowest rate of a controller is for scopes of which nothing is known.
func TestRateBelowTheLowestThatIsKnownIsLearnedFromToo(t *testing.T) {
	t.Parallel()
	for controller := ratelimit.CutPerEvent; controller <= ratelimit.Hold; controller++ {
		for _, config := range []sendrate.Config{{Ceiling: 0.2}, {StartingRate: 0.2}, {StartingRate: 0.2, Ceiling: 5}} {
			config.Controller = controller
			rate := sendrate.New(config, at(0))
			for i := range 3 {
				rate.Report(at(float64(10*i+5)), ratelimit.Response{})
				rate.Report(at(float64(10*i+10)), ratelimit.Response{Throttled: true})
				require.Less(t, rate.State().FillRate, 0.2, "%+v", config)
				require.GreaterOrEqual(t, rate.State().FillRate, 0.1, "%+v", config)
			}
			require.InDelta(t, 1, rate.State().SendCapacity, 0)
		}
	}
}

func TestKnownBurstIsTheCapacityAtAnyRate(t *testing.T) {
	t.Parallel()
	for controller := ratelimit.CutPerEvent; controller <= ratelimit.Hold; controller++ {
		rate := sendrate.New(sendrate.Config{Controller: controller, Ceiling: 20, Burst: 100}, at(0))
		require.InDelta(t, 100, rate.State().SendTokens, 0)
		rate.Take(at(0), 30)
		rate.Report(at(1), ratelimit.Response{})
		require.InDelta(t, 90, rate.State().SendTokens, 1e-9, "it fills")

		rate.Report(at(2), ratelimit.Response{Throttled: true})
		state := rate.State()
		require.InDelta(t, 1, state.SendTokens, 0, "%v: the service has none left either", controller)
		require.InDelta(t, 100, state.SendCapacity, 0)
		require.Less(t, state.FillRate, 20.0)
	}
	rate := sendrate.New(sendrate.Config{Burst: 100}, at(0))
	rate.Report(at(0), ratelimit.Response{Throttled: true})
	require.InDelta(t, 1, rate.State().SendCapacity, 0, "a burst without a rate does not count")
}
