package classify

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/awsretry/awsretry/internal/wire"
)

// Traits returns the classifier "traits", which reads what errors say about themselves. It
// comes last in [Default], because an error's methods say more than its code or status. The
// package comment lists the methods.
//
//   - RetrySafe or RetryableError says that the request must not be sent again: the
//     retry is forbidden.
//   - RetrySafe says that this is not known: the retry is forbidden, unless the fault
//     is the server's. With retryUnknown the other classifiers decide instead.
//   - Throttling says that the failure is a throttle: it is one.
//   - RetrySafe or RetryableError says that the request may be sent again: the error
//     keeps the kind that other signs gave it. Without one it is [Server] or [Client]
//     if ServerFault says whose fault it is, else [Transient].
//   - The fault is the server's, and no other classifier has an opinion: the error is
//     retried as [Server].
//
// The fault is the server's if ServerFault says so. For an error with RetrySafe but without
// ServerFault, an HTTP status of 500 or more says so too. For an error with an error code
// but no HTTP status, the ErrorFault method of smithy-go's API errors counts. Its result
// has a smithy-go type, so no interface can name the method without importing that module.
// Traits calls it by reflection, which allocates, and its result counts if its String
// method returns "server". For an error with an HTTP status Traits does not call it:
// [Status] decides by the status.
func Traits(retryUnknown bool) Classifier { return &traitsClassifier{retryUnknown} }

type traitsClassifier struct{ retryUnknown bool }

func (*traitsClassifier) Name() string { return "traits" }

func (c *traitsClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (c *traitsClassifier) opinion(o *Outcome, f *facts) Verdict {
	switch {
	case f.safety == safetyNo, f.safety == safetyUnknown && !c.retryUnknown && !f.isServerFault(o.Err):
		return Forbidden()
	case f.has(throttled):
		return RetryAs(Throttling)
	case o.Previous.action == actionRetry || f.has(endedByCaller):
		return Verdict{}
	case f.safety == safetyYes:
		return RetryAs(f.kindOfSafe())
	case f.faultOf(o.Err) == faultServer || f.safety == safetyUnknown && f.isServerFault(o.Err):
		return RetryAs(Server)
	default:
		return Verdict{}
	}
}

// kindOfSafe is the kind of an error that only says that it may be retried, and perhaps
// whose fault it is. aws-sdk-go-v2 gives a refused signature the method RetryableError once
// it has found that the clock was off.
func (f *facts) kindOfSafe() Kind {
	switch {
	case f.has(retryableSaid) && isSkewCode(f.code):
		return ClockSkew
	case f.fault == faultServer:
		return Server
	case f.fault == faultClient:
		return Client
	default:
		return Transient
	}
}

// isServerFault reports whether the error says that the fault is the server's. If the error
// does not say, its status does.
func (f *facts) isServerFault(err error) bool {
	if fault := f.faultOf(err); fault != faultUnknown {
		return fault == faultServer
	}
	return f.status >= 500
}

func (f *facts) faultOf(err error) fault {
	if f.fault == faultUnknown && f.code != "" && f.status == 0 && saysServerFault(err) {
		return faultServer
	}
	return f.fault
}

// saysServerFault reports whether the ErrorFault method of the first error that has one
// says that the fault is the server's; [Traits] says why this takes reflection. A method
// that takes arguments, or returns anything but one fmt.Stringer, does not count.
func saysServerFault(err error) (says bool) {
	wire.Find(err, func(e error) bool {
		method := reflect.ValueOf(e).MethodByName("ErrorFault")
		if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
			return false
		}
		fault, ok := reflect.TypeAssert[fmt.Stringer](method.Call(nil)[0])
		says = ok && strings.EqualFold(fault.String(), "server")
		return ok
	})
	return says
}
