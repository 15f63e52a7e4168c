package retry

import (
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errcode"
	"github.com/awsretry/awsretry/internal/errtree"
)

// Event is one thing that happened. The fields that its kind does not set are zero.
type Event struct {
	Kind EventKind
	// Time is when it happened, on the strategy's clock.
	Time time.Time
	// OperationID is the same in all events of one operation. Operations of one strategy never
	// share it. Each strategy counts from a random number, so those of different strategies share
	// it hardly ever.
	OperationID uint64
	// Operation is the operation that caused the event.
	Operation Operation
	// Scope is the scope that the event is about. Operations that found no place for a scope
	// of their own have the key of [OverflowKey].
	Scope ScopeKey
	// Attempt is the number of the attempt that ended or waits, from 1; for OperationEnded the
	// number of attempts that were made, which can be 0.
	Attempt int
	// MaxAttempts is how many attempts all nested loops together may make.
	MaxAttempts int
	// Err is the error of the attempt or of the wait, or what SettingIgnored has to say.
	Err error
	// Verdict is what the classifiers said of Err.
	Verdict classify.Verdict
	// Delay is the backoff before the next attempt, or a wait for the send rate.
	Delay time.Duration
	// Reason is why a retry was refused, such as [ErrQuotaExhausted], and why an operation ended
	// without success. Where a rule stops a retry that the classifiers ask for, [errors.Is] finds
	// [ErrNotRetryable] and the rule. An operation has the reason [ErrAborted] if its attempt did
	// not return. If its loop gave up although the strategy had not refused a retry, the reason is
	// [ErrCanceled] if the context has ended, and otherwise [ErrNotRetryable].
	Reason error
	// Elapsed is how long the attempt took, without any wait; for OperationEnded how long the
	// operation took, from its first token to its end. BackoffWait, QuotaWait and SendWait are
	// the parts of it in which the operation waited for the backoff, for retry quota and for the
	// send rate. What is left of Elapsed is the time of the attempts. Time that a loop lets pass
	// between two calls of the strategy counts as backoff after a retry was granted.
	Elapsed, BackoffWait, QuotaWait, SendWait time.Duration
	// EntriesThrottled is how many of the Entries of a batch were throttled inside of an answer that is a
	// success, for AttemptEnded; see [Token.WithEntries]. Both are zero where none was.
	EntriesThrottled, Entries int
	// Quota is how many tokens are left in the retry quota of the scope: after the charge
	// for a retry, and after the refund for a success.
	Quota int
	// Pool is how many tokens are left in the pool, which pays for a retry that the quota of the
	// scope refuses. It is 0 in the scope of the strategy as a whole, which does not use it.
	Pool int
	// Rate and RateBefore are send rates, in attempts per second; with a SendCost in tokens.
	Rate, RateBefore float64
	// Waiting is how many callers wait in front.
	Waiting int
	// Scopes are the three scopes that were throttled last, that of Operation at the end. No
	// other event shares the slice.
	Scopes []ScopeKey
}

// Outcome returns a word for how an operation ended, or for why a retry was refused: "success",
// "attempts", "quota", "deadline", "max_elapsed", "send_rate", "canceled", "not_retryable",
// "rule" where a rule stopped a retry that the classifiers ask for, and "aborted" where an attempt
// did not return. It is "other" for a Reason that is not of this package. There are no other
// words, so an outcome may be the label of a metric.
func (e Event) Outcome() string {
	switch {
	case e.Reason == nil:
		return "success"
	case e.Reason == ErrNotRetryable: //nolint:errorlint // with a rule around it, it is another word
		return "not_retryable"
	case errtree.Is(e.Reason, ErrNotRetryable):
		return "rule" // which may hold any other reason
	}
	for _, reason := range [...]struct {
		err  error
		word string
	}{
		{ErrAttemptsExhausted, "attempts"},
		{ErrQuotaExhausted, "quota"},
		{ErrDeadline, "deadline"},
		{ErrMaxElapsed, "max_elapsed"},
		{ErrSendRateLimited, "send_rate"},
		{ErrCanceled, "canceled"},
		{ErrAborted, "aborted"},
	} {
		if errtree.Is(e.Reason, reason.err) {
			return reason.word
		}
	}
	return "other"
}

// maxErrorType is longer than any code of AWS.
const maxErrorType = 80

// ErrorType returns a word for the failure: the error code of AWS if Err has one, else the kind
// of the Verdict, and "_OTHER" for a failure of which nothing is known. It is empty without an
// Err. What is not the name of an error counts as no code, so that no message of a server comes
// back. This is the attribute error.type of OpenTelemetry.
func (e Event) ErrorType() string {
	if e.Err == nil {
		return ""
	}
	code := ""
	if errtree.Find(e.Err, func(err error) bool {
		if coded, ok := err.(interface{ ErrorCode() string }); ok {
			code = errcode.Bare(coded.ErrorCode())
		}
		return isName(code)
	}) {
		return code
	}
	if kind := e.Verdict.Kind(); kind != classify.KindNone {
		return kind.String()
	}
	return "_OTHER"
}

// ThrottledBy returns what Err says a throttle was about; nil if it does not say. The Reach of the
// Verdict is what they mean together.
func (e Event) ThrottledBy() []classify.Reason { return reasonsOf(e.Err) }

// LimitName returns the name of the limit that a throttle was about: the word of the service, or else
// the code of the quota. It is empty if Err does not say, and "_OTHER" for a text that is no name, so
// that no message of a server comes back. Of several reasons it is the first with the Reach of Verdict.
func (e Event) LimitName() string {
	for _, r := range e.ThrottledBy() {
		name := r.Word
		if name == "" {
			name = r.Quota
		}
		switch {
		case r.Reach != e.Verdict.Reach() || name == "":
		case isName(strings.ReplaceAll(name, "/", "")):
			return name
		default:
			return "_OTHER"
		}
	}
	return ""
}

// reasonsOf returns the reasons of the outermost error that has some.
func reasonsOf(err error) (reasons []classify.Reason) {
	errtree.Find(err, func(err error) bool {
		switch err := err.(type) { //nolint:errorlint // one error of the walk
		case *Error: // asks what it wraps, which follows
		case interface{ ThrottledBy() []classify.Reason }:
			reasons = err.ThrottledBy()
		}
		return len(reasons) > 0
	})
	return reasons
}

// isName reports whether a code is made of what the names of errors are made of.
func isName(code string) bool {
	return code != "" && len(code) <= maxErrorType && strings.IndexFunc(code, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}
