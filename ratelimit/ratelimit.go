package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Rate is a number of sends, or of tokens, per second.
type Rate float64

// Controller says how throttles and other answers change the send rate. The zero value is
// [FindLimit].
type Controller uint8

// The controllers.
const (
	// FindLimit finds the limit of the service, and stays 2 % below it if no one else takes from it.
	//
	// At first the rate is that of the CUBIC curve of the AWS SDKs, with one cut for each congestion event: a
	// throttle that cuts the rate, together with all throttles of attempts sent before that cut. Between two
	// throttles a service serves what it allows, so that their distance and the successes in between tell the limit,
	// if the client is alone: then the counts at 20 throttles lie on a line. From then on the rate is held below
	// that limit, and goes beyond it from time to time to see whether it has risen: each time after twice as long, up
	// to 50 requests at limits below 12 a second. The limit rises by what was served, and outlasts an outage. A throttle below it
	// means that it has fallen or that others take from it, and the curve has the rate again. Where the limit is
	// held, the rate can be as low as 0.25 a second, instead of 0.5.
	FindLimit Controller = iota
	// CutPerThrottle is the CUBIC curve with a cut for every throttle, bit for bit as in the AWS SDKs (in
	// aws-sdk-go-v2: aws/retry/adaptive_ratelimit.go). If many requests are in flight at the first throttle, the
	// rate collapses.
	CutPerThrottle
)

// String returns "find-limit" or "cut-per-throttle"; "unknown" for any other value.
func (c Controller) String() string {
	switch c {
	case FindLimit:
		return "find-limit"
	case CutPerThrottle:
		return "cut-per-throttle"
	default:
		return "unknown"
	}
}

// Request says how many send tokens an attempt asks a limiter for, and which waits it accepts. The
// zero Request asks for one token and accepts every wait that ends before the deadline of the
// context.
type Request struct {
	// Cost is the number of tokens; zero or less means one, and more than 2^53 counts as 2^53. A
	// cost above the capacity of the bucket is served too, but takes longer. If every attempt costs
	// more than one, see adaptive.Config.SendCost.
	Cost float64
	// Part is true for a retry of an operation in which a part of the scope was throttled, such as one
	// key of a table, see [Response].PartThrottled. A limiter that does not tell parts apart ignores it.
	Part bool
	// NoWait refuses every wait.
	NoWait bool
	// MaxWait bounds the wait; zero means no limit. A wait that is expected to take longer is
	// refused. A wait that a rate cut makes too long ends at that cut, and any other ends after
	// MaxWait. Tokens that come exactly at the end are in time.
	MaxWait time.Duration
	// MaxQueue refuses to wait behind that many callers, see [Wait].Ahead; zero means no limit.
	MaxQueue int
	// NotAfter is the latest instant to send at; zero means any.
	NotAfter time.Time
	// AttemptTime is how long before the deadline of the context a wait must end, so that the attempt
	// can end in time; half of the time until the deadline is always enough. Zero means no minimum. A
	// caller that need not wait is never refused for lack of time.
	AttemptTime time.Duration
	// OnWait is called before a wait begins, with no lock held; nil means none. A caller
	// whose OnWait panics leaves the queue.
	OnWait func(Wait)
}

// Wait describes the wait that a caller faces in the queue.
type Wait struct {
	// Expected is how long the wait takes if the rate stays as it is; zero if that is not
	// known.
	Expected time.Duration
	// Ahead is the number of callers that the wait is behind. Retries after throttles of a part of the scope
	// wait behind all callers, others not behind those that wait for the part.
	Ahead int
	// FillRate is the current send rate.
	FillRate Rate
}

// ErrNotAfter is the Reason of a [WaitError] if the wait would end after [Request].NotAfter.
var ErrNotAfter = errors.New("ratelimit: the wait would end too late")

// WaitError is the error for a wait that a limiter refused or gave up.
type WaitError struct {
	// Wait describes that wait.
	Wait Wait
	// Reason is [context.DeadlineExceeded] if the wait would not leave [Request].AttemptTime before the
	// deadline of the context, [ErrNotAfter], or an error whose text says which limit of the [Request]
	// forbids the wait, or that the wait would never end: it is 292 years or more.
	Reason error
}

// Error says why the wait was refused, and then how long it would have been.
func (e *WaitError) Error() string {
	reason := fmt.Sprint(e.Reason)
	if e.Reason == context.DeadlineExceeded { //nolint:errorlint // the value itself
		reason = "ratelimit: the wait would leave too little time before the caller's deadline"
	}
	return fmt.Sprintf("%s: %v to wait, %d ahead, %.4g tokens/s", reason, e.Wait.Expected, e.Wait.Ahead, float64(e.Wait.FillRate))
}

// Unwrap returns the reason.
func (e *WaitError) Unwrap() error { return e.Reason }

// Response is the answer to an attempt.
type Response struct {
	// Sent is when the attempt was sent, as Acquire of the limiter returned it; zero means the time
	// of the response.
	Sent time.Time
	// Throttled is true if the answer is a throttle, and false for every other answer, including
	// other errors and throttles of a part of the scope.
	Throttled bool
	// PartThrottled is true if the answer is a throttle of only a part of the scope, such as one key of a
	// table.
	PartThrottled bool
	// Part is that of the [Request] of the attempt.
	Part bool
	// Cost is how many send tokens the attempt took, as in [Request]; zero or less means
	// one. The measured rate counts it, because it is compared with the send rate.
	Cost float64
}

// Change is what a response did to the send rate.
type Change struct {
	// From and To are the fill rates before and after.
	From, To Rate
	// Cut is true if the response was a throttle that cut the rate.
	Cut bool
	// Limited is true if attempts have to wait for tokens: from the first throttle on, or from the
	// start if there is a starting rate. Before that the rate is computed but holds back no
	// attempt.
	Limited bool
}
