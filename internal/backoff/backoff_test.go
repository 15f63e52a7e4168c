package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestDelayFollowsTheTables(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.BackoffTables {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				shape := backoff.Exponential{Max: vectors.Seconds(c.MaxBackoff)}
				for n, want := range c.Delays {
					index := c.FirstIndex + int64(n)
					delay := shape.Delay(vectors.Int(index), vectors.Seconds(c.Base), 0, c.Jitter)
					require.Equal(t, vectors.Seconds(want), delay, "index %d", index)
				}
			})
		}
	}
}

func TestHintsFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.RetryAfter {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				delay := vectors.Seconds(c.Delay)
				if c.Header != nil {
					if hint, ok := classify.ParseRetryAfterMillis(*c.Header); ok {
						if c.Behavior == "v2.0" {
							delay = backoff.HintAsFloor(delay, hint, backoff.DefaultMax)
						} else {
							delay = backoff.HintInWindow(delay, hint)
						}
					}
				}
				require.Equal(t, vectors.Seconds(c.Want), delay)
			})
		}
	}
}

func jitters() []backoff.Jitter {
	return []backoff.Jitter{backoff.Full, backoff.None, backoff.Equal, backoff.Decorrelated, backoff.FullThenCap}
}

func TestJitterNamesAndValidity(t *testing.T) {
	t.Parallel()
	names := []string{}
	for _, j := range jitters() {
		require.True(t, j.Valid())
		names = append(names, j.String())
	}
	require.Equal(t, []string{"full", "none", "equal", "decorrelated", "full-then-cap"}, names)
	for _, j := range []backoff.Jitter{backoff.FullThenCap + 1, math.MaxUint8} {
		require.False(t, j.Valid())
		require.Equal(t, "unknown", j.String())
	}
}

// What rounding is allowed in TestDelayEqualsTheFormulas, and what the formulas leave open.
func TestDelayAtTheEdges(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		shape  backoff.Exponential
		index  int
		base   time.Duration
		random float64
		want   time.Duration
	}{
		"the zero value has full jitter":               {backoff.Exponential{}, 1, s, 0.5, s},
		"an unknown jitter counts as full":             {backoff.Exponential{Jitter: math.MaxUint8}, 1, s, 0.5, s},
		"no maximum is the default":                    {backoff.Exponential{}, 10, s, 1, 20 * s},
		"a negative maximum is the default":            {backoff.Exponential{Max: -1}, 10, s, 1, 20 * s},
		"one nanosecond is a maximum":                  {backoff.Exponential{Max: 1}, 10, s, 1, 1},
		"the largest power of two":                     {backoff.Exponential{Max: math.MaxInt64, Jitter: backoff.None}, 62, 1, 0, 1 << 62},
		"one doubling more than fits":                  {backoff.Exponential{Max: math.MaxInt64, Jitter: backoff.None}, 63, 1, 0, math.MaxInt64},
		"half of the largest":                          {backoff.Exponential{Max: math.MaxInt64}, 62, math.MaxInt64, 0.5, 1 << 62},
		"the maximum is no power of two of the base":   {backoff.Exponential{Max: 7, Jitter: backoff.None}, 1, 3, 0, 6},
		"just above the maximum":                       {backoff.Exponential{Max: 7, Jitter: backoff.None}, 1, 4, 0, 7},
		"equal shares an odd number from below":        {backoff.Exponential{Jitter: backoff.Equal}, 0, 3, 0, 1},
		"equal reaches an odd number":                  {backoff.Exponential{Jitter: backoff.Equal}, 0, 3, 1, 3},
		"nearest nanosecond, down":                     {backoff.Exponential{}, 0, 10, 0.54, 5},
		"nearest nanosecond, up":                       {backoff.Exponential{}, 0, 10, 0.56, 6},
		"decorrelated starts from the base at least":   {backoff.Exponential{Jitter: backoff.Decorrelated}, 7, s, 0.5, 2 * s},
		"decorrelated has no index":                    {backoff.Exponential{Jitter: backoff.Decorrelated}, 0, s, 0.5, 2 * s},
		"cap last reaches the maximum with a fraction": {backoff.Exponential{Jitter: backoff.FullThenCap}, 7, s, 0.25, 20 * s},
	} {
		require.Equal(t, c.want, c.shape.Delay(c.index, c.base, s/2, c.random), name)
	}
	for _, jitter := range jitters() {
		for _, base := range []time.Duration{0, -1, math.MinInt64} {
			require.Zero(t, backoff.Exponential{Jitter: jitter}.Delay(5, base, time.Minute, 1), "%s of %d", jitter, base)
		}
	}
}

func TestRandomNumbersOutOfRangeMoveToTheNearerEnd(t *testing.T) {
	t.Parallel()
	for _, jitter := range jitters() {
		delay := func(random float64) time.Duration {
			return backoff.Exponential{Jitter: jitter}.Delay(2, time.Second, time.Second, random)
		}
		for _, low := range []float64{-1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), math.Inf(-1)} {
			require.Equal(t, delay(0), delay(low), "%s, %g", jitter, low)
		}
		for _, high := range []float64{2, math.Nextafter(1, 2), math.MaxFloat64, math.Inf(1), math.NaN()} {
			require.Equal(t, delay(1), delay(high), "%s, %g", jitter, high)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	const s, longest = time.Second, time.Duration(math.MaxInt64)
	for _, c := range []struct{ delay, hint, max, want time.Duration }{
		{3 * s, 2 * s, 20 * s, 3 * s},
		{3 * s, 9 * s, 20 * s, 9 * s},
		{3 * s, 21 * s, 20 * s, 20 * s},
		{3 * s, longest, longest, longest},
		{3 * s, math.MinInt64, 20 * s, 3 * s},
		{0, -1, 20 * s, 0},
		{3 * s, time.Hour, 0, 20 * s},
		{3 * s, time.Hour, -s, 20 * s},
		{3 * s, time.Hour, 1, 3 * s},
		{30 * s, time.Hour, 20 * s, 30 * s},
	} {
		require.Equal(t, c.want, backoff.HintAsFloor(c.delay, c.hint, c.max), c)
	}
	for _, c := range []struct{ delay, hint, want time.Duration }{
		{3 * s, 2 * s, 3 * s},
		{3 * s, 7 * s, 7 * s},
		{3 * s, 8 * s, 8 * s},
		{3 * s, 8*s + 1, 8 * s},
		{0, longest, 5 * s},
		{0, math.MinInt64, 0},
		{longest - 2*s, longest, longest},
		{longest, math.MinInt64, longest},
	} {
		require.Equal(t, c.want, backoff.HintInWindow(c.delay, c.hint), c)
	}
	for _, c := range []struct {
		delay, hint time.Duration
		random      float64
		want        time.Duration
	}{
		{0, 10 * s, 1, 11 * s},
		{0, 10 * s, 0.5, 10*s + s/2},
		{0, 10 * s, 0, 10 * s},
		{2 * s, 10 * s, 1, 12 * s},
		{s / 2, 10 * s, 1, 11 * s},
		{2 * s, 0, 1, 2 * s},
		{0, 10 * s, math.NaN(), 11 * s},
		{0, 10 * s, 7, 11 * s},
		{s, longest, 1, longest},
		{s, longest - s, 0, longest},
		{longest, s, 1, longest},
	} {
		require.Equal(t, c.want, backoff.HintInFull(c.delay, c.hint, c.random), c)
	}
}

func TestHintsNeverShortenADelay(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{0, 1, time.Second, backoff.DefaultMax, time.Hour, math.MaxInt64 - 1, math.MaxInt64}
	hints := append([]time.Duration{math.MinInt64, math.MinInt64 + 1, -time.Hour, -1}, delays...)
	for _, delay := range delays {
		for _, hint := range hints {
			for _, longest := range hints {
				require.GreaterOrEqual(t, backoff.HintAsFloor(delay, hint, longest), delay, "%d, %d, %d", delay, hint, longest)
			}
			hinted := backoff.HintInWindow(delay, hint)
			require.GreaterOrEqual(t, hinted, delay, "%d, %d", delay, hint)
			require.LessOrEqual(t, hinted-delay, backoff.HintSlack, "%d, %d", delay, hint)
		}
	}
}

func BenchmarkDelay(b *testing.B) {
	for _, jitter := range jitters() {
		b.Run("jitter="+jitter.String(), func(b *testing.B) {
			b.ReportAllocs()
			shape := backoff.Exponential{Jitter: jitter}
			index := 0
			for b.Loop() {
				shape.Delay(index, 50*time.Millisecond, time.Second, 0.7)
				index = (index + 1) % 16
			}
		})
	}
}
