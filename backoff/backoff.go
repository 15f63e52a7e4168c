// Package backoff computes how long to wait before a retry. Every function is
// pure: the caller brings the random number and keeps the counts.
package backoff

import (
	"math"
	"time"
)

// DefaultMax is the longest delay before a retry unless the caller sets
// another one: MAX_BACKOFF of the retry behavior page of the AWS SDKs and
// Tools Reference Guide.
const DefaultMax = 20 * time.Second

// Jitter says how a random number spreads the delays of callers that failed
// together. The zero value is Full.
type Jitter uint8

// The kinds of jitter. With c = min(base * 2^i, max), i = 0 before the first
// retry, and a random number u from 0 to 1, the delay is
//
//	Full          u * c
//	None          c
//	Equal         c/2 + u * c/2
//	Decorrelated  min(base + u * (3*previous - base), max), previous at least base
//	FullThenCap   min(u * base * 2^i, max)
//
// Full with the cap inside is what the Smithy guide and every AWS SDK compute.
// FullThenCap is the formula as the AWS SDKs and Tools Reference Guide prints
// it; at high indexes most of its delays are exactly max, so that it spreads
// callers less. Equal and Decorrelated are named after "Exponential Backoff
// and Jitter" in the AWS Architecture Blog.
const (
	Full Jitter = iota
	None
	Equal
	Decorrelated
	FullThenCap
)

// String returns the kind's name in lower case, such as "full-then-cap".
func (j Jitter) String() string {
	switch j {
	case Full:
		return "full"
	case None:
		return "none"
	case Equal:
		return "equal"
	case Decorrelated:
		return "decorrelated"
	case FullThenCap:
		return "full-then-cap"
	default:
		return "unknown"
	}
}

// Valid reports whether j is one of the kinds above.
func (j Jitter) Valid() bool { return j <= FullThenCap }

// Exponential is truncated binary exponential backoff with jitter. Its zero
// value has full jitter and DefaultMax. It holds no state and is safe for
// concurrent use.
type Exponential struct {
	// Max is the longest delay; zero or negative means DefaultMax.
	Max time.Duration
	// Jitter is the kind of jitter; an unknown one counts as Full.
	Jitter Jitter
}

// Delay returns the wait before the retry of the given index, which is 0 for
// the first retry; a negative index counts as 0. base is the delay that the
// index doubles; zero or negative means no delay. previous is the delay before
// the last retry, which only Decorrelated looks at. random is a number from 0
// to 1; one outside is moved to the nearer end, and NaN counts as 1, the
// longest wait. The result is between 0 and Max for every input.
func (e Exponential) Delay(index int, base, previous time.Duration, random float64) time.Duration {
	longest := e.Max
	if longest <= 0 {
		longest = DefaultMax
	}
	if base <= 0 {
		return 0
	}
	u := unit(random)
	capped := doubled(base, max(index, 0), longest)
	switch e.Jitter {
	case None:
		return capped
	case Equal:
		return capped/2 + scale(capped-capped/2, u)
	case Decorrelated:
		first := min(base, longest)
		spread := 3*float64(max(previous, first)) - float64(first)
		return atMost(float64(first)+u*spread, longest)
	case FullThenCap:
		return atMost(math.Ldexp(u*float64(base), min(max(index, 0), maxExponent)), longest)
	case Full:
		return scale(capped, u)
	default:
		return scale(capped, u)
	}
}

// doubled returns min(d * 2^n, longest) without overflow: d * 2^n exceeds
// longest exactly when d exceeds longest / 2^n rounded down.
func doubled(d time.Duration, n int, longest time.Duration) time.Duration {
	if n >= 63 || d > longest>>n {
		return longest
	}
	return d << n
}

// maxExponent is more than enough to lift any number above zero over any
// Duration; math.Ldexp overflows for the largest exponents.
const maxExponent = 4096

// scale returns u * d to the nearest nanosecond.
func scale(d time.Duration, u float64) time.Duration {
	return atMost(u*float64(d), d)
}

// atMost converts nanoseconds to a Duration and cuts them at longest before
// the conversion, which would overflow for large numbers.
func atMost(nanoseconds float64, longest time.Duration) time.Duration {
	if nanoseconds >= float64(longest) {
		return longest
	}
	return time.Duration(math.Round(nanoseconds))
}

func unit(random float64) float64 {
	if math.IsNaN(random) {
		return 1
	}
	return min(max(random, 0), 1)
}
