package classify

import (
	"net"
	"time"

	"github.com/awsretry/awsretry/internal/wire"
)

// facts has what an error and all that it wraps say, read in one pass for all built-in
// classifiers. If several errors say the same sort of thing, the outermost one that has
// something to say counts, and of joined errors the first one.
type facts struct {
	code     string // without what the wire adds
	status   int
	after    time.Duration // if hinted
	used     time.Duration // if skewed, and so is observed
	observed time.Duration
	sqlState string
	lookup   *net.DNSError
	reasons  []Reason // of a throttle
	judged   *JudgedError
	said     facet
	count    uint16 // of the errors that were read
	safety   safety
	fault    fault
	gone     bool // the context of the operation has ended
	forked   bool // the walk is below several errors
}

// facet is one thing that an error may say.
type facet uint16

const (
	hinted              facet = 1 << iota // how long to wait
	skewed                                // what the clocks show
	retryableSaid                         // by RetryableError, whether the request may be sent again
	throttled                             // that it is a throttle
	timedOut                              // that it is a timeout
	disconnected                          // that the connection failed
	endedByCaller                         // that the caller gave up
	sendFailed                            // that the request could not be sent, and not because the caller gave up
	silent                                // nothing but its text
	saysCanceled                          // of itself that it was canceled
	ofEntry                               // that it is about one entry of a batch
	hintedInFull                          // that the wait of the hint must not be shorter
	canceledByThrottles                   // that nothing but throttles of its entries has caused it
	comparing                             // what it is equal to
	unsent                                // that nothing was sent
)

// safety is whether a request may be sent again.
type safety uint8

const (
	safetyUnsaid safety = iota
	safetyUnknown
	safetyYes
	safetyNo
)

// fault is whose fault a failure is.
type fault uint8

const (
	faultUnknown fault = iota
	faultServer
	faultClient
)

func (f *facts) has(x facet) bool { return f.said&x != 0 }

// saysMore reports whether the error says more than a status, a code and a hint. One with a code and
// without a status may, see [Traits].
func (f *facts) saysMore() bool {
	return f.said&^(hinted|hintedInFull|ofEntry) != 0 || f.lookup != nil || f.sqlState != "" || f.safety != safetyUnsaid || f.fault != faultUnknown ||
		f.code != "" && f.status == 0
}

// complete adds the hint of the error to a retry without one. To a throttle it adds the reach of its
// reasons, and whether it is a hard quota.
func (f *facts) complete(v Verdict, o *Outcome) Verdict {
	if v.action == actionRetry && v.flags&withHint == 0 && f.has(hinted) {
		v = v.WithHint(f.after)
		if f.has(hintedInFull) {
			v.flags |= hintInFull
		}
	}
	if v.kind == Throttling {
		if len(f.reasons) > 0 {
			v.reach = widestOf(f.reasons)
		}
		if f.isHardQuota(o) {
			v.flags |= ofHardQuota
		}
	}
	return v
}

// What errors may say; the package comment has the table.
type (
	codeError       interface{ ErrorCode() string }
	statusError     interface{ HTTPStatusCode() int }
	hintError       interface{ RetryAfter() (time.Duration, bool) }
	fullHintError   interface{ RetryAfterInFull() bool }
	safetyError     interface{ RetrySafe() (safe, known bool) }
	retryableError  interface{ RetryableError() bool }
	throttlingError interface{ Throttling() bool }
	reasonedError   interface{ ThrottledBy() []Reason }
	timeoutError    interface{ Timeout() bool }
	faultError      interface{ ServerFault() bool }
	entryError      interface{ BatchEntry() } // see wire.EntryError
	sqlStateError   interface{ SQLState() string }
	unsentError     interface{ SafeToRetry() bool }
	skewError       interface {
		ClockSkew() (used, observed time.Duration, ok bool)
	}
	temporaryError  interface{ Temporary() bool }
	connectionError interface{ ConnectionError() bool }
	canceledError   interface{ CanceledError() bool }
	comparingError  interface{ Is(target error) bool }
)

type (
	wrapper interface{ Unwrap() error }
	joined  interface{ Unwrap() []error }
)

// read reads what an error and all that it wraps say, at most wire.MaxErrors errors. A switch
// over interfaces costs one type lookup, however many cases it has. So types that say more
// than a status, a code and a hint come first, and only they cost a lookup for each thing
// that they may say. The later cases have nothing else to say. What was read before an
// error that panics counts.
//
//nolint:errorlint // this is the walk itself
func (f *facts) read(err error) {
	defer func() { _ = recover() }() // of an error that panics, see wire.Find
	for err != nil && f.count < wire.MaxErrors {
		f.count++
		if inner, known := f.readKnown(err); known {
			err = inner
			continue
		}
		switch e := err.(type) {
		case timeoutError, temporaryError, connectionError, canceledError, comparingError,
			safetyError, retryableError, throttlingError, reasonedError, faultError, skewError, entryError, sqlStateError, unsentError:
			f.listen(err)
		case interface {
			codeError
			statusError
			hintError
		}:
			f.addCode(e.ErrorCode())
			f.addStatus(e.HTTPStatusCode())
			f.addHint(e)
		case interface {
			statusError
			hintError
		}:
			f.addStatus(e.HTTPStatusCode())
			f.addHint(e)
		case interface {
			codeError
			hintError
		}:
			f.addCode(e.ErrorCode())
			f.addHint(e)
		case hintError:
			f.addHint(e)
		case interface {
			codeError
			statusError
		}:
			f.addCode(e.ErrorCode())
			f.addStatus(e.HTTPStatusCode())
		case codeError:
			f.addCode(e.ErrorCode())
		case statusError:
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
	f.forked = true
	for _, err := range errs {
		switch {
		case f.count >= wire.MaxErrors:
			return
		case err == nil:
			f.count++
		default:
			f.read(err)
		}
	}
}

// addJudged keeps the outermost JudgedError that is not one of several errors, and drops
// the hints of what wraps it.
func (f *facts) addJudged(e *JudgedError) {
	if f.judged == nil && !f.forked {
		f.judged, f.said = e, f.said&^(hinted|hintedInFull)
	}
}

func (f *facts) addCode(code string) {
	if f.code == "" && code != "" {
		f.code = wire.BareCode(code)
	}
}

func (f *facts) addStatus(status int) {
	if f.status == 0 {
		f.status = status
	}
}

func (f *facts) addHint(e hintError) {
	after, ok := e.RetryAfter()
	if !ok || after < 0 || f.has(hinted) {
		return
	}
	f.said, f.after = f.said|hinted, after
	if e, ok := e.(fullHintError); ok {
		f.addIf(hintedInFull, e.RetryAfterInFull())
	}
}

// listen reads everything that one error says, but not what it wraps.
func (f *facts) listen(err error) {
	if e, ok := err.(codeError); ok {
		f.addCode(e.ErrorCode())
	}
	if e, ok := err.(statusError); ok {
		f.addStatus(e.HTTPStatusCode())
	}
	if e, ok := err.(hintError); ok {
		f.addHint(e)
	}
	if e, ok := err.(throttlingError); ok {
		f.addIf(throttled, e.Throttling())
	}
	if e, ok := err.(reasonedError); ok && len(f.reasons) == 0 {
		f.reasons = e.ThrottledBy()
	}
	if e, ok := err.(skewError); ok {
		f.addSkew(e.ClockSkew())
	}
	if _, ok := err.(entryError); ok {
		f.said |= ofEntry
	}
	if e, ok := err.(faultError); ok && f.fault == faultUnknown {
		f.fault = faultClient
		if e.ServerFault() {
			f.fault = faultServer
		}
	}
	if e, ok := err.(sqlStateError); ok && f.sqlState == "" {
		f.sqlState = e.SQLState()
	}
	if e, ok := err.(unsentError); ok {
		f.addIf(unsent, e.SafeToRetry())
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

func (f *facts) listenSafety(err error) {
	if e, ok := err.(safetyError); ok {
		f.addSafety(e.RetrySafe())
	}
	if e, ok := err.(retryableError); ok {
		f.said |= retryableSaid
		f.addSafety(e.RetryableError(), true)
	}
}

// addSafety keeps the first answer, but a no always counts.
func (f *facts) addSafety(safe, known bool) {
	switch {
	case known && !safe:
		f.safety = safetyNo
	case f.safety != safetyUnsaid:
	case known:
		f.safety = safetyYes
	default:
		f.safety = safetyUnknown
	}
}
