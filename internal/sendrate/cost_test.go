package sendrate_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// The rate of a caller that sends whenever it may rises, whatever its attempts cost.
func TestRateRisesWhateverAttemptsCost(t *testing.T) {
	t.Parallel()
	for _, controller := range []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.Steady} {
		for _, cost := range []float64{0, 0.5, 1, 2, 3} {
			t.Run(fmt.Sprint(controller, ", cost ", cost), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					limiter := sendrate.NewLimiter(sendrate.Config{Controller: controller, Cost: cost}, clock.System{})
					limiter.Report(ratelimit.Response{Throttled: true, Cost: cost})
					for start := time.Now(); time.Since(start) < 20*time.Second; {
						sent, err := limiter.Acquire(t.Context(), ratelimit.Request{Cost: cost})
						require.NoError(t, err)
						limiter.Report(ratelimit.Response{Sent: sent, Cost: cost})
					}
					state := limiter.State()
					require.Greater(t, state.FillRate, 20.0)
				})
			})
		}
	}
}

// Answers to attempts that cost two tokens count twice as much as those that cost one.
func TestMeasuredRateIsInTokens(t *testing.T) {
	t.Parallel()
	for _, controller := range []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.Steady} {
		for cost, perSecond := range map[float64]float64{-3: 100, 0: 100, 0.5: 50, 1: 100, 2: 200} {
			rate := sendrate.New(sendrate.Config{Controller: controller}, at(0))
			for i := range 1000 {
				rate.Report(at(float64(i)/100), ratelimit.Response{Cost: cost})
			}
			require.InEpsilon(t, perSecond, rate.State().MeasuredRate, 0.02, "%v, cost %v", controller, cost)
		}
	}
}
