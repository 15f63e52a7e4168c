package sendrate_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// traffic draws one response after the other, in bursts and with pauses.
type traffic struct {
	random *rand.Rand
	now    time.Time
}

func (f *traffic) next() (time.Time, ratelimit.Response) {
	if f.random.IntN(10) > 0 {
		f.now = f.now.Add(time.Duration(between(f.random, 1e-4, 3) * float64(time.Second)))
	}
	now := f.now
	if f.random.IntN(10) == 0 {
		now = now.Add(-time.Duration(f.random.IntN(3)) * time.Second)
	}
	r := ratelimit.Response{Throttled: f.random.IntN(4) == 0}
	if f.random.IntN(2) == 0 {
		r.Sent = now.Add(-time.Duration(between(f.random, 1e-3, 2) * float64(time.Second)))
	}
	return now, r
}

// A throttle that does not cut leaves the rate as it is, whatever has been measured.
func TestSendRateFillStaysBelowTwiceTheMeasuredRate(t *testing.T) {
	t.Parallel()
	atTheBound := 0
	for seed := range uint64(200) {
		config := sendrate.Config{Controller: ratelimit.Controller(seed % 2)}
		rate := sendrate.New(config, at(0))
		source := traffic{rand.New(rand.NewPCG(seed, 5)), at(0)}
		for range 300 {
			now, r := source.next()
			before := rate.State().FillRate
			cut := rate.Report(now, r)
			state := rate.State()
			if r.Throttled && !cut {
				require.InDelta(t, before, state.FillRate, 0, "seed %d", seed)
				continue
			}
			bound := max(float64(sendrate.MinFillRate), 2*state.MeasuredRate)
			require.LessOrEqual(t, state.FillRate, bound, "seed %d", seed)
			require.GreaterOrEqual(t, state.FillRate, float64(sendrate.MinFillRate), "seed %d", seed)
			require.InEpsilon(t, max(1, state.FillRate), max(1, state.SendCapacity), 1e-12, "seed %d", seed)
			if bound > 1 && state.FillRate == bound {
				atTheBound++
			}
		}
	}
	require.Positive(t, atTheBound, "no rate ever reached its bound")
}

// A throttle never raises the rate, and with a cut per throttle each one cuts.
func TestSendRateThrottleNeverRaisesTheRate(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		config := sendrate.Config{Controller: ratelimit.Controller(seed % 3)}
		rate := sendrate.New(config, at(0))
		source := traffic{rand.New(rand.NewPCG(seed, 6)), at(0)}
		for range 300 {
			now, r := source.next()
			before := rate.State()
			cut := rate.Report(now, r)
			after := rate.State()
			if !r.Throttled {
				require.False(t, cut, "seed %d", seed)
			}
			require.Equal(t, before.Limited || cut, after.Limited, "seed %d", seed)
			if config.Controller == ratelimit.CutPerThrottle {
				require.Equal(t, r.Throttled, cut, "seed %d", seed)
			}
			if r.Throttled && before.Limited {
				require.LessOrEqual(t, after.FillRate, before.FillRate, "seed %d", seed)
			}
		}
	}
}

// The tokens granted over any time are at most those that the fill rates brought.
func TestSendRateGrantsNoMoreThanItsRateBrings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 7))
		rate := sendrate.New(sendrate.Config{}, at(0))
		rate.Report(at(0), ratelimit.Response{Throttled: true})
		source := traffic{random, at(0)}
		newest, brought, granted := at(0), 0.0, 0.0
		for range 500 {
			fill := rate.State().FillRate
			now, r := source.next()
			if now.After(newest) {
				brought += now.Sub(newest).Seconds() * float64(fill)
				newest = now
			}
			cost := between(random, 1e-3, 3)
			if _, ok := rate.Take(now, cost); ok {
				granted += cost
			}
			require.LessOrEqual(t, granted+rate.State().SendTokens, brought+1e-6, "seed %d", seed)
			rate.Report(now, r)
		}
		require.Positive(t, granted)
	}
}
