// Package backoff computes how long to wait before a retry. Every function is pure: the
// caller gives it the random number and counts the retries.
package backoff

import (
	"math"
	"time"
)

// DefaultMax is the longest delay before a retry unless the caller sets another one:
// MAX_BACKOFF on the page "Retry behavior" of the AWS SDKs and Tools Reference Guide, and
// DefaultMaxBackoff of aws-sdk-go-v2.
const DefaultMax = 20 * time.Second

// Jitter says how a random number spreads the delays of callers that failed together. The
// zero value is Full.
type Jitter uint8

// The kinds of jitter. With c = min(base * 2^i, max), i = 0 before the first retry, and a
// random number u from 0 to 1, the delay is
//
//	Full          u * c
//	None          c
//	Equal         c/2 + u * c/2
//	Decorrelated  min(base + u * (3*previous - base), max), previous at least base
//	FullThenCap   min(u * base * 2^i, max)
//
// The constants of modes/standard are in the same order and say where the formulas come
// from.
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

// Exponential is truncated binary exponential backoff with jitter. Its zero value has full
// jitter and DefaultMax. It holds no state and is safe for concurrent use.
type Exponential struct {
	// Max is the longest delay; zero or negative means DefaultMax.
	Max time.Duration
	// Jitter is the kind of jitter; an unknown one counts as Full.
	Jitter Jitter
}

// Delay returns the wait before a retry. The result is between 0 and Max for every input.
//
//   - index is 0 for the first retry; a negative index counts as 0.
//   - base is the delay that each index doubles; zero or negative means no delay.
//   - previous is the delay before the retry before; only Decorrelated needs it.
//   - random is a number from 0 to 1; one outside counts as the nearer end, and NaN counts
//     as 1, the longest wait.
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

// doubled returns min(d * 2^n, longest) without overflow: d * 2^n exceeds longest exactly
// when d exceeds longest / 2^n rounded down.
func doubled(d time.Duration, n int, longest time.Duration) time.Duration {
	if n >= 63 || d > longest>>n {
		return longest
	}
	return d << n
}

// maxExponent lifts every number above zero beyond every Duration; math.Ldexp overflows
// for the largest exponents.
const maxExponent = 4096

// scale returns u * d to the nearest nanosecond.
func scale(d time.Duration, u float64) time.Duration {
	return atMost(u*float64(d), d)
}

// atMost converts nanoseconds to a Duration. It cuts them at longest first, because the
// conversion of a large number would overflow.
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

// HintSlack is how far the hint of a server may lengthen a delay in behavior v2.1.
const HintSlack = 5 * time.Second

// HintAsFloor returns the delay of behavior v2.0 when a server asks for a wait of hint:
// max(delay, min(hint, longest)). A negative hint has no effect, and a longest of zero or
// less means DefaultMax. delay is not negative.
func HintAsFloor(delay, hint, longest time.Duration) time.Duration {
	if longest <= 0 {
		longest = DefaultMax
	}
	return max(delay, min(hint, longest))
}

// HintLimit is the longest hint that counts in full unless the caller sets another limit.
const HintLimit = time.Minute

// HintInFull returns the delay when a server has nothing to say before the end of hint: hint plus the
// longer of delay and random * hint / 10, so that callers who were told the same time come apart. random is
// read as by Delay. The result is never less than hint; hint and delay are not negative.
func HintInFull(delay, hint time.Duration, random float64) time.Duration {
	after := max(scale(hint/10, unit(random)), delay)
	if after > math.MaxInt64-hint {
		return math.MaxInt64
	}
	return hint + after
}

// HintInWindow returns the delay of behavior v2.1 when a server asks for a wait of hint:
// the hint moved into [delay, delay + HintSlack]. A negative hint has no effect. delay is
// not negative.
func HintInWindow(delay, hint time.Duration) time.Duration {
	switch {
	case hint <= delay:
		return delay
	case hint-delay > HintSlack:
		return delay + HintSlack
	default:
		return hint
	}
}
