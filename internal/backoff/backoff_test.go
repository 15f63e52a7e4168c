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

// TestDelayOfTheKindsThatDouble has one row for each index: the delays from a base of one second
// without jitter, then those of the other kinds for the random numbers 0, 1/4 and 1.
func TestDelayOfTheKindsThatDouble(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		name                     string
		index                    int
		none                     time.Duration
		full, equal, fullThenCap [3]time.Duration
	}{
		{"smallest int", math.MinInt, s, at(0, 250*ms, s), at(500*ms, 625*ms, s), at(0, 250*ms, s)},
		{"negative", -1, s, at(0, 250*ms, s), at(500*ms, 625*ms, s), at(0, 250*ms, s)},
		{"first retry", 0, s, at(0, 250*ms, s), at(500*ms, 625*ms, s), at(0, 250*ms, s)},
		{"second retry", 1, 2 * s, at(0, 500*ms, 2*s), at(s, 1250*ms, 2*s), at(0, 500*ms, 2*s)},
		{"last below the maximum", 4, 16 * s, at(0, 4*s, 16*s), at(8*s, 10*s, 16*s), at(0, 4*s, 16*s)},
		{"first above the maximum", 5, 20 * s, at(0, 5*s, 20*s), at(10*s, 12500*ms, 20*s), at(0, 8*s, 20*s)},
		{"a quarter reaches the maximum", 7, 20 * s, at(0, 5*s, 20*s), at(10*s, 12500*ms, 20*s), at(0, 20*s, 20*s)},
		{"last shift within 64 bits", 62, 20 * s, at(0, 5*s, 20*s), at(10*s, 12500*ms, 20*s), at(0, 20*s, 20*s)},
		{"shift into the sign", 63, 20 * s, at(0, 5*s, 20*s), at(10*s, 12500*ms, 20*s), at(0, 20*s, 20*s)},
		{"shift out of 64 bits", 64, 20 * s, at(0, 5*s, 20*s), at(10*s, 12500*ms, 20*s), at(0, 20*s, 20*s)},
		{"beyond a float's exponent", 100_000, 20 * s, at(0, 5*s, 20*s), at(10*s, 12500*ms, 20*s), at(0, 20*s, 20*s)},
		{"largest int", math.MaxInt, 20 * s, at(0, 5*s, 20*s), at(10*s, 12500*ms, 20*s), at(0, 20*s, 20*s)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for jitter, want := range map[backoff.Jitter][3]time.Duration{
				backoff.None: at(c.none, c.none, c.none), backoff.Full: c.full,
				backoff.Equal: c.equal, backoff.FullThenCap: c.fullThenCap,
			} {
				shape := backoff.Exponential{Jitter: jitter}
				var got [3]time.Duration
				for i, random := range [3]float64{0, 0.25, 1} {
					got[i] = shape.Delay(c.index, s, time.Hour, random)
				}
				require.Equal(t, want, got, jitter)
			}
		})
	}
}

func at(first, second, third time.Duration) [3]time.Duration {
	return [3]time.Duration{first, second, third}
}

func TestDelayAtTheEdges(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name   string
		shape  backoff.Exponential
		index  int
		base   time.Duration
		random float64
		want   time.Duration
	}{
		{"the zero value has full jitter", backoff.Exponential{}, 1, s, 0.5, s},
		{"an unknown jitter counts as full", backoff.Exponential{Jitter: math.MaxUint8}, 1, s, 0.5, s},
		{"no maximum is the default", backoff.Exponential{}, 10, s, 1, 20 * s},
		{"a negative maximum is the default", backoff.Exponential{Max: -1}, 10, s, 1, 20 * s},
		{"the smallest maximum is the default", backoff.Exponential{Max: math.MinInt64}, 10, s, 1, 20 * s},
		{"one nanosecond is a maximum", backoff.Exponential{Max: 1}, 10, s, 1, 1},
		{"a maximum of its own", backoff.Exponential{Max: time.Hour}, 11, s, 1, 2048 * s},
		{"the largest power of two", backoff.Exponential{Max: math.MaxInt64, Jitter: backoff.None}, 62, 1, 0, 1 << 62},
		{"one doubling more than fits", backoff.Exponential{Max: math.MaxInt64, Jitter: backoff.None}, 63, 1, 0, math.MaxInt64},
		{"a doubling that loses bits", backoff.Exponential{Max: math.MaxInt64, Jitter: backoff.None}, 2, math.MaxInt64 / 2, 0, math.MaxInt64},
		{"the largest base and maximum", backoff.Exponential{Max: math.MaxInt64}, 62, math.MaxInt64, 1, math.MaxInt64},
		{"half of the largest", backoff.Exponential{Max: math.MaxInt64}, 62, math.MaxInt64, 0.5, 1 << 62},
		{"the maximum is no power of two of the base", backoff.Exponential{Max: 7, Jitter: backoff.None}, 1, 3, 0, 6},
		{"just above the maximum", backoff.Exponential{Max: 7, Jitter: backoff.None}, 1, 4, 0, 7},
		{"base above the maximum, full", backoff.Exponential{Max: 3 * s}, 0, 60 * s, 0.5, 1500 * time.Millisecond},
		{"base above the maximum, none", backoff.Exponential{Max: 3 * s, Jitter: backoff.None}, 0, 60 * s, 0, 3 * s},
		{"base above the maximum, equal", backoff.Exponential{Max: 3 * s, Jitter: backoff.Equal}, 0, 60 * s, 0, 1500 * time.Millisecond},
		{"base above the maximum, decorrelated", backoff.Exponential{Max: 3 * s, Jitter: backoff.Decorrelated}, 0, 60 * s, 0, 3 * s},
		{"base above the maximum, cap last", backoff.Exponential{Max: 3 * s, Jitter: backoff.FullThenCap}, 0, 60 * s, 0.025, 1500 * time.Millisecond},
		{"equal shares an odd number from below", backoff.Exponential{Jitter: backoff.Equal}, 0, 3, 0, 1},
		{"equal reaches an odd number", backoff.Exponential{Jitter: backoff.Equal}, 0, 3, 1, 3},
		{"nearest nanosecond, down", backoff.Exponential{}, 0, 10, 0.54, 5},
		{"nearest nanosecond, up", backoff.Exponential{}, 0, 10, 0.56, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.shape.Delay(c.index, c.base, 0, c.random))
		})
	}
}

func TestDelayWithoutABaseIsZero(t *testing.T) {
	t.Parallel()
	for _, jitter := range jitters() {
		for _, base := range []time.Duration{0, -1, -time.Second, math.MinInt64} {
			for _, index := range []int{-1, 0, 5, 100_000, math.MaxInt} {
				delay := backoff.Exponential{Jitter: jitter}.Delay(index, base, time.Minute, 1)
				require.Zero(t, delay, "%s of %d, index %d", jitter, base, index)
			}
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

func TestDecorrelatedStartsFromThePreviousDelay(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name           string
		base, previous time.Duration
		random         float64
		want           time.Duration
	}{
		{"nothing before, shortest", s, 0, 0, s},
		{"nothing before, middle", s, 0, 0.5, 2 * s},
		{"nothing before, longest", s, 0, 1, 3 * s},
		{"a negative one before", s, -s, 1, 3 * s},
		{"the smallest before", s, math.MinInt64, 1, 3 * s},
		{"less than the base before", s, s / 2, 1, 3 * s},
		{"shortest after four seconds", s, 4 * s, 0, s},
		{"middle after four seconds", s, 4 * s, 0.5, 6500 * time.Millisecond},
		{"longest after four seconds", s, 4 * s, 1, 12 * s},
		{"longest after ten seconds is the maximum", s, 10 * s, 1, 20 * s},
		{"after more than the maximum", s, time.Hour, 0.0001, 2079900 * time.Microsecond},
		{"after the largest, shortest", s, math.MaxInt64, 0, s},
		{"after the largest, longest", s, math.MaxInt64, 1, 20 * s},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shape := backoff.Exponential{Jitter: backoff.Decorrelated}
			for _, index := range []int{-1, 0, 7, math.MaxInt} {
				require.Equal(t, c.want, shape.Delay(index, c.base, c.previous, c.random), "index %d", index)
			}
		})
	}
}

func TestHintAsFloor(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name                       string
		delay, hint, longest, want time.Duration
	}{
		{"shorter than the delay", 3 * s, 2 * s, 20 * s, 3 * s},
		{"as long as the delay", 3 * s, 3 * s, 20 * s, 3 * s},
		{"longer than the delay", 3 * s, 9 * s, 20 * s, 9 * s},
		{"the maximum", 3 * s, 20 * s, 20 * s, 20 * s},
		{"beyond the maximum", 3 * s, 21 * s, 20 * s, 20 * s},
		{"absurdly long", 3 * s, math.MaxInt64, 20 * s, 20 * s},
		{"absurdly long, as the maximum is", 3 * s, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{"zero", 3 * s, 0, 20 * s, 3 * s},
		{"negative", 3 * s, -1, 20 * s, 3 * s},
		{"absurdly negative", 3 * s, math.MinInt64, 20 * s, 3 * s},
		{"negative without a delay", 0, -1, 20 * s, 0},
		{"without a delay", 0, 2 * s, 20 * s, 2 * s},
		{"no maximum is the default", 3 * s, time.Hour, 0, 20 * s},
		{"a negative maximum is the default", 3 * s, time.Hour, -s, 20 * s},
		{"the smallest maximum is the default", 3 * s, time.Hour, math.MinInt64, 20 * s},
		{"a delay beyond the maximum stays", 30 * s, time.Hour, 20 * s, 30 * s},
		{"the longest delay stays", math.MaxInt64, math.MaxInt64, 20 * s, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, backoff.HintAsFloor(c.delay, c.hint, c.longest))
		})
	}
}

func TestHintInFull(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name        string
		delay, hint time.Duration
		random      float64
		want        time.Duration
	}{
		{"a tenth more", 0, 10 * s, 1, 11 * s},
		{"half of that", 0, 10 * s, 0.5, 10*s + s/2},
		{"no less than the hint", 0, 10 * s, 0, 10 * s},
		{"the delay is longer than a tenth", 2 * s, 10 * s, 1, 12 * s},
		{"the delay is shorter than a tenth", s / 2, 10 * s, 1, 11 * s},
		{"zero", 2 * s, 0, 1, 2 * s},
		{"a random number that is none", 0, 10 * s, math.NaN(), 11 * s},
		{"a random number above one", 0, 10 * s, 7, 11 * s},
		{"the longest hint", s, math.MaxInt64, 1, math.MaxInt64},
		{"the longest delay", math.MaxInt64, s, 1, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, backoff.HintInFull(c.delay, c.hint, c.random))
		})
	}
}

func TestHintInWindow(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name              string
		delay, hint, want time.Duration
	}{
		{"shorter than the delay", 3 * s, 2 * s, 3 * s},
		{"as long as the delay", 3 * s, 3 * s, 3 * s},
		{"inside the window", 3 * s, 7 * s, 7 * s},
		{"the end of the window", 3 * s, 8 * s, 8 * s},
		{"just beyond the window", 3 * s, 8*s + 1, 8 * s},
		{"absurdly long", 3 * s, math.MaxInt64, 8 * s},
		{"absurdly long without a delay", 0, math.MaxInt64, 5 * s},
		{"zero", 3 * s, 0, 3 * s},
		{"negative", 3 * s, -1, 3 * s},
		{"absurdly negative", 3 * s, math.MinInt64, 3 * s},
		{"negative without a delay", 0, math.MinInt64, 0},
		{"a window whose end would overflow", math.MaxInt64 - 2*s, math.MaxInt64, math.MaxInt64},
		{"the longest delay", math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{"the longest delay, a negative hint", math.MaxInt64, math.MinInt64, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, backoff.HintInWindow(c.delay, c.hint))
		})
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
