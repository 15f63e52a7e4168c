package ratelimit_test

import (
	"math"
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

// Rounded to the nearest nanosecond, or down, a wait ends a hair too early for
// most rates, and on a clock that only moves by the waits the caller spins.
func TestBucketWaitIsNeverTooShort(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	inOneRound := 0
	const rates = 20_000
	for range rates {
		bucket, now := bucketAt(ratelimit.Rate(between(random, 0.5, 1e7))), at(random.Float64())
		bucket.Until(now, 0)
		bucket.Take(now, random.Float64()*bucket.Tokens())
		cost := bucket.Tokens() + between(random, 1e-9, 50)
		bucket.Lift(now, cost)
		exact := (cost - bucket.Tokens()) / float64(bucket.Fill()) * float64(time.Second)

		wait, ok := bucket.Take(now, cost)
		require.False(t, ok)
		require.Positive(t, wait)
		require.GreaterOrEqual(t, float64(wait), exact, "of %v", bucket)
		require.Less(t, float64(wait), exact+1, "of %v", bucket)

		now = now.Add(wait)
		if wait, ok = bucket.Take(now, cost); ok {
			inOneRound++
			continue
		}
		require.Positive(t, wait)
		_, ok = bucket.Take(now.Add(wait), cost)
		require.True(t, ok, "of %v after the second wait, of %v", bucket, wait)
	}
	require.Greater(t, inOneRound, rates*9/10)
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
