package classify

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"syscall"
)

// Transport returns the classifier of failures without an answer: timeouts, and
// connections that were refused, reset or cut. What the caller ended itself, by
// cancelling or by its own deadline, is left alone, and so is a host that does
// not exist. A throttle stays a throttle, whatever happened to the connection.
// Its name is "transport".
func Transport() Classifier { return transportClassifier{} }

type transportClassifier struct{}

func (transportClassifier) Name() string { return "transport" }

func (transportClassifier) Classify(o Outcome) Verdict {
	if o.Previous.Kind() == Throttling || endedByCaller(o.Err) {
		return None()
	}
	if lookup, ok := errors.AsType[*net.DNSError](o.Err); ok {
		return ofLookup(lookup)
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](o.Err); ok && timeout.Timeout() {
		return RetryAs(Timeout)
	}
	if isConnectionFailure(o.Err) {
		return RetryAs(Transient)
	}
	return None()
}

func ofLookup(lookup *net.DNSError) Verdict {
	switch {
	case lookup.IsNotFound:
		return None()
	case lookup.IsTimeout:
		return RetryAs(Timeout)
	case lookup.IsTemporary:
		return RetryAs(Transient)
	default:
		return None()
	}
}

func isConnectionFailure(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	for _, cause := range [...]error{
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		net.ErrClosed, io.ErrUnexpectedEOF,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return closedBeforeAnswer(err)
}

// closedBeforeAnswer recognises how net/http says that the server closed the
// connection without an answer. A bare io.EOF is the end of a stream, no failure.
func closedBeforeAnswer(err error) bool {
	request, ok := errors.AsType[*url.Error](err)
	return ok && errors.Is(request.Err, io.EOF)
}

// endedByCaller looks for the context errors themselves: the timeouts of the
// net package say that they are context.DeadlineExceeded too, so errors.Is
// would take a slow server for a caller that gave up.
func endedByCaller(err error) bool {
	for err != nil {
		if err == context.Canceled || err == context.DeadlineExceeded { //nolint:errorlint // identity is the point, see above
			return true
		}
		switch wrapped := err.(type) { //nolint:errorlint // this is the walk that errors.Is would do
		case interface{ Unwrap() error }:
			err = wrapped.Unwrap()
		case interface{ Unwrap() []error }:
			return slices.ContainsFunc(wrapped.Unwrap(), endedByCaller)
		default:
			return false
		}
	}
	return false
}
