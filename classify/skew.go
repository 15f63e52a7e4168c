package classify

import (
	"math"
	"slices"
	"time"
)

// The limits of the clock-skew rules, as the SDKs have them.
const (
	// skewThreshold is by how much the clock of a signature has to be off before it
	// is taken for the reason of a refusal.
	skewThreshold = 4 * time.Minute
	// maxRoundTrip is how long an exchange may take for its middle to say when the
	// server answered.
	maxRoundTrip = 15 * time.Minute
)

// Skew returns the classifier of requests that were refused because the clock of
// their signature was off. An error with one of these codes, or of more, is
// retryable as ClockSkew only if it is a SkewError whose skews differ by more than
// four minutes: InvalidSignatureException, SignatureDoesNotMatch, AuthFailure,
// RequestTimeTooSkewed, AccessDeniedException. The difference counts in either
// direction, so that a skew that was right once is given up when the clock has been
// set. To sign the retry with the observed skew is for the caller. Its name is
// "clock-skew".
func Skew(more ...string) Classifier { return &skewClassifier{slices.Clone(more)} }

type skewClassifier struct{ more []string }

func (*skewClassifier) Name() string       { return "clock-skew" }
func (*skewClassifier) Priority() Priority { return SkewPriority() }

func (c *skewClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (c *skewClassifier) judge(o *Outcome, f *facts) Verdict {
	if !f.has(skewed) || !isSkewCode(f.code) && !slices.Contains(c.more, f.code) {
		return None()
	}
	if apart(f.used, f.observed) <= skewThreshold {
		return None()
	}
	return o.retryAs(ClockSkew)
}

// isSkewCode holds the codes of aws-sdk-go-v2 (aws/retry/middleware.go).
func isSkewCode(code string) bool {
	switch code {
	case "InvalidSignatureException",
		"SignatureDoesNotMatch",
		"AuthFailure",
		"RequestTimeTooSkewed",
		"AccessDeniedException":
		return true
	default:
		return false
	}
}

// apart returns the distance of two durations, at most the largest Duration.
func apart(a, b time.Duration) time.Duration {
	if a < b {
		a, b = b, a
	}
	if d := a - b; d >= 0 {
		return d
	}
	return math.MaxInt64
}

// CandidateSkew computes how far the server's clock is ahead of the client's, from
// the Date header of an answer and the client's times before the request and after
// the answer: Date minus the middle between the two. It reports false where that
// says nothing: the answer comes from a cache (it has an Age header), the exchange
// took more than fifteen minutes or less than nothing, or date is zero. A caller
// keeps a skew that it reports true for, whatever became of the request, and signs
// the next one with it.
func CandidateSkew(sent, received, date time.Time, cached bool) (skew time.Duration, ok bool) {
	trip := received.Sub(sent)
	if cached || date.IsZero() || trip < 0 || trip > maxRoundTrip {
		return 0, false
	}
	return date.Sub(sent.Add(trip / 2)), true
}
