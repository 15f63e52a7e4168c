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

	"github.com/awsretry/awsretry/internal/errtree"
)

// facts is what an error and all that it wraps say, read in one pass for all
// built-in classifiers.
type facts struct {
	code     string // without what the wire adds
	status   int
	after    time.Duration // if hinted
	used     time.Duration // if skewed, and so is observed
	observed time.Duration
	lookup   *net.DNSError
	safety   Safety // if safetySaid
	fault    Fault
	said     facet
	count    uint16 // how many errors have been looked at
}

// facet is one thing that an error may say.
type facet uint16

const (
	hinted        facet = 1 << iota // how long to wait
	skewed                          // what the clocks show
	safetySaid                      // whether the request may be sent again
	retryableSaid                   // the same, in the words of aws-sdk-go-v2
	throttled                       // that it is a throttle
	timedOut                        // that it is a timeout
	disconnected                    // that the connection failed
	endedByCaller                   // that the caller gave up
	untrusted                       // that the certificate of the server is no good
	silent                          // nothing but its text
)

func (f *facts) has(x facet) bool { return f.said&x != 0 }

// hint adds the hint of the error to a verdict that is a retry without one.
func (f *facts) hint(v Verdict) Verdict {
	if v.action == Retry && !v.hinted && f.has(hinted) {
		v.hinted, v.hint = true, f.after
	}
	return v
}

type (
	wrapper interface{ Unwrap() error }
	joined  interface{ Unwrap() []error }
)

// read takes in what an error and all that it wraps say. A switch over interfaces
// is one look at the type, whatever the number of its cases. So the types that
// have more to say than a status, a code and a hint come first, and only they cost
// a look for each of the things that they may say; the later cases can be sure that
// there is nothing else. It looks at errtree.Max of them.
//
//nolint:errorlint // this is the walk itself
func (f *facts) read(err error) {
	for err != nil && f.count < errtree.Max {
		f.count++
		if inner, known := f.readStandard(err); known {
			err = inner
			continue
		}
		switch e := err.(type) {
		case TimeoutError, temporaryError, connectionError, canceledError, comparingError,
			SafetyError, retryableError, ThrottlingError, FaultError, SkewError,
			certificateError, authorityError, hostnameError, invalidError, rootsError:
			f.listen(err)
		case interface {
			CodeError
			StatusError
			RetryAfterError
		}:
			f.addCode(e.ErrorCode())
			f.addStatus(e.HTTPStatusCode())
			f.addHint(e.RetryAfter())
		case interface {
			StatusError
			RetryAfterError
		}:
			f.addStatus(e.HTTPStatusCode())
			f.addHint(e.RetryAfter())
		case interface {
			CodeError
			RetryAfterError
		}:
			f.addCode(e.ErrorCode())
			f.addHint(e.RetryAfter())
		case RetryAfterError:
			f.addHint(e.RetryAfter())
		case interface {
			CodeError
			StatusError
		}:
			f.addCode(e.ErrorCode())
			f.addStatus(e.HTTPStatusCode())
		case CodeError:
			f.addCode(e.ErrorCode())
		case StatusError:
			f.addStatus(e.HTTPStatusCode())
		case wrapper:
			err = e.Unwrap()
			continue
		case joined:
			f.readAll(e.Unwrap())
			return
		default:
			f.readSilent(err)
			return
		}
		switch e := err.(type) {
		case wrapper:
			err = e.Unwrap()
		case joined:
			f.readAll(e.Unwrap())
			return
		default:
			return
		}
	}
}

func (f *facts) readAll(errs []error) {
	for _, err := range errs {
		switch {
		case f.count >= errtree.Max:
			return
		case err == nil:
			f.count++
		default:
			f.read(err)
		}
	}
}

func (f *facts) addCode(code string) {
	if f.code == "" {
		f.code = BareCode(code)
	}
}

func (f *facts) addStatus(status int) {
	if f.status == 0 {
		f.status = status
	}
}

func (f *facts) addHint(after time.Duration, ok bool) {
	if ok && after >= 0 && !f.has(hinted) {
		f.said, f.after = f.said|hinted, after
	}
}

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
