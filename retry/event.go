package retry

import (
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errcode"
	"github.com/awsretry/awsretry/internal/errtree"
)

// Event is one thing that happened. Fields that its kind does not set are zero.
type Event struct {
	// Kind is what happened.
	Kind EventKind
	// Time is when it happened, on the strategy's clock.
	Time time.Time
	// OperationID is the same in all events of one operation, and unique within a strategy. Each
	// strategy counts from a random number, so IDs of different strategies hardly ever collide.
	OperationID uint64
	// Operation is the operation that caused the event.
	Operation Operation
	// Scope is the scope that the event is about. It is [OverflowKey] for an operation whose
	// own scope found no room.
	Scope ScopeKey
	// Attempt is the number of the attempt that ended or waits, from 1; for OperationEnded,
	// the number of attempts made, which can be 0.
	Attempt int
	// MaxAttempts is how many attempts all nested loops together may make.
	MaxAttempts int
	// Err is the error of the attempt or of the wait, or what SettingIgnored reports.
	Err error
	// Verdict is what the classifiers said of Err.
	Verdict classify.Verdict
	// Delay is the backoff before the next attempt, or a wait for the send rate.
	Delay time.Duration
	// Reason is why a retry was refused, such as [ErrQuotaExhausted], or why an operation ended
	// without success. If a rule stops a retry that the classifiers ask for, [errors.Is] finds
	// [ErrNotRetryable] and the rule. The reason is [ErrAborted] if an attempt did not return. If
	// the loop gave up without a refusal by the strategy, the reason is [ErrCanceled] if the
	// context has ended, else [ErrNotRetryable].
	Reason error
	// Elapsed is how long the attempt took, without any wait; for OperationEnded, how long the
	// operation took, from its first token to its end. BackoffWait, QuotaWait and SendWait are
	// how long it waited for the backoff, for retry quota and for the send rate. The rest of
	// Elapsed is the time of the attempts. After a retry was granted, time that a loop spends
	// between two calls of the strategy counts as backoff.
	Elapsed, BackoffWait, QuotaWait, SendWait time.Duration
	// EntriesThrottled is how many of the Entries of a batch were throttled within a successful answer,
	// for AttemptEnded; see [Result]. Both are zero if none was.
	EntriesThrottled, Entries int
	// Quota is how many tokens are left in the retry quota of the scope: after the charge
	// for a retry, and after the refund for a success.
	Quota int
	// Pool is how many tokens are left in the pool, which pays for a retry that the quota of the
	// scope refuses. It is 0 in the scope of the strategy as a whole, which does not use the
	// pool.
	Pool int
	// Rate and RateBefore are send rates in attempts per second, or with a SendCost in
	// tokens per second.
	Rate, RateBefore float64
	// Waiting is how many callers are ahead in the queue.
	Waiting int
}

// Outcome returns a word for how an operation ended, or for why a retry was refused: "success",
// "attempts", "quota", "deadline", "max_elapsed", "hint", "send_rate", "canceled", "not_retryable", "rule"
// if a rule stopped a retry that the classifiers ask for, and "aborted" if an attempt did not
// return. It is "other" for a Reason from outside this package. There are no other words, so an
// outcome can be a metric label.
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
		{ErrHintTooLong, "hint"},
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

// ErrorType returns the AWS error code if Err has one, else the kind of the Verdict, else
// "_OTHER". It is empty without an Err. It ignores a code that does not look like a name, so it
// never returns a server's message. Use it for the attribute error.type of OpenTelemetry.
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

// ThrottledBy returns the limits that a throttle was about, as Err names them; nil if it names
// none. The Reach of the Verdict combines them.
func (e Event) ThrottledBy() []classify.Reason { return reasonsOf(e.Err) }

// LimitName returns the name of the limit that a throttle was about: the service's word for it, else
// the code of the quota. It is empty if Err names no limit, and "_OTHER" for text that does not look
// like a name, so it never returns a server's message. Of several reasons it uses the first with the
// Reach of Verdict.
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

// isName reports whether a code has only characters that names of errors have, and at
// most maxErrorType.
func isName(code string) bool {
	return code != "" && len(code) <= maxErrorType && strings.IndexFunc(code, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}
