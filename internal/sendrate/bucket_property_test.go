package sendrate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/refill"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// between draws from [low, high], each order of magnitude as likely as the next.
func between(random *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, random.Float64())
}

// What Take returns is the wait of refill.Wait, which is the shortest that suffices, and
// after it the tokens are there.
func TestBucketWaitIsTheShortestThatSuffices(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	for range 20_000 {
		rate := ratelimit.Rate(between(random, 0.5, 1<<53))
		bucket, now := bucketAt(rate), at(0)
		bucket.Give(now, float64(random.IntN(3))/2*random.Float64()*bucket.Capacity())
		tokens := bucket.Tokens()
		cost := min(math.Nextafter(tokens+between(random, 1e-12, 1<<53), math.Inf(1)), 1<<53)
		bucket.Lift(now, cost)

		wait, ok := bucket.Take(now, cost)

		require.False(t, ok)
		require.Equal(t, refill.Wait(tokens, cost, float64(rate)), wait)
		if wait < refill.Endless {
			_, ok = bucket.Take(now.Add(wait), cost)
			require.True(t, ok, "%v for %v of %v at %v/s", wait, cost, tokens, rate)
		}
	}
}

// Each look adds what has come until then, and each sum rounds.
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

// The tokens stay within [0, limit] whatever is called, and only time and Give add any.
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

// useBucket calls one of the methods and returns how many tokens the call gave back.
func useBucket(random *rand.Rand, bucket *sendrate.Bucket, now time.Time, lifted *float64) (given float64) {
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
