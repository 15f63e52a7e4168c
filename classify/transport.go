package classify

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
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
	if _, ok := find(o.Err, func(e timeoutError) bool { return e.Timeout() }); ok {
		return RetryAs(Timeout)
	}
	if isConnectionFailure(o.Err) {
		return RetryAs(Transient)
	}
	return None()
}

type timeoutError interface {
	error
	Timeout() bool
}

type temporaryError interface {
	error
	Temporary() bool
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
	if _, ok := find(err, func(e *net.OpError) bool { return e.Op == "dial" }); ok {
		return true
	}
	if _, ok := find(err, func(e temporaryError) bool { return e.Temporary() }); ok {
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
	return closedBeforeAnswer(err) || isRefusedStream(err)
}

// closedBeforeAnswer recognises how net/http says that the server closed the
// connection without an answer. A bare io.EOF is the end of a stream, no failure.
func closedBeforeAnswer(err error) bool {
	_, ok := find(err, func(e *url.Error) bool { return errors.Is(e.Err, io.EOF) })
	return ok
}

// endedByCaller looks for the end of a deadline by identity: the timeouts of the
// net package say that they are context.DeadlineExceeded too, so errors.Is would
// take a slow server for a caller that gave up.
func endedByCaller(err error) bool {
	if errors.Is(err, context.Canceled) {
		return true
	}
	_, ok := find(err, func(e error) bool { return e == context.DeadlineExceeded }) //nolint:errorlint // see above
	return ok
}
