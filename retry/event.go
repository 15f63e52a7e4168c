package retry

import (
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
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
	// EntriesThrottled is how many of the Entries of a batch were throttled within a successful answer, or how many
	// of those of a canceled transaction, for AttemptEnded; see [Result]. Both are zero if none was.
	EntriesThrottled, Entries int
	// Lent is true if neither quota nor pool could pay for a retry after a lost connection, so that it was lent, see
	// ScopeSnapshot.Debt.
	Lent bool
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

// EventKind says what happened.
type EventKind uint8

// The kinds of events. Each comment names the fields that the kind sets besides Kind, Time,
// OperationID, Operation, Scope and Attempt, which every event has.
const (
	// AttemptEnded means that an attempt ended. It sets Err (nil after success), Verdict,
	// Elapsed and Quota.
	AttemptEnded EventKind = iota + 1
	// RetryScheduled means that another attempt follows. It sets Err and Verdict of the last
	// attempt, Delay, Lent and Quota.
	RetryScheduled
	// RetryRefused means that no other attempt follows, or that an attempt is not made because
	// its wait was refused. It sets Reason, Err of the last attempt, the refused Delay, and
	// Quota.
	RetryRefused
	// SendWaitBegan means that adaptive mode holds the attempt back. It sets Delay (the wait
	// if the send rate does not change), Waiting and Rate.
	SendWaitBegan
	// SendWaitEnded means that a wait for the send rate is over. It sets Delay (how long it
	// took) and Err (nil if the attempt may be sent).
	SendWaitEnded
	// SendRateChanged means that a response has changed the send rate. It sets Rate and
	// RateBefore.
	SendRateChanged
	// ScopeCreated means that an operation was the first of its scope. The scope of the
	// strategy as a whole exists from the start.
	ScopeCreated
	// ScopeEvicted means that the state of a scope was dropped when another scope was
	// created. Scope is the one that was dropped, not that of Operation.
	ScopeEvicted
	// LoopNested means that an operation begins in an attempt of another loop, so that their
	// attempts multiply. It sets MaxAttempts. [Once] limits an inner operation to one attempt.
	LoopNested
	// SettingIgnored means that a setting has no effect or does not count as written. If fields of
	// a Config are for adaptive mode, and the environment, a file or a flag chose standard mode,
	// Err names the fields and the origin of the mode. If only aws-sdk-go-v2 accepts a value, Err
	// names the value and its place. These events belong to no operation, so OperationID, Operation,
	// Scope and Attempt are zero. If SendLimit of adaptive.Config returns an impossible limit, Err
	// names it, and the event comes with the first operation of the scope.
	SettingIgnored
	// OperationEnded means that the operation is over. It is the last event of an operation, and the
	// only one that every operation has, unless the strategy refuses its first token or its loop
	// drops a token. It sets Attempt (the number of attempts made), Elapsed, BackoffWait, QuotaWait,
	// SendWait, Reason (nil after success), Err and Verdict of the last attempt, and Quota.
	// [Event.Outcome] is a word for how it ended.
	OperationEnded
)

// String returns the kind's name in lower case, such as "retry-scheduled"; "unknown" for any other value.
func (k EventKind) String() string {
	names := [...]string{
		AttemptEnded: "attempt-ended", RetryScheduled: "retry-scheduled", RetryRefused: "retry-refused",
		SendWaitBegan: "send-wait-began", SendWaitEnded: "send-wait-ended", SendRateChanged: "send-rate-changed",
		ScopeCreated: "scope-created", ScopeEvicted: "scope-evicted", LoopNested: "loop-nested",
		SettingIgnored: "setting-ignored", OperationEnded: "operation-ended",
	}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return "unknown"
}

// Outcome returns a word for how an operation ended, or for why a retry was refused: "success",
// "attempts", "quota", "debt_limit", "deadline", "max_elapsed", "hint", "send_rate", "canceled", "not_retryable", "rule"
// if a rule stopped a retry that the classifiers ask for, and "aborted" if an attempt did not
// return. It is "other" for a Reason from outside this package. There are no other words, so an
// outcome can be a metric label. Only OperationEnded and RetryRefused have one: for other kinds it is
// "success", also if the attempt has failed.
func (e Event) Outcome() string {
	switch {
	case e.Reason == nil:
		return "success"
	case e.Reason == ErrNotRetryable: //nolint:errorlint // with a rule around it, it is another word
		return "not_retryable"
	case wire.Is(e.Reason, ErrNotRetryable):
		return "rule" // which may hold any other reason
	}
	for _, reason := range [...]struct {
		err  error
		word string
	}{
		{ErrAttemptsExhausted, "attempts"},
		{ErrDebtLimit, "debt_limit"},
		{ErrQuotaExhausted, "quota"},
		{ErrDeadline, "deadline"},
		{ErrMaxElapsed, "max_elapsed"},
		{ErrHintTooLong, "hint"},
		{ErrSendRateLimited, "send_rate"},
		{ErrCanceled, "canceled"},
		{ErrAborted, "aborted"},
	} {
		if wire.Is(e.Reason, reason.err) {
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
	if wire.Find(e.Err, func(err error) bool {
		if coded, ok := err.(interface{ ErrorCode() string }); ok {
			code = wire.BareCode(coded.ErrorCode())
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
	wire.Find(err, func(err error) bool {
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
