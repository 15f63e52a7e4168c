package classify

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
)

// The interfaces by which errors tell about themselves are found through any
// wrapping, that of errors.Join and of several %w included. Where several errors
// say the same kind of thing, the outermost that has something to say counts, and
// of joined ones the first.

// CodeError is an error with the code that a service gave it, as smithy-go's
// API errors have.
type CodeError interface {
	error
	ErrorCode() string
}

// StatusError is an error with the HTTP status of the answer, as smithy-go's
// response errors have. Zero counts as none.
type StatusError interface {
	error
	HTTPStatusCode() int
}

// RetryAfterError is an error with the time for which the server asked to wait.
// A negative time counts as none.
type RetryAfterError interface {
	error
	RetryAfter() (after time.Duration, ok bool)
}

// Safety is whether a request may be sent again after an error. Safe means
// allowed, not promised: attempts and quota limit it all the same.
type Safety uint8

// The answers.
const (
	// SafetyUnknown is that nobody knows. Such an error is retried only if the fault
	// is the server's, unless Traits is told otherwise.
	SafetyUnknown Safety = iota
	// SafetyYes is that the request may be sent again.
	SafetyYes
	// SafetyNo is that it must not be, whatever else is said.
	SafetyNo
)

// SafetyError is an error that says whether the request may be sent again. The
// RetryableError() bool of aws-sdk-go-v2 counts as SafetyYes or SafetyNo. A
// SafetyNo counts wherever it is wrapped, even below a SafetyYes.
type SafetyError interface {
	error
	RetrySafety() Safety
}

// ThrottlingError is an error that says whether it is a throttle.
type ThrottlingError interface {
	error
	Throttling() bool
}

// TimeoutError is an error that says whether it is a timeout, as net.Error does.
type TimeoutError interface {
	error
	Timeout() bool
}

// Fault is on whose side an error arose.
type Fault uint8

// The sides.
const (
	FaultUnknown Fault = iota
	FaultServer
	FaultClient
)

// FaultError is an error that says on whose side it arose. The ErrorFault method of
// smithy-go's API errors counts too, see Traits.
type FaultError interface {
	error
	Fault() Fault
}

// SkewError is an error with what is known of the clocks: used is the skew that was
// added to the time with which the request was signed, observed the one that
// CandidateSkew computed from the answer. It reports false if the answer showed
// none.
type SkewError interface {
	error
	ClockSkew() (used, observed time.Duration, ok bool)
}

// SkewedError puts the skews of an attempt around its error. It is a SkewError.
type SkewedError struct {
	// Used is the skew that was added to the time with which the request was signed.
	Used time.Duration
	// Observed is the skew between the client's clock and the server's.
	Observed time.Duration
	// Err is the error of the attempt.
	Err error
}

// Error returns the text of the error itself.
func (e *SkewedError) Error() string {
	if e.Err == nil {
		return "classify: the clocks differ"
	}
	return e.Err.Error()
}

// Unwrap returns the error itself.
func (e *SkewedError) Unwrap() error { return e.Err }

// ClockSkew returns both skews and true.
func (e *SkewedError) ClockSkew() (used, observed time.Duration, ok bool) {
	return e.Used, e.Observed, true
}

// saysServerFault reports whether the ErrorFault method of the first error that has
// one says that the fault is the server's; see Traits for why this takes reflection.
// A method that takes arguments, or returns anything but one fmt.Stringer, is
// another one.
func saysServerFault(err error) bool {
	for e := range errtree.All(err) {
		method := reflect.ValueOf(e).MethodByName("ErrorFault")
		if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
			continue
		}
		if fault, ok := reflect.TypeAssert[fmt.Stringer](method.Call(nil)[0]); ok {
			return strings.EqualFold(fault.String(), "server")
		}
	}
	return false
}
