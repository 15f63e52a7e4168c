package sendrate_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// bucketAt returns a bucket with this fill rate, empty at second 0.
func bucketAt(rate ratelimit.Rate) *sendrate.Bucket {
	bucket := new(sendrate.Bucket)
	bucket.SetRate(at(0), rate)
	return bucket
}

func TestBucketZeroValueIsEmptyAndDoesNotFill(t *testing.T) {
	t.Parallel()
	var bucket sendrate.Bucket

	wait, ok := bucket.Take(at(1e6), 1)

	require.False(t, ok)
	require.Equal(t, time.Duration(math.MaxInt64), wait)
	require.Equal(t, time.Duration(math.MaxInt64), bucket.Until(at(2e6), 1e-300))
	require.Zero(t, bucket.Tokens())
	require.Zero(t, bucket.Until(at(2e6), 0))
}

func TestBucketWaits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rate ratelimit.Rate
		cost float64
		want time.Duration
	}{
		"exact":                                  {0.5, 1, 2 * time.Second},
		"rounded up":                             {3, 1, 333_333_334},
		"rounded up from less than a nanosecond": {1e12, 1, 1},
		"rounded up from almost nothing":         {1e12, 1e-200, 1},
		"beyond the capacity":                    {4, 12, 3 * time.Second},
		"longer than a duration can be":          {0.5, 1e12, math.MaxInt64},
		"endless":                                {0.5, math.Inf(1), math.MaxInt64},
		"with an endless rate":                   {ratelimit.Rate(math.Inf(1)), 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket := bucketAt(tt.rate)

			wait, ok := bucket.Take(at(0), tt.cost)

			require.False(t, ok)
			require.Equal(t, tt.want, wait)
			require.Equal(t, tt.want, bucket.Until(at(0), tt.cost))
			require.Zero(t, bucket.Tokens(), "a refusal takes nothing")
		})
	}
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
		act  func(bucket *sendrate.Bucket)
		want float64
	}{
		"by a lift of zero":          {func(bucket *sendrate.Bucket) { bucket.Lift(at(100), 0) }, 2},
		"by one below the capacity":  {func(bucket *sendrate.Bucket) { bucket.Lift(at(100), 1) }, 2},
		"by a smaller one, to there": {func(bucket *sendrate.Bucket) { bucket.Lift(at(100), 3) }, 3},
		"not by a greater one":       {func(bucket *sendrate.Bucket) { bucket.Lift(at(100), 10) }, 5},
		"not by a lower rate":        {func(bucket *sendrate.Bucket) { bucket.SetRate(at(100), 1) }, 5},
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

func TestBucketFillsAtTheOldRateUntilTheChange(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		from, to     ratelimit.Rate
		wantTokens   float64
		wantFill     ratelimit.Rate
		wantCapacity float64
	}{
		"up":                          {2, 100, 1, 100, 100},
		"down, what is too much goes": {8, 3, 3, 3, 3},
		"below both floors":           {8, 0, 1, sendrate.MinFillRate, sendrate.MinCapacity},
		"below the one of capacity":   {8, 0.75, 1, 0.75, sendrate.MinCapacity},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket := bucketAt(tt.from)

			bucket.SetRate(at(0.5), tt.to)

			require.InDelta(t, tt.wantTokens, bucket.Tokens(), 0)
			require.InDelta(t, float64(tt.wantFill), float64(bucket.Fill()), 0)
			require.InDelta(t, tt.wantCapacity, bucket.Capacity(), 0)
		})
	}
}
