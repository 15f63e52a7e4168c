package sendrate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/ratelimit"
)

// at is an instant of the vectors, which count seconds on a clock whose zero is a whole second.
func at(seconds float64) time.Time {
	return time.Unix(1_000_000, 0).Add(vectors.Seconds(seconds))
}

// answers reports n responses at now that are not throttles.
func answers(rate *sendrate.SendRate, now time.Time, n int) {
	for range n {
		rate.Report(now, ratelimit.Response{})
	}
}

// between draws from [low, high], each order of magnitude as likely as the next.
func between(random *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, random.Float64())
}

// What Take returns is the wait of limit.TimeUntil, which is the shortest that suffices, and after it the tokens are there, although
// each look meanwhile would round if it added what has come until then.
func TestWaitIsTheShortestThatSuffices(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	for range 10_000 {
		rate := sendrate.New(sendrate.Config{}, at(0))
		rate.SetRate(at(0), ratelimit.Rate(between(random, 0.5, 1<<53)))
		rate.Give(at(0), float64(random.IntN(3))/2*random.Float64()*rate.Capacity())
		tokens := rate.Tokens()
		cost := min(math.Nextafter(tokens+between(random, 1e-12, 1<<53), math.Inf(1)), 1<<53)
		rate.Lift(at(0), cost)

		due, ok := rate.Take(at(0), cost)

		require.False(t, ok)
		wait := limit.TimeUntil(tokens, cost, float64(rate.Fill()))
		require.Equal(t, wait, rate.Until(at(0), cost))
		if wait == limit.Endless {
			require.Zero(t, due)
			continue
		}
		require.Equal(t, at(0).Add(wait), due)
		for part := range 8 {
			look := at(0).Add(time.Duration(float64(wait) * float64(part) / 8))
			rate.Lift(look, cost)
			rate.Until(look, random.Float64()*cost)
		}
		_, ok = rate.Take(due, cost)
		require.True(t, ok, "%v for %v of %v at %v/s", wait, cost, tokens, rate.Fill())
	}
}

// The zero time is more than a Duration away from any time that a clock shows.
func TestSendRateThatBeginsCenturiesAgoBeginsWhenItIsFirstUsed(t *testing.T) {
	t.Parallel()
	for _, config := range []sendrate.Config{{}, {StartingRate: 20}, {Ceiling: 30}, {Controller: ratelimit.CutPerThrottle}} {
		late, fresh := sendrate.New(config, time.Time{}), sendrate.New(config, at(100))
		late.Take(at(100), 1)
		fresh.Take(at(100), 1)
		for i := range 400 {
			r := ratelimit.Response{Throttled: i == 100}
			now := at(100 + float64(i)/20)
			require.Equal(t, fresh.Report(now, r), late.Report(now, r))
			require.Equal(t, fresh.State(), late.State(), "%+v, answer %d", config, i)
		}
		require.Greater(t, float64(late.Fill()), 10.0)
	}
}
