package recent

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var begin = time.Unix(1_800_000_000, 0)

// fill adds so many attempts that took d, one each ten milliseconds, and returns when the last one ended.
func fill(t *Times, now time.Time, n int, d time.Duration) time.Time {
	for range n {
		now = now.Add(10 * time.Millisecond)
		t.Took(now, d, false)
	}
	return now
}

func TestBucketsCoverWhatAttemptsTake(t *testing.T) {
	t.Parallel()
	require.Equal(t, 0, bucketOf(-1))
	require.Equal(t, 0, bucketOf(shortest))
	require.Equal(t, 1, bucketOf(shortest+1))
	require.Equal(t, buckets-1, bucketOf(math.MaxInt64))
	require.Greater(t, endOf(buckets-1), 27*time.Minute)
	for i := range buckets - 1 {
		end := endOf(i)
		require.Contains(t, []int{i, i + 1}, bucketOf(end), "the end is rounded up")
		require.Equal(t, i+1, bucketOf(end+end/100), end)
	}
}

func TestQuantileIsAtMostABucketTooLong(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		times, now := New(begin), begin
		var took []time.Duration
		for range 500 {
			d := time.Duration(float64(20*time.Millisecond) * math.Exp(random.NormFloat64()))
			took = append(took, d)
			times.Took(now, d, false) // all at once, so that all count the same
		}
		slices.Sort(took)
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99} {
			exact := took[int(math.Ceil(q*500))-1]
			got, ok := times.Limit(now, q, 1)
			require.True(t, ok)
			require.GreaterOrEqual(t, got, exact)
			require.LessOrEqual(t, float64(got), float64(exact)*1.0906, "2^(1/8)")
			require.InDelta(t, 3*float64(got), float64(limit(&times, now, q, 3)), 4)
		}
	}
}

func limit(t *Times, now time.Time, q, factor float64) time.Duration {
	d, _ := t.Limit(now, q, factor)
	return d
}

func TestTooLittleIsKnownOfFewAttempts(t *testing.T) {
	t.Parallel()
	times := New(begin)
	_, ok := times.Limit(begin, 0.9, 3)
	require.False(t, ok)
	now := fill(&times, begin, enough, time.Millisecond)
	_, ok = times.Limit(now, 0.9, 3)
	require.False(t, ok, "the first ones count a little less by now")
	now = fill(&times, now, 1, time.Millisecond)
	_, ok = times.Limit(now, 0.9, 3)
	require.True(t, ok)
	_, ok = times.Limit(now.Add(time.Minute), 0.9, 3)
	require.False(t, ok, "all of that is old")
	_, ok = times.Limit(now.Add(1000*time.Hour), 0.9, 3)
	require.False(t, ok)
	require.Zero(t, times.total)
}

// TestLimitFollowsTheService: a tenth of the weight is new after 4.6 s, and nine tenths are after 100 s.
func TestLimitFollowsTheService(t *testing.T) {
	t.Parallel()
	times := New(begin)
	now := fill(&times, begin, 60_000, 10*time.Millisecond)
	fast, _ := times.Limit(now, 0.9, 3)
	require.InDelta(t, 30*time.Millisecond, fast, float64(3*time.Millisecond))
	now = fill(&times, now, 400, 50*time.Millisecond)
	require.Equal(t, fast, limit(&times, now, 0.9, 3))
	now = fill(&times, now, 100, 50*time.Millisecond)
	require.InDelta(t, 150*time.Millisecond, limit(&times, now, 0.9, 3), float64(14*time.Millisecond))
	now = fill(&times, now, 60_000, 50*time.Millisecond)
	now = fill(&times, now, 9_500, 10*time.Millisecond)
	require.Greater(t, limit(&times, now, 0.9, 3), 100*time.Millisecond)
	now = fill(&times, now, 1_000, 10*time.Millisecond)
	require.Equal(t, fast, limit(&times, now, 0.9, 3))
}

// TestAnAttemptThatIsEndedCountsAsMore: otherwise the limit could never rise.
func TestAnAttemptThatIsEndedCountsAsMore(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{1, 3} {
		times := New(begin)
		now := fill(&times, begin, 200, shortest<<5) // the very end of its bucket
		before, _ := times.Limit(now, 0.9, factor)
		for range 25 {
			times.allowance = 1
			require.True(t, times.Claim())
			times.Ended(now, limit(&times, now, 0.9, factor))
		}
		require.Greater(t, limit(&times, now, 0.9, factor), before)
	}
}

func TestLimitDoesNotFallWhileATenthIsOver(t *testing.T) {
	t.Parallel()
	for share, falls := range map[int]bool{20: true, 8: false} { // one of so many is over
		times := New(begin)
		now := begin
		attempts := func(d time.Duration) (last time.Duration) {
			for i := range 20_000 {
				now = now.Add(10 * time.Millisecond)
				times.Took(now, d, i%share == 0)
				last, _ = times.Limit(now, 0.5, 2)
			}
			return last
		}
		before := attempts(100 * time.Millisecond)
		attempts(10 * time.Millisecond)
		require.Equal(t, falls, limit(&times, now, 0.5, 2) < before)
	}
}

// TestOneAttemptInTwentyIsEnded holds for any order: never more than a twentieth of those that came.
func TestOneAttemptInTwentyIsEnded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		over := random.Float64()
		times := New(begin)
		all, ended := 0, 0
		for range 5_000 {
			all++
			isOver := random.Float64() < over
			switch {
			case isOver && random.Float64() < 0.1 && times.Claim(): // but no retry would follow
				times.Unclaim()
				times.Took(begin, time.Millisecond, true)
			case isOver && times.Claim():
				times.Ended(begin, time.Second)
				ended++
			default:
				times.Took(begin, time.Millisecond, false)
			}
			require.LessOrEqual(t, float64(ended), perAttempt*float64(all)+1e-9)
		}
		require.InDelta(t, min(over*0.9, perAttempt)*float64(all), float64(ended), 60)
	}
	times := New(begin)
	fill(&times, begin, 5_000, time.Millisecond)
	ended := 0
	for range 100 {
		if times.Claim() {
			times.Ended(begin, time.Second)
			ended++
		}
	}
	require.Equal(t, most, ended, "at once")
	for range 100 {
		times.Unclaim()
	}
	for ended = 0; times.Claim(); ended++ {
	}
	require.Equal(t, most, ended, "no claim that is given up adds to that")
}

func TestTimeThatGoesBackChangesNothing(t *testing.T) {
	t.Parallel()
	times := New(begin)
	now := fill(&times, begin, 100, time.Millisecond)
	want, _ := times.Limit(now, 0.9, 3)
	times.Took(now.Add(-time.Hour), time.Millisecond, false)
	require.Equal(t, want, limit(&times, now.Add(-time.Hour), 0.9, 3))
	require.Equal(t, now, times.Last())
}

func TestWeightsStaySmall(t *testing.T) {
	t.Parallel()
	times, now := New(begin), begin
	for range 1000 {
		now = fill(&times, now.Add(time.Hour), 30, time.Millisecond)
		require.Less(t, times.total, math.Exp2(rescaled+6))
		require.InDelta(t, float64(times.total), sum(times.weights[:]), 1e-6*times.total)
		_, ok := times.Limit(now, 0.9, 3)
		require.True(t, ok)
	}
}

func sum(all []float64) (total float64) {
	for _, one := range all {
		total += one
	}
	return total
}

func BenchmarkLimit(b *testing.B) {
	times := New(begin)
	now := fill(&times, begin, 1000, 10*time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		times.Took(now, 10*time.Millisecond, false)
		times.Limit(now, 0.9, 3)
	}
}
