package backoff_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/backoff"
)

// input is one call of Delay.
type input struct {
	longest        time.Duration
	index          int
	base, previous time.Duration
}

func (in input) String() string {
	return fmt.Sprintf("max %d, index %d, base %d, previous %d", in.longest, in.index, in.base, in.previous)
}

func (in input) delay(jitter backoff.Jitter, random float64) time.Duration {
	return backoff.Exponential{Max: in.longest, Jitter: jitter}.Delay(in.index, in.base, in.previous, random)
}

// effectiveMax is the maximum that holds for the input.
func (in input) effectiveMax() time.Duration {
	if in.longest <= 0 {
		return backoff.DefaultMax
	}
	return in.longest
}

// inputs are all combinations of the edges, and others drawn from a fixed seed.
// Half of the drawn ones have numbers of every magnitude.
func inputs() []input {
	durations := []time.Duration{
		math.MinInt64, -1, 0, 1, 2, 3, 50 * time.Millisecond, time.Second, 20 * time.Second,
		1<<53 + 3, 1 << 62, math.MaxInt64 - 1, math.MaxInt64,
	}
	indexes := []int{math.MinInt, -1, 0, 1, 5, 33, 61, 62, 63, 64, 1023, 2048, 100_000, math.MaxInt}
	all := []input{}
	for _, longest := range durations {
		for _, base := range durations {
			for _, previous := range []time.Duration{math.MinInt64, 0, time.Second, 1 << 62, math.MaxInt64} {
				for _, index := range indexes {
					all = append(all, input{longest, index, base, previous})
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	anyDuration := func() time.Duration { return time.Duration(r.Int64() >> r.IntN(63)) }
	for range 2000 {
		all = append(all,
			input{anyDuration(), r.IntN(70), anyDuration(), anyDuration()},
			input{20 * time.Second, r.IntN(12), time.Duration(r.Int64N(2e9)), time.Duration(r.Int64N(25e9))})
	}
	return all
}

func randoms() []float64 {
	return []float64{
		math.Inf(-1), -1, 0, math.SmallestNonzeroFloat64, 1e-9, 0.1, 1.0 / 3, 0.5, 0.75, math.Nextafter(1, 0),
		1, 2, math.Inf(1), math.NaN(),
	}
}

func TestDelayIsWithinItsBoundsAndGrowsWithTheRandomNumber(t *testing.T) {
	t.Parallel()
	for _, in := range inputs() {
		for _, jitter := range jitters() {
			shorter := time.Duration(0)
			for _, random := range randoms() {
				delay := in.delay(jitter, random)
				if delay < shorter || delay > in.effectiveMax() {
					require.Failf(t, "out of bounds", "%s of %s, random %g: %d after %d", jitter, in, random, delay, shorter)
				}
				shorter = delay
			}
		}
	}
}

func TestKindsRelateToEachOther(t *testing.T) {
	t.Parallel()
	for _, in := range inputs() {
		none := in.delay(backoff.None, 0)
		for _, random := range randoms() {
			full, equal := in.delay(backoff.Full, random), in.delay(backoff.Equal, random)
			capLast := in.delay(backoff.FullThenCap, random)
			ok := in.delay(backoff.None, random) == none && // no random number in it
				full <= none && none/2 <= equal && equal <= none &&
				equal >= full-1-slack(none) && // each rounded to a nanosecond of its own
				capLast >= full-slack(none)
			if none < in.effectiveMax() {
				ok = ok && capLast-full <= slack(none)
			}
			if !ok {
				require.Failf(t, "out of order", "%s, random %g: none %d, full %d, equal %d, cap last %d",
					in, random, none, full, equal, capLast)
			}
		}
		require.Equal(t, none, in.delay(backoff.Full, 1))
		require.Equal(t, none, in.delay(backoff.Equal, 1))
		require.InDelta(t, none, in.delay(backoff.FullThenCap, 1), float64(slack(none)))
		require.Zero(t, in.delay(backoff.Full, 0))
		require.Zero(t, in.delay(backoff.FullThenCap, 0))
	}
}

// slack is how far float64 arithmetic on a delay may be off: two units in the last place, which
// is nothing below 26 days.
func slack(delay time.Duration) time.Duration { return delay >> 51 }

// TestDelayEqualsTheFormulas computes the formulas of the kinds with big numbers.
func TestDelayEqualsTheFormulas(t *testing.T) {
	t.Parallel()
	for _, in := range inputs() {
		if in.base <= 0 {
			continue
		}
		for _, random := range []float64{0, 1e-9, 1.0 / 3, 0.5, 1} {
			for _, jitter := range jitters() {
				want, got := in.formula(jitter, random), in.delay(jitter, random)
				if (got - want).Abs() > 1+slack(want) { // want is rounded down
					require.Failf(t, "not the formula", "%s of %s, random %g: want %d, got %d", jitter, in, random, want, got)
				}
			}
		}
	}
}

// formula is the delay as the comment on the kinds defines it, rounded down.
func (in input) formula(jitter backoff.Jitter, random float64) time.Duration {
	longest, base, u := exact(in.effectiveMax()), exact(in.base), new(big.Float).SetFloat64(random)
	product := new(big.Float).SetMantExp(base, min(max(in.index, 0), 1<<20)) // far beyond any maximum
	capped := least(product, longest)
	var delay *big.Float
	switch jitter {
	case backoff.None:
		delay = capped
	case backoff.Equal:
		half := times(capped, big.NewFloat(0.5))
		delay = plus(half, times(u, half))
	case backoff.Decorrelated:
		spread := plus(times(big.NewFloat(3), exact(max(in.previous, in.base))), new(big.Float).Neg(base))
		delay = least(plus(base, times(u, spread)), longest)
	case backoff.FullThenCap:
		delay = least(times(u, product), longest)
	case backoff.Full:
		delay = times(u, capped)
	default:
		panic("unknown jitter " + jitter.String())
	}
	nanoseconds, _ := delay.Int64()
	return time.Duration(nanoseconds)
}

const precision = 256

func exact(d time.Duration) *big.Float { return new(big.Float).SetPrec(precision).SetInt64(int64(d)) }

func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }

func plus(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(a, b) }

func least(a, b *big.Float) *big.Float {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}
