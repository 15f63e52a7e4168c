package classify

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
)

// Modeled returns the classifier of errors that the models of AWS services mark as
// retryable and that neither their code nor their status gives away; the clients of
// aws-sdk-go-v2 do not carry the mark. The service is that of the Outcome or, if
// there is none, of an error with a method Service() string, as smithy-go's
// operation errors have. Case, spaces, dashes and underscores in it do not matter.
// Some marks look odd, such as one for an AccessDeniedException; Chain.Without
// removes the classifier by its name, "modeled".
//
// The table comes from the models in botocore, see modeled_table.go.
func Modeled() Classifier { return &modeledClassifier{} }

type modeledClassifier struct{}

func (*modeledClassifier) Name() string       { return "modeled" }
func (*modeledClassifier) Priority() Priority { return ModeledPriority() }

func (c *modeledClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (*modeledClassifier) judge(o *Outcome, f *facts) Verdict {
	services := modeledIn(f.code)
	if services == "" {
		return None()
	}
	service := o.Service
	if service == "" {
		service = serviceOf(o.Err)
	}
	if kind := kindIn(services, service); kind != KindNone {
		return o.retryAs(kind)
	}
	return None()
}

// kindIn returns the kind of an error in a service, of which modeledIn returned the
// services.
func kindIn(services, service string) Kind {
	for entry := range strings.SplitSeq(services, "|") {
		name, throttle := strings.CutSuffix(entry, "*")
		switch {
		case !sameService(name, service):
		case throttle:
			return Throttling
		default:
			return Transient
		}
	}
	return KindNone
}

func serviceOf(err error) string {
	for e := range errtree.All(err) {
		if e, ok := e.(interface{ Service() string }); ok && e.Service() != "" {
			return e.Service()
		}
	}
	return ""
}

// sameService compares the ids of two services as endpoints, clients and models
// spell them.
func sameService(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, " -_"), strings.TrimLeft(b, " -_")
		if a == "" || b == "" {
			return a == b
		}
		if lower(a[0]) != lower(b[0]) {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// UnknownSafety is what becomes of errors that say of themselves that nobody knows
// whether their request may be sent again.
type UnknownSafety uint8

const (
	// UnknownOnServerFault retries them if the fault is the server's: the error says
	// so, or its HTTP status is 500 or above. It forbids all others.
	UnknownOnServerFault UnknownSafety = iota
	// UnknownRetried leaves them to the other classifiers.
	UnknownRetried
)

// Traits returns the classifier of what errors say about themselves; it is above
// the other built-in ones, because whoever made the error knows more than its
// signs tell:
//
//   - a SafetyError that says no is forbidden, whatever else is said;
//   - one that says unknown is treated as unknown says;
//   - a ThrottlingError that says so is a throttle;
//   - one that says yes keeps the kind that other signs gave it; without one it is
//     Server or Client if it is a FaultError that says so, else Transient;
//   - a fault of the server of which nobody else had an opinion is retried as
//     Server.
//
// The fault is that of a FaultError. For an error that has an error code and no HTTP
// status it can also be that of an ErrorFault method, as smithy-go's API errors
// have. Its result is of a type of smithy-go, so that no interface can name the
// method without importing that type. It is called by reflection, which allocates,
// and its result counts if its String method returns "server". An error with an HTTP
// status is not asked: there the status tells, and Status decides. Its name is
// "traits".
func Traits(unknown UnknownSafety) Classifier { return &traitsClassifier{unknown} }

type traitsClassifier struct{ unknown UnknownSafety }

func (*traitsClassifier) Name() string       { return "traits" }
func (*traitsClassifier) Priority() Priority { return TraitsPriority() }

func (c *traitsClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (c *traitsClassifier) judge(o *Outcome, f *facts) Verdict {
	if f.has(safetySaid) {
		switch {
		case f.safety == SafetyNo:
			return Forbidden()
		case f.safety == SafetyUnknown && c.unknown == UnknownOnServerFault && !f.isServerFault(o.Err):
			return Forbidden()
		}
	}
	switch {
	case f.has(throttled):
		return RetryAs(Throttling)
	case o.Previous.action == Retry || f.has(endedByCaller):
		return None()
	case f.safety == SafetyYes:
		return RetryAs(f.kindOfSafe())
	case f.faultOf(o.Err) == FaultServer || f.has(safetySaid) && f.isServerFault(o.Err):
		return RetryAs(Server)
	default:
		return None()
	}
}

// kindOfSafe is the kind of an error of which nothing is known but that it may be
// retried, and perhaps on whose side it arose. aws-sdk-go-v2 says RetryableError of
// a refused signature once it has found that the clock was off.
func (f *facts) kindOfSafe() Kind {
	switch {
	case f.has(retryableSaid) && isSkewCode(f.code):
		return ClockSkew
	case f.fault == FaultServer:
		return Server
	case f.fault == FaultClient:
		return Client
	default:
		return Transient
	}
}

// isServerFault reports whether the error says that the fault is the server's, or
// its status does where it says nothing.
func (f *facts) isServerFault(err error) bool {
	if fault := f.faultOf(err); fault != FaultUnknown {
		return fault == FaultServer
	}
	return f.status >= 500
}

func (f *facts) faultOf(err error) Fault {
	if f.fault == FaultUnknown && f.code != "" && f.status == 0 && saysServerFault(err) {
		return FaultServer
	}
	return f.fault
}

// ParseRetryAfterMillis reads the value of an x-amz-retry-after header: whole
// milliseconds, in decimal digits that fit an int64. It reports false for anything
// else, a negative number included. A number too large for a Duration becomes the
// largest one.
func ParseRetryAfterMillis(value string) (after time.Duration, ok bool) {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	millis, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, false
	}
	if millis > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64, true
	}
	return time.Duration(millis) * time.Millisecond, true
}

// AWSCompatible returns the default chain for services that speak a protocol of AWS
// and have codes of their own: object stores and gateways. Besides what Default
// knows, these are throttles: Throttled, ThrottledRequest, TooManyRequest,
// TooManyRequests, RateExceeded, RateLimitExceeded, SlowDownRead, SlowDownWrite; and
// these are transient: InternalError, InternalFailure, ServiceUnavailable. A
// throttle that only shows in its status, 429, is one for Default too.
func AWSCompatible() *Chain {
	return Default().Replace(Code(Codes{
		"Throttled":          Throttling,
		"ThrottledRequest":   Throttling,
		"TooManyRequest":     Throttling,
		"TooManyRequests":    Throttling,
		"RateExceeded":       Throttling,
		"RateLimitExceeded":  Throttling,
		"SlowDownRead":       Throttling,
		"SlowDownWrite":      Throttling,
		"InternalError":      Transient,
		"InternalFailure":    Transient,
		"ServiceUnavailable": Transient,
	}))
}
