package limit_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/limit"
)

// enough reports whether exact arithmetic finds the tokens after the wait.
func enough(tokens, cost, fill float64, wait time.Duration) bool {
	rat := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
	missing := new(big.Rat).Sub(rat(cost), rat(tokens))
	brought := new(big.Rat).Mul(rat(fill), big.NewRat(int64(wait), int64(time.Second)))
	return brought.Cmp(missing) >= 0
}

// Rounded to the nearest nanosecond, or down, a wait ends a hair too early for most rates,
// and on a clock that only moves by the waits the caller spins.
func TestWaitIsTheShortestThatSuffices(t *testing.T) {
	t.Parallel()
	ranges := map[string]struct{ lowRate, highRate, lowMissing, highMissing float64 }{
		"of what is in use":     {0.5, 1e7, 1e-9, 50},
		"of seconds":            {0.5, 10, 1, 50},
		"of days":               {0.5, 10, 1e4, 1e7},
		"of years":              {0.5, 10, 1e7, 1e9},
		"of a whole bucket":     {1e3, 1e9, 1e3, 1e9},
		"of whatever there is":  {0.5, 1 << 53, 1e-300, 1 << 53},
		"of less than rounding": {0.5, 1e9, 1e-20, 1e-12},
	}
	for name, r := range ranges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 3))
			between := func(low, high float64) float64 { return low * math.Pow(high/low, random.Float64()) }
			for range 5000 {
				fill, missing := between(r.lowRate, r.highRate), between(r.lowMissing, r.highMissing)
				if random.IntN(2) == 0 {
					missing = max(math.Round(missing), 1)
				}
				tokens := float64(random.IntN(3)) / 2 * random.Float64() * fill
				cost := math.Nextafter(tokens+missing, math.Inf(1))

				wait := limit.TimeUntil(tokens, cost, fill)

				require.Positive(t, wait)
				if wait == limit.Endless {
					continue
				}
				require.True(t, enough(tokens, cost, fill, wait), "%v for %v of %v at %v/s is too short", wait, cost, tokens, fill)
				require.GreaterOrEqual(t, limit.Grown(tokens, fill, wait), cost, "%v at %v/s takes a second round", wait, fill)
				if enough(tokens, cost, fill, wait-1) {
					require.Less(t, limit.Grown(tokens, fill, wait-1), cost, "%v for %v of %v at %v/s is too long", wait, cost, tokens, fill)
				}
			}
		})
	}
}

func TestWaitsAtTheEdges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cost, fill float64
		want       time.Duration
	}{
		"exact":                          {1, 0.5, 2 * time.Second},
		"rounded up":                     {1, 3, 333_333_334},
		"almost nothing":                 {1e-200, 1e12, 1},
		"an endless rate":                {1, math.Inf(1), 1},
		"no rate":                        {1, 0, limit.Endless},
		"longer than a duration can be":  {1e12, 0.5, limit.Endless},
		"an endless cost":                {math.Inf(1), 0.5, limit.Endless},
		"an endless cost and no rate":    {math.Inf(1), 0, limit.Endless},
		"as long as a duration can be":   {math.MaxInt64, 1e9, limit.Endless},
		"a hair less than the longest":   {1 << 62, 1e9, 1 << 62},
		"half a nanosecond is one whole": {5e-10, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, limit.TimeUntil(0, tt.cost, tt.fill))
		})
	}
}

func TestLeftOfAWait(t *testing.T) {
	t.Parallel()
	require.Equal(t, 3*time.Second, limit.Left(5*time.Second, 2*time.Second))
	require.Equal(t, time.Duration(1), limit.Left(5*time.Second, 5*time.Second), "never zero")
	require.Equal(t, time.Duration(1), limit.Left(5*time.Second, time.Hour))
	require.Equal(t, limit.Endless, limit.Left(limit.Endless, time.Hour))
}
