package classify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/textproto"
	"syscall"
	"time"
)

// What errors of the standard library and of aws-sdk-go-v2 say besides.
type (
	temporaryError  interface{ Temporary() bool }
	connectionError interface{ ConnectionError() bool }
	canceledError   interface{ CanceledError() bool }
	retryableError  interface{ RetryableError() bool }
	comparingError  interface{ Is(target error) bool }

	certificateError = *tls.CertificateVerificationError
	authorityError   = x509.UnknownAuthorityError
	hostnameError    = x509.HostnameError
	invalidError     = x509.CertificateInvalidError
	rootsError       = x509.SystemRootsError
)

// listen takes in everything that one error says, without what it wraps.
//
//nolint:errorlint // one error of the walk
func (f *facts) listen(err error) {
	if e, ok := err.(CodeError); ok {
		f.addCode(e.ErrorCode())
	}
	if e, ok := err.(StatusError); ok {
		f.addStatus(e.HTTPStatusCode())
	}
	if e, ok := err.(RetryAfterError); ok {
		f.addHint(e.RetryAfter())
	}
	if e, ok := err.(ThrottlingError); ok {
		f.addIf(throttled, e.Throttling())
	}
	if e, ok := err.(SkewError); ok {
		f.addSkew(e.ClockSkew())
	}
	if e, ok := err.(FaultError); ok && f.fault == FaultUnknown {
		f.fault = e.Fault()
	}
	f.listenSafety(err)
	f.listenTransport(err)
}

func (f *facts) addIf(x facet, said bool) {
	if said {
		f.said |= x
	}
}

func (f *facts) addSkew(used, observed time.Duration, ok bool) {
	if ok && !f.has(skewed) {
		f.said, f.used, f.observed = f.said|skewed, used, observed
	}
}

//nolint:errorlint // one error of the walk
func (f *facts) listenSafety(err error) {
	if e, ok := err.(SafetyError); ok {
		f.addSafety(e.RetrySafety())
	}
	if e, ok := err.(retryableError); ok {
		f.said |= retryableSaid
		if e.RetryableError() {
			f.addSafety(SafetyYes)
		} else {
			f.addSafety(SafetyNo)
		}
	}
}

func (f *facts) addSafety(s Safety) {
	if s == SafetyNo || !f.has(safetySaid) {
		f.said, f.safety = f.said|safetySaid, s
	}
}

//nolint:errorlint // one error of the walk
func (f *facts) listenTransport(err error) {
	switch e := err.(type) {
	case *net.DNSError:
		if f.lookup == nil {
			f.lookup = e
		}
	case certificateError, authorityError, hostnameError, invalidError, rootsError:
		f.said |= untrusted
	}
	if e, ok := err.(comparingError); ok {
		f.compare(err, e)
	}
	// The timeouts of the net package say that they are context.DeadlineExceeded too.
	// So that one is known by its identity only, or a slow server would count as a
	// caller that gave up.
	f.addIf(endedByCaller, err == context.DeadlineExceeded)
	f.addIf(disconnected, err == net.ErrClosed)
	if e, ok := err.(canceledError); ok {
		f.addIf(endedByCaller, e.CanceledError())
	}
	if e, ok := err.(TimeoutError); ok {
		f.addIf(timedOut, e.Timeout())
	}
	if e, ok := err.(temporaryError); ok {
		f.addIf(disconnected, e.Temporary())
	}
	if e, ok := err.(connectionError); ok {
		f.addIf(disconnected, e.ConnectionError())
	}
}

// readSilent takes in an error that says nothing and wraps nothing.
//
//nolint:errorlint // one error of the walk
func (f *facts) readSilent(err error) {
	if _, cut := err.(textproto.ProtocolError); cut {
		// Header lines that are none: most often the answer ended in the middle of one.
		f.said |= disconnected
		return
	}
	switch err {
	case context.Canceled:
		f.said |= endedByCaller
	case io.ErrUnexpectedEOF:
		f.said |= disconnected
	default:
		f.said |= silent
	}
}

// compare asks an error that is equal to others which of them it is. The error of a
// system call is one of these.
//
//nolint:errorlint // one error of the walk
func (f *facts) compare(err error, e comparingError) {
	f.addIf(endedByCaller, e.Is(context.Canceled))
	for _, cause := range [...]error{
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		net.ErrClosed, io.ErrUnexpectedEOF,
	} {
		f.addIf(disconnected, err == cause || e.Is(cause))
	}
}
