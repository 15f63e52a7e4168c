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
