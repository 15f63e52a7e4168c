package standard

import "github.com/awsretry/awsretry/internal/backoff"

// Jitter says how a random number spreads the delays of operations that failed together.
// The zero value is [Full]. The delay before retry i, which is 0 for the first retry, is
// computed from
//
//	b    the base: Config.Base, or Config.ThrottlingBase after a throttle
//	max  Config.MaxBackoff
//	u    what Config.Random returns, from 0 to 1
//	c    min(b * 2^i, max)
//
// and each kind has its formula. No kind gives a delay above max. Config.MinDelay then lengthens
// any shorter delay.
type Jitter uint8

// The kinds of jitter.
const (
	// Full is u * c. The Smithy retry guide describes it and the AWS SDKs compute it
	// (in aws-sdk-go-v2: aws/retry/jitter_backoff.go).
	Full Jitter = iota
	// NoJitter is c. Operations that failed together are retried together.
	NoJitter
	// Equal is c/2 + u * c/2, "Equal Jitter" in "Exponential Backoff And Jitter" on the
	// AWS Architecture Blog. No delay is shorter than half of c.
	Equal
	// Decorrelated is min(b + u * (3*p - b), max), where p is the delay before the previous retry
	// of the operation, or b if that is longer. It is "Decorrelated Jitter" on the same page. The
	// delay does not depend on i.
	Decorrelated
	// FullThenCap is min(u * b * 2^i, max): the cap comes after the jitter. That is the
	// formula on the page "Retry behavior" of the AWS SDKs and Tools Reference Guide, with
	// b = 1 s. When i is large most delays are exactly max, so it spreads operations less
	// than Full.
	FullThenCap
)

// String returns the name of the kind: "full", "none", "equal", "decorrelated" or
// "full-then-cap"; "unknown" for any other value.
func (j Jitter) String() string { return j.kind().String() }

func (j Jitter) kind() backoff.Jitter { return backoff.Jitter(j) }
