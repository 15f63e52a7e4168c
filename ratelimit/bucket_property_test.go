package ratelimit_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/ratelimit"
)

// between draws from [low, high], each order of magnitude as likely as the next.
func between(random *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, random.Float64())
}

// rationally reports whether exact arithmetic finds the tokens after the wait.
func rationally(tokens, cost float64, fill ratelimit.Rate, wait time.Duration) bool {
	rat := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
	missing := new(big.Rat).Sub(rat(cost), rat(tokens))
	brought := new(big.Rat).Mul(rat(float64(fill)), big.NewRat(int64(wait), int64(time.Second)))
	return brought.Cmp(missing) >= 0
}

// requireShortest checks that the tokens are there after the wait, both for the state
// machine and in exact arithmetic, and that one of them misses some a nanosecond
// earlier.
func requireShortest(
	t *testing.T, wait time.Duration, tokens, cost float64, fill ratelimit.Rate, take func(after time.Duration) bool,
) {
	t.Helper()
	require.Positive(t, wait)
	if wait == math.MaxInt64 {
		return
	}
	require.True(t, rationally(tokens, cost, fill, wait), "%v for %v of %v at %v/s is too short", wait, cost, tokens, fill)
	require.True(t, take(wait), "%v for %v of %v at %v/s takes a second round", wait, cost, tokens, fill)
	if rationally(tokens, cost, fill, wait-1) {
		require.False(t, take(wait-1), "%v for %v of %v at %v/s is too long", wait, cost, tokens, fill)
	}
}

// Rounded to the nearest nanosecond, or down, a wait ends a hair too early for
// most rates, and on a clock that only moves by the waits the caller spins.
func TestBucketWaitIsTheShortestThatSuffices(t *testing.T) {
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
			for range 20_000 {
				rate := ratelimit.Rate(between(random, r.lowRate, r.highRate))
				missing := between(random, r.lowMissing, r.highMissing)
				if random.IntN(2) == 0 {
					missing = max(math.Round(missing), 1)
				}
				bucket, now := bucketAt(rate), at(0)
				bucket.Give(now, float64(random.IntN(3))/2*random.Float64()*bucket.Capacity())
				tokens := bucket.Tokens()
				cost := math.Nextafter(max(tokens+missing, tokens), math.Inf(1))
				bucket.Lift(now, cost)

				wait, ok := bucket.Take(now, cost)

				require.False(t, ok)
				requireShortest(t, wait, tokens, min(cost, 1<<53), rate, func(after time.Duration) bool {
					later := *bucket
					_, ok := later.Take(now.Add(after), cost)
					return ok
				})
			}
		})
	}
}

// A look adds up what has come until then, and each sum rounds.
func TestBucketWaitSufficesThoughLookedAtMeanwhile(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 3))
	for range 20_000 {
		bucket := bucketAt(ratelimit.Rate(between(random, 0.5, 1e6)))
		cost := math.Round(between(random, 1, 1e9))
		bucket.Lift(at(0), cost)
		wait, ok := bucket.Take(at(0), cost)
		require.False(t, ok)

		for part := range 8 {
			look := at(0).Add(time.Duration(float64(wait) * float64(part) / 8))
			switch random.IntN(3) {
			case 0:
				bucket.Take(look, cost)
			case 1:
				bucket.Lift(look, cost)
			default:
				bucket.Until(look, random.Float64()*cost)
			}
		}

		_, ok = bucket.Take(at(0).Add(wait), cost)
		require.True(t, ok, "%v for %v at %v/s", wait, cost, bucket.Fill())
	}
}

// The tokens stay within [0, limit] whatever comes, and only time adds any.
func TestBucketTokensStayWithinTheirLimit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 4))
		bucket, newest, lifted := bucketAt(1), at(0), 0.0
		for range 500 {
			now := newest.Add(time.Duration(random.NormFloat64() * float64(time.Second)))
			before := bucket.Tokens()
			given := useBucket(random, bucket, now, &lifted)
			if !now.After(newest) {
				require.LessOrEqual(t, bucket.Tokens(), before+given, "seed %d: time went back", seed)
			} else {
				newest = now
			}
			require.GreaterOrEqual(t, bucket.Tokens(), 0.0, "seed %d", seed)
			require.LessOrEqual(t, bucket.Tokens(), max(bucket.Capacity(), lifted), "seed %d", seed)
		}
	}
}

// useBucket calls one of the methods and returns how many tokens that gave back.
func useBucket(random *rand.Rand, bucket *ratelimit.Bucket, now time.Time, lifted *float64) (given float64) {
	amount := random.Float64() * 5
	switch random.IntN(5) {
	case 0:
		bucket.SetRate(now, ratelimit.Rate(amount))
	case 1:
		*lifted = amount
		bucket.Lift(now, amount)
	case 2:
		given = amount
		bucket.Give(now, amount)
	case 3:
		bucket.Until(now, amount)
	default:
		bucket.Take(now, amount)
	}
	return given
}
