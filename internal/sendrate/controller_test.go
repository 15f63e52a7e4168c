package sendrate_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// counted is a response that arrived to an attempt of so many tokens.
type counted struct {
	at   time.Time
	cost float64
}

// measuredOf is the measured rate of a list of responses, as rules A03 and A16 say it.
func measuredOf(start time.Time, responses []counted) float64 {
	window := func(at time.Time) int64 { return at.Truncate(500*time.Millisecond).UnixMilli() / 500 }
	rate, newest, tokens := 0.0, window(start.Truncate(time.Second)), 0.0
	for _, r := range responses {
		tokens += r.cost
		if later := window(r.at); later > newest {
			rate = 0.8*tokens/(0.5*float64(later-newest)) + 0.2*rate
			newest, tokens = later, 0
		}
	}
	return rate
}

func TestMeasuredRateIsThatOfTheListOfResponses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 11))
		now := at(0).Add(time.Duration(random.Int64N(int64(2 * time.Second)))) // off the grid of the windows
		start, measured, responses := now, sendrate.NewMeasuredRate(now), []counted{}
		require.Zero(t, measured.Rate())
		for range 40 {
			switch random.IntN(4) {
			case 0: // none passes
			case 1:
				now = now.Add(time.Duration(random.IntN(7)) * time.Second / 4) // to the edge of a window
			default:
				now = now.Add(time.Duration(between(random, 1, 8e9)))
			}
			r := counted{now, []float64{1, 1, 0.5, 2.5}[random.IntN(4)]}
			if random.IntN(4) == 0 { // a caller has read the clock before another one
				r.at = r.at.Add(-[]time.Duration{time.Millisecond, 3 * time.Second}[random.IntN(2)])
			}
			responses = append(responses, r)
			got := measured.Response(r.at, r.cost)
			require.InDelta(t, measuredOf(start, responses), float64(got), 1e-9, "seed %d", seed)
			require.InDelta(t, float64(got), float64(measured.Rate()), 0)
		}
	}
}

// Two hundred answers a second, until a throttle comes: CUBIC's controllers cut the rate that they have
// measured, Hold climbs from there to twice of it, as a service can have had more left.
func TestFirstThrottleSetsTheRateByTheMeasurement(t *testing.T) {
	t.Parallel()
	for controller, want := range map[ratelimit.Controller]float64{
		ratelimit.CutPerEvent: 0.7 * 200, ratelimit.CutPerThrottle: 0.7 * 200, ratelimit.Hold: 0.7 * 400,
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

			for i := range 300 {
				rate.Report(at(10+float64(i)/200), ratelimit.Response{Sent: at(9), Throttled: true})
			}
			require.InEpsilon(t, 200, rate.State().MeasuredRate, 0.02, "throttles are answers too")
		})
	}
}

func TestControllersHaveNames(t *testing.T) {
	t.Parallel()
	for controller, name := range map[ratelimit.Controller]string{
		ratelimit.CutPerEvent: "cut-per-event", ratelimit.CutPerThrottle: "cut-per-throttle",
		ratelimit.Hold: "hold", 99: "unknown",
	} {
		require.Equal(t, name, controller.String())
	}
}
