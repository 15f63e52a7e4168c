package classify

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Codes says of what kind the errors with some codes are. KindNone says that a
// code means nothing, also where it would otherwise.
type Codes map[string]Kind

// Code returns the classifier of AWS error codes. It knows the throttling and the
// transient codes on which the AWS SDKs agree; more adds to them and changes them,
// and of two equal codes the later counts. A throttle by another sign stays one.
// Codes are compared without what the wire formats put around them, the namespace
// of com.amazon#Code and the address of Code:http://..., and otherwise as they are.
// Its name is "aws-code".
func Code(more ...Codes) Classifier {
	c := &codeClassifier{}
	if len(more) > 0 {
		c.more = Codes{}
	}
	for _, codes := range more {
		maps.Copy(c.more, codes)
	}
	return c
}

type codeClassifier struct{ more Codes }

func (*codeClassifier) Name() string       { return "aws-code" }
func (*codeClassifier) Priority() Priority { return CodePriority() }

func (c *codeClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (c *codeClassifier) judge(o *Outcome, f *facts) Verdict {
	if f.code == "" {
		return None()
	}
	kind, ok := KindNone, false
	if c.more != nil {
		kind, ok = c.more[f.code]
	}
	if !ok {
		kind = kindOfCode(f.code)
	}
	if kind == KindNone {
		return None()
	}
	return o.retryAs(kind)
}

// BareCode returns an error code without what the wire formats put around it: the
// namespace of com.amazon#Code and the address of Code:http://... . The classifiers
// of this package do that by themselves.
func BareCode(code string) string {
	if end := strings.IndexByte(code, ':'); end >= 0 {
		code = code[:end]
	}
	return code[strings.IndexByte(code, '#')+1:]
}

// kindOfCode holds the codes that the AWS SDKs agree on.
func kindOfCode(code string) Kind {
	switch code {
	case "BandwidthLimitExceeded",
		"EC2ThrottledException",
		"LimitExceededException",
		"PriorRequestNotComplete",
		"ProvisionedThroughputExceededException",
		"RequestLimitExceeded",
		"RequestThrottled",
		"RequestThrottledException",
		"SlowDown",
		"ThrottledException",
		"Throttling",
		"ThrottlingException",
		"TooManyRequestsException",
		"TransactionInProgressException":
		return Throttling
	case "RequestTimeout", "RequestTimeoutException":
		return Transient
	default:
		return KindNone
	}
}

// Status returns the classifier of HTTP status codes: the given ones are
// transient, but 429 is a throttle. Without any, they are 429, 500, 502, 503 and
// 504. Its name is "http-status".
func Status(codes ...int) Classifier { return &statusClassifier{slices.Clone(codes)} }

type statusClassifier struct{ codes []int }

func (*statusClassifier) Name() string       { return "http-status" }
func (*statusClassifier) Priority() Priority { return StatusPriority() }

func (c *statusClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (c *statusClassifier) judge(o *Outcome, f *facts) Verdict {
	switch {
	case !c.lists(f.status):
		return None()
	case f.status == 429:
		return RetryAs(Throttling)
	default:
		return o.retryAs(Transient)
	}
}

func (c *statusClassifier) lists(status int) bool {
	if len(c.codes) > 0 {
		return slices.Contains(c.codes, status)
	}
	switch status {
	case 429, 500, 502, 503, 504:
		return true
	default:
		return false
	}
}

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
