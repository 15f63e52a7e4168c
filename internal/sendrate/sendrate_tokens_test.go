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

// bucketAt returns a state with this fill rate, without tokens at second 0.
func bucketAt(rate ratelimit.Rate) *sendrate.SendRate {
	bucket := sendrate.New(sendrate.Config{}, at(0))
	bucket.SetRate(at(0), rate)
	return &bucket
}

func TestBucketIsEmptyAndDoesNotFillBeforeTheFirstRate(t *testing.T) {
	t.Parallel()
	bucket := sendrate.New(sendrate.Config{}, at(0))
	bucket.Lift(at(1e6), 5)
	require.Zero(t, bucket.Tokens())
	bucket.SetRate(at(2e6), 2)
	require.Zero(t, bucket.Tokens())
	require.Equal(t, time.Second, bucket.Until(at(2e6), 2))
}

func TestBucketUntilTakesNothing(t *testing.T) {
	t.Parallel()
	bucket := bucketAt(2)

	require.Zero(t, bucket.Until(at(1), 2))
	require.Zero(t, bucket.Until(at(1), 2))
	require.InDelta(t, 2, bucket.Tokens(), 0)
}

func TestBucketGive(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lift float64
		give float64
		want float64
	}{
		"adds to what time brought":        {0, 2, 3},
		"is cut at the capacity":           {0, 5, 4},
		"is cut at the lift":               {6, 50, 6},
		"is not cut below a lift too high": {60, 5, 6},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket := bucketAt(4)
			bucket.Lift(at(0), tt.lift)

			bucket.Give(at(0.25), tt.give)

			require.InDelta(t, tt.want, bucket.Tokens(), 0)
		})
	}
}

func TestBucketLiftedFillsUpToTheCost(t *testing.T) {
	t.Parallel()
	bucket := bucketAt(0.5)
	require.Equal(t, 9998*time.Millisecond, bucket.Until(at(0.002), 5))
	require.Equal(t, 8*time.Second, bucket.Until(at(100), 5), "not lifted: it stops at the capacity")

	bucket.Lift(at(100), 5)
	require.InDelta(t, 1, bucket.Tokens(), 0, "it counts from now")
	require.InDelta(t, 1, bucket.Capacity(), 0, "the capacity is that for others")
	require.Equal(t, 4*time.Second, bucket.Until(at(104), 5))
	require.Zero(t, bucket.Until(at(500), 5))
	require.InDelta(t, 5, bucket.Tokens(), 0, "and no further")

	_, ok := bucket.Take(at(500), 5)
	require.True(t, ok)
	require.Zero(t, bucket.Tokens())
}

func TestBucketLiftEnds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		act  func(bucket *sendrate.SendRate)
		want float64
	}{
		"by a lift of zero":          {func(bucket *sendrate.SendRate) { bucket.Lift(at(100), 0) }, 2},
		"by one below the capacity":  {func(bucket *sendrate.SendRate) { bucket.Lift(at(100), 1) }, 2},
		"by a smaller one, to there": {func(bucket *sendrate.SendRate) { bucket.Lift(at(100), 3) }, 3},
		"not by a greater one":       {func(bucket *sendrate.SendRate) { bucket.Lift(at(100), 10) }, 5},
		"not by a lower rate":        {func(bucket *sendrate.SendRate) { bucket.SetRate(at(100), 1) }, 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket := bucketAt(2)
			bucket.Lift(at(0), 5)

			tt.act(bucket)

			require.InDelta(t, tt.want, bucket.Tokens(), 0)
		})
	}
}

func TestBucketArgumentsOutOfRange(t *testing.T) {
	for name, f := range map[string]func(b *sendrate.SendRate){
		"take -5":  func(b *sendrate.SendRate) { b.Take(at(1), -5) },
		"give -5":  func(b *sendrate.SendRate) { b.Give(at(1), -5) },
		"give NaN": func(b *sendrate.SendRate) { b.Give(at(1), math.NaN()) },
		"lift NaN": func(b *sendrate.SendRate) { b.Lift(at(1), math.NaN()) },
		"rate NaN": func(b *sendrate.SendRate) { b.SetRate(at(1), ratelimit.Rate(math.NaN())) },
	} {
		t.Run(name, func(t *testing.T) {
			b := bucketAt(2)
			f(b)
			b.SetRate(at(2), 2)
			require.GreaterOrEqual(t, b.Tokens(), 0.0)
			require.LessOrEqual(t, b.Tokens(), b.Capacity())
			require.False(t, math.IsNaN(b.Tokens()))
		})
	}
	t.Run("take -5 before anything else", func(t *testing.T) {
		b := bucketAt(2)
		b.Take(at(1), -5)
		require.LessOrEqual(t, b.Tokens(), b.Capacity())
	})
}

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

		due, ok := bucket.Take(now, cost)

		require.False(t, ok)
		wait := refill.Wait(tokens, cost, float64(rate))
		require.Equal(t, wait, bucket.Until(now, cost))
		if wait == refill.Endless {
			require.Zero(t, due)
			continue
		}
		require.Equal(t, now.Add(wait), due)
		_, ok = bucket.Take(due, cost)
		require.True(t, ok, "%v for %v of %v at %v/s", wait, cost, tokens, rate)
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
		due, ok := bucket.Take(at(0), cost)
		require.False(t, ok)

		wait := due.Sub(at(0))
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

		_, ok = bucket.Take(due, cost)
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
func useBucket(random *rand.Rand, bucket *sendrate.SendRate, now time.Time, lifted *float64) (given float64) {
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
