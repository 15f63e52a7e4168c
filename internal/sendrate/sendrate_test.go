package sendrate_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/ratelimit"
)

// at is an instant of the vectors, which count seconds on a clock whose zero is a
// whole second.
func at(seconds float64) time.Time {
	return time.Unix(1_000_000, 0).Add(vectors.Seconds(seconds))
}

// answers reports n responses at now that are not throttles.
func answers(rate *sendrate.SendRate, now time.Time, n int) {
	for range n {
		rate.Report(now, ratelimit.Response{})
	}
}

// cutOnce returns a state that measures 100 a second and was cut at second 1.
func cutOnce(config sendrate.Config) *sendrate.SendRate {
	rate := sendrate.New(config, at(0))
	answers(&rate, at(0), 124)
	rate.Report(at(1), ratelimit.Response{Throttled: true})
	return &rate
}

func TestSendRateCutsOncePerCongestionEvent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config  sendrate.Config
		sent    time.Time
		wantCut bool
	}{
		"sent long before the last cut":                {sent: at(0.25)},
		"sent just before the last cut":                {sent: at(1).Add(-1)},
		"sent at the last cut":                         {sent: at(1), wantCut: true},
		"sent after the last cut":                      {sent: at(1.1), wantCut: true},
		"sent at an unknown instant":                   {wantCut: true},
		"sent before the last cut, a cut per throttle": {sendrate.Config{Controller: ratelimit.CutPerThrottle}, at(0.25), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rate := cutOnce(tt.config)
			rate.Until(at(1.2), 1) // which counts the tokens until then
			before := rate.State()
			require.InEpsilon(t, 70, before.FillRate, 1e-9)

			cut := rate.Report(at(1.2), ratelimit.Response{Sent: tt.sent, Throttled: true})

			after := rate.State()
			require.Equal(t, tt.wantCut, cut)
			if tt.wantCut {
				require.InEpsilon(t, 49, after.FillRate, 1e-9)
				require.Equal(t, at(1.2), after.LastThrottle)
			} else {
				require.Equal(t, before, after)
			}
		})
	}
}

func TestSendRateThrottleOfTheSameEvent(t *testing.T) {
	t.Parallel()
	early := ratelimit.Response{Sent: at(0.5), Throttled: true}

	t.Run("counts in the measured rate", func(t *testing.T) {
		t.Parallel()
		silent, counted := cutOnce(sendrate.Config{}), cutOnce(sendrate.Config{})
		for range 10 {
			counted.Report(at(1.1), early)
		}
		answers(silent, at(1.5), 1)
		answers(counted, at(1.5), 1)
		more := counted.State().MeasuredRate - silent.State().MeasuredRate
		require.InEpsilon(t, 0.8*10/0.5, float64(more), 1e-9)
	})
	t.Run("shows the tokens of then", func(t *testing.T) {
		t.Parallel()
		rate := cutOnce(sendrate.Config{})
		before := rate.State().SendTokens
		require.False(t, rate.Report(at(1.5), early))
		require.InDelta(t, before+0.5*70, rate.State().SendTokens, 1e-6)
	})
	t.Run("leaves the climb back as it is", func(t *testing.T) {
		t.Parallel()
		plain, disturbed := cutOnce(sendrate.Config{}), cutOnce(sendrate.Config{})
		disturbed.Report(at(1.25), early)
		answers(plain, at(1.25), 1)
		answers(plain, at(1.4), 1)
		answers(disturbed, at(1.4), 1)
		require.InDelta(t, plain.State().FillRate, disturbed.State().FillRate, 0)
		require.Greater(t, plain.State().FillRate, 70.0)
	})
	t.Run("is judged by the last cut, not the first", func(t *testing.T) {
		t.Parallel()
		rate := cutOnce(sendrate.Config{})
		require.True(t, rate.Report(at(1.2), ratelimit.Response{Sent: at(1.1), Throttled: true}))
		require.False(t, rate.Report(at(1.3), ratelimit.Response{Sent: at(1.1), Throttled: true}))
	})
	t.Run("is none before the first cut", func(t *testing.T) {
		t.Parallel()
		rate := sendrate.New(sendrate.Config{}, at(0))
		require.True(t, rate.Report(at(1), ratelimit.Response{Sent: at(-1000), Throttled: true}))
	})
}

// The instant of a late response counts as the newest one. An attempt that was sent then is not
// from before the cut.
func TestSendRateReadsATimeThatWentBackAsNow(t *testing.T) {
	t.Parallel()
	rate := cutOnce(sendrate.Config{})

	require.True(t, rate.Report(at(0.5), ratelimit.Response{Throttled: true}))

	require.Equal(t, at(1), rate.State().LastThrottle)
	require.InEpsilon(t, 49, rate.State().FillRate, 1e-9)
}

func TestSendRateBeforeTheFirstThrottleAccountsForNothing(t *testing.T) {
	t.Parallel()
	rate := sendrate.New(sendrate.Config{}, at(0))
	answers(&rate, at(0), 5)
	before := rate.State()

	sent, ok := rate.Take(at(0), 1e9)
	require.True(t, ok)
	require.Equal(t, at(0), sent)
	require.Zero(t, rate.Until(at(0), 1e9))
	rate.Give(at(0), 1)

	require.Equal(t, before, rate.State())
	require.False(t, before.Limited)
}

func TestSendRateHasRoomForWhatAnAttemptCosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cost, rate, want float64 }{
		{0, 0.5, 1},
		{0, 3, 3},
		{-1, 0.5, 1},
		{math.NaN(), 0.5, 1},
		{0.5, 0.5, 1},
		{1, 0.5, 1},
		{2, 0.5, 2},
		{2, 1.5, 2},
		{2, 3, 3},
		{math.Inf(1), 3, 1 << 53},
	} {
		s := sendrate.New(sendrate.Config{Cost: c.cost}, at(0))
		s.SetRate(at(0), ratelimit.Rate(c.rate))
		require.InDelta(t, c.want, s.State().SendCapacity, 0, "%+v", c)
		require.InDelta(t, c.rate, float64(s.Fill()), 0)
		if c.cost < 10 {
			_, ok := s.Take(at(100), c.cost)
			require.True(t, ok, "%+v: the tokens have come while nothing was sent", c)
		}
	}
}

// A12: an attempt that costs more than the others takes its time and changes nothing for them.
func TestSendRateServesWhatCostsMoreThanAnAttemptDoes(t *testing.T) {
	t.Parallel()
	clk := new(clock.Fake)
	limiter := sendrate.NewLimiter(sendrate.Config{Cost: 2}, clk)
	limiter.Report(ratelimit.Response{Throttled: true})
	clk.Advance(time.Hour)
	_, err := limiter.Acquire(t.Context(), ratelimit.Request{Cost: 5, MaxWait: 6*time.Second - 1})
	require.ErrorIs(t, err, line.ErrWaitLimit)
	start := clk.Now()
	clk.Run(func() { _, err = limiter.Acquire(t.Context(), ratelimit.Request{Cost: 5}) })
	require.NoError(t, err)
	require.Equal(t, 6*time.Second, clk.Now().Sub(start), "two of the tokens were there")
	clk.Advance(time.Hour)
	state := limiter.State()
	require.InDelta(t, 2, state.SendCapacity, 0)
}

// The rate of a caller that sends whenever it may rises, whatever its attempts cost.
func TestRateRisesWhateverAttemptsCost(t *testing.T) {
	t.Parallel()
	for _, controller := range []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.Hold} {
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
	for _, controller := range []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.Hold} {
		for cost, perSecond := range map[float64]float64{-3: 100, 0: 100, 0.5: 50, 1: 100, 2: 200} {
			rate := sendrate.New(sendrate.Config{Controller: controller}, at(0))
			for i := range 1000 {
				rate.Report(at(float64(i)/100), ratelimit.Response{Cost: cost})
			}
			require.InEpsilon(t, perSecond, rate.State().MeasuredRate, 0.02, "%v, cost %v", controller, cost)
		}
	}
}

// The zero time is more than a Duration away from any time that a clock shows.
func TestSendRateThatBeginsCenturiesAgoBeginsWhenItIsFirstUsed(t *testing.T) {
	t.Parallel()
	for _, start := range []time.Time{{}, time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)} {
		for _, config := range []sendrate.Config{
			{},
			{StartingRate: 20},
			{Ceiling: 30},
			{Controller: ratelimit.Hold},
		} {
			late, fresh := sendrate.New(config, start), sendrate.New(config, at(100))
			_, lateOK := late.Take(at(100), 1)
			_, freshOK := fresh.Take(at(100), 1)
			require.Equal(t, freshOK, lateOK)
			for i := range 400 {
				r := ratelimit.Response{Throttled: i == 100}
				now := at(100 + float64(i)/20)
				require.Equal(t, fresh.Report(now, r), late.Report(now, r))
				require.Equal(t, fresh.State(), late.State(), "%+v from %v, answer %d", config, start, i)
			}
			require.Greater(t, float64(late.Fill()), 10.0)
		}
	}
}
