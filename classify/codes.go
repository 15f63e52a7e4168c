package classify

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/awsretry/awsretry/internal/wire"
)

// Codes maps error codes to kinds. KindNone says that a code means nothing, even if it
// would without this entry.
type Codes map[string]Kind

// Code returns the classifier of AWS error codes, "aws-code". It knows the throttling and
// the transient codes on which the AWS SDKs agree. The codes in more add to these and
// override them; of two equal codes the later one wins. Codes must match exactly, apart
// from what wire formats add: the namespace of com.amazon#Code and the address of
// Code:http://.... An error that is a throttle by another sign stays a throttle.
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

func (*codeClassifier) Name() string { return "aws-code" }

func (c *codeClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (c *codeClassifier) opinion(o *Outcome, f *facts) Verdict {
	if f.code == "" {
		return Verdict{}
	}
	kind, ok := KindNone, false
	if c.more != nil {
		kind, ok = c.more[f.code]
	}
	if !ok {
		kind = kindOfCode(f.code)
	}
	if kind == KindNone {
		return Verdict{}
	}
	return o.retryAs(kind)
}

// kindOfCode has the codes on which the AWS SDKs agree.
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

// AWSCompatible returns the chain of [Default] for services that speak an AWS protocol but
// have their own codes, such as object stores and gateways. It also knows these throttles:
// ThrottledRequest, TooManyRequest, RateExceeded, RateLimitExceeded, SlowDownRead,
// SlowDownWrite; and these transient errors:
// InternalError, InternalFailure, ServiceUnavailable. Default already takes status 429 for
// a throttle.
func AWSCompatible() *Chain {
	return chainWith(Code(Codes{
		"ThrottledRequest":   Throttling,
		"TooManyRequest":     Throttling,
		"RateExceeded":       Throttling,
		"RateLimitExceeded":  Throttling,
		"SlowDownRead":       Throttling,
		"SlowDownWrite":      Throttling,
		"InternalError":      Transient,
		"InternalFailure":    Transient,
		"ServiceUnavailable": Transient,
	}))
}

// Status returns the classifier of HTTP statuses, "http-status". The given statuses are
// transient, but 429 is a throttle, except with the code of a hard quota, see [HardQuotas].
// Without arguments, the statuses are 429, 500, 502, 503 and 504, on which the AWS SDKs agree, and 520 to 524, 529 and
// 530 of proxies and services that the SDKs do not meet.
func Status(codes ...int) Classifier { return &statusClassifier{slices.Clone(codes)} }

type statusClassifier struct{ codes []int }

func (*statusClassifier) Name() string { return "http-status" }

func (c *statusClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (c *statusClassifier) opinion(o *Outcome, f *facts) Verdict {
	switch {
	case !c.lists(f.status):
		return Verdict{}
	case f.status == 429 && f.isHardQuota(o):
		return Verdict{}
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
	case 520, 521, 522, 523, 524, 530:
		// Cloudflare, when the service behind it answers nothing it understands, refuses, cannot be reached or is late, or
		// its name or tunnel cannot be found: pages "error-520" to "error-530" below
		// developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors. Its answers in JSON call
		// 520 to 524 and a missing tunnel retryable; 525 and 526, a handshake that fails and a bad certificate, not.
		return true
	case 529:
		// A service with too many requests of all its clients: the error overloaded_error of Anthropic and Amazon Bedrock.
		return true
	default:
		// Also 425 (RFC 8470), which is for requests in early data of TLS. net/http sends none.
		return false
	}
}

// The limits of the rules for clocks, as in the AWS SDKs.
const (
	// skewThreshold is the clock difference above which the clock counts as the reason for a
	// refused signature.
	skewThreshold = 4 * time.Minute
	// maxRoundTrip is the longest exchange whose middle says when the server answered.
	maxRoundTrip = 15 * time.Minute
)

// Skew returns the classifier of requests that were refused because the client's clock was
// off, "clock-skew". It retries an error as [ClockSkew] if its method ClockSkew returns two
// skews that differ by more than four minutes and its code is InvalidSignatureException,
// SignatureDoesNotMatch, AuthFailure, RequestTimeTooSkewed, AccessDeniedException, or one
// of more. The difference counts in either direction, so an old skew is dropped after the
// clock has been set. The caller must sign the retry with the observed skew, see
// [CandidateSkew].
func Skew(more ...string) Classifier { return &skewClassifier{slices.Clone(more)} }

type skewClassifier struct{ more []string }

func (*skewClassifier) Name() string { return "clock-skew" }

func (c *skewClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (c *skewClassifier) opinion(o *Outcome, f *facts) Verdict {
	if !f.has(skewed) || !isSkewCode(f.code) && !slices.Contains(c.more, f.code) {
		return Verdict{}
	}
	if apart(f.used, f.observed) <= skewThreshold {
		return Verdict{}
	}
	return o.retryAs(ClockSkew)
}

// isSkewCode has the codes of aws-sdk-go-v2 (aws/retry/middleware.go).
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

// CandidateSkew returns how far the clock of the server is ahead of the client's: date
// minus the middle between sent and received. date is the Date header of the answer; sent
// and received are the times of the client before the request and after the answer. It
// reports false if these say nothing: the answer comes from a cache (it has an Age header),
// the exchange took more than fifteen minutes or a negative time, or date is zero. If it
// reports true, a client keeps the skew, even if the request failed, and signs the next
// request with it.
func CandidateSkew(sent, received, date time.Time, cached bool) (skew time.Duration, ok bool) {
	trip := received.Sub(sent)
	if cached || date.IsZero() || trip < 0 || trip > maxRoundTrip {
		return 0, false
	}
	return date.Sub(sent.Add(trip / 2)), true
}

// ParseRetryAfterMillis reads the value of an x-amz-retry-after header: whole milliseconds
// in decimal digits that fit an int64. It reports false for anything else, including a
// negative number. A number too large for a Duration becomes the largest one.
func ParseRetryAfterMillis(value string) (after time.Duration, ok bool) {
	return wire.RetryAfterMillis(value)
}
