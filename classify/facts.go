package classify

import (
	"net"
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
