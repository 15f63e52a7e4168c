package retry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// Reasons why an operation ends without success: each is the Reason of an [*Error], and
// [errors.Is] finds it there.
var (
	// ErrNotRetryable means that no classifier asked for a retry of the failure, or that a
	// retry was forbidden. [Do] then returns the failure itself. If a rule stops a retry that
	// the classifiers ask for, such as the rule of httpretry for requests that must not run
	// twice, Do returns an [*Error] with the rule as Detail.
	ErrNotRetryable = errors.New("retry: failure is not retryable")
	// ErrAttemptsExhausted means that the operation has made all its attempts, or all that are
	// allowed for such a failure, see [classify.Verdict.AtMost].
	ErrAttemptsExhausted = errors.New("retry: attempts exhausted")
	// ErrQuotaExhausted means that the retry quota of the scope does not cover a retry.
	ErrQuotaExhausted = errors.New("retry: retry quota exhausted")
	// ErrDebtLimit is the Detail of an [ErrQuotaExhausted] that standard.Config.DebtLimit caused: the quota or the pool had
	// the tokens, or the retry would have waited for them, but retries fail too often for a quota that already lacks so many.
	ErrDebtLimit = errors.New("retry: debt limit")
	// ErrMaxElapsed means that the next attempt would begin after the end of the operation,
	// see [Operation.MaxElapsed], [Operation.NotAfter] and standard.Config.MaxElapsed.
	ErrMaxElapsed = errors.New("retry: maximum elapsed time reached")
	// ErrHintTooLong means that the server has asked for a longer wait than MaxHint of standard.Config,
	// with a hint that counts in full, see [classify.Verdict.HintInFull].
	ErrHintTooLong = errors.New("retry: the server asks for too long a wait")
	// ErrSendRateLimited means that adaptive mode would have to delay the attempt for longer
	// than its Config allows.
	ErrSendRateLimited = errors.New("retry: held back by the send rate")
	// ErrCanceled means that the caller's context has ended.
	ErrCanceled = errors.New("retry: canceled by the caller")
	// ErrDeadline means that a wait was not begun because it could not end before the deadline of
	// the caller's context. In adaptive mode a wait for the send rate must also leave the time that
	// most attempts take.
	ErrDeadline = errors.New("retry: wait would end after the caller's deadline")
)

// Errors of invalid calls.
var (
	// ErrForeignToken means that another strategy issued the token, or that it is the zero
	// [Token].
	ErrForeignToken = errors.New("retry: token of another strategy")
	// ErrTokenUsed means that the token has been used, or that a Wait for it is under way.
	ErrTokenUsed = errors.New("retry: token already used")
	// ErrAborted is the failure of an attempt that did not return: it panicked, or it called
	// [runtime.Goexit]. Pass it to [Strategy.RecordFailure] in your own loop.
	ErrAborted = errors.New("retry: attempt did not return")
	// ErrNoStrategy means that a strategy is nil or a wrapper around nil.
	ErrNoStrategy = errors.New("retry: no strategy")
)

// Error says why the client gave up on an operation. [errors.Is] finds the reason and, if
// the caller's context ended the operation, the error and the cause of that context.
// [errors.As] finds the last error of the service.
type Error struct {
	// Reason is why the client gave up: one of the reasons of this package, such as
	// [ErrQuotaExhausted], or the error of a strategy from another module.
	Reason error
	// Detail says more about the reason: how the caller's context ended, which limit of the
	// send rate was reached, which rule stopped a retry; nil if there is no more to say.
	Detail error
	// Last is the error of the last attempt; nil if there was none.
	Last error

	// Scope is the scope of the operation.
	Scope ScopeKey
	// Attempts is how many attempts were made; for [Poll] in the last poll.
	Attempts int
	// Polls is how many polls [Poll] made, the last one included; 0 without Poll.
	Polls int
	// MaxAttempts is how many attempts were allowed, for [ErrAttemptsExhausted]; else 0. It can
	// be less than Attempts if only the last failure has such a limit.
	MaxAttempts int
	// Elapsed is how long the operation took on the strategy's clock. [Do] sets it.
	Elapsed time.Duration
	// Needed is the cost of the retry, Available what the retry quota had, and Pool what the pool
	// had, all in tokens, for [ErrQuotaExhausted]. Either the quota or the pool must pay all of
	// it.
	Available, Pool, Needed int
	// Wait is the wait that was refused, for [ErrDeadline], [ErrSendRateLimited] and
	// [ErrMaxElapsed].
	Wait time.Duration
	// Hint is how long the server has asked to wait, for [ErrHintTooLong], [ErrDeadline] and [ErrMaxElapsed];
	// 0 if it did not ask, or not for a wait that counts in full.
	Hint time.Duration
}

// Error returns a text that begins with "retry: client-side", because the client gave up, not
// the service. The reason follows. The numbers come last, so that logs can be grouped by the
// text before them.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("retry: client-side")
	for _, err := range []error{e.Reason, e.Detail} {
		if err != nil {
			b.WriteString(": " + withoutPackage(err))
		}
	}
	if e.Last != nil {
		fmt.Fprintf(&b, ": last error: %v", e.Last)
	}
	fmt.Fprintf(&b, " (%s)", strings.Join(e.numbers(), ", "))
	return b.String()
}

// withoutPackage returns the text of an error without the package name.
func withoutPackage(err error) string { return strings.TrimPrefix(wire.Text(err), "retry: ") }

// numbers returns what differs between errors with the same reason.
func (e *Error) numbers() []string {
	made := fmt.Sprintf("%d attempts", e.Attempts)
	if e.Attempts == 1 {
		made = "1 attempt"
	}
	if e.MaxAttempts > 0 {
		made += fmt.Sprintf(" of %d", e.MaxAttempts)
	}
	numbers := []string{made}
	switch {
	case e.Polls == 1:
		numbers = append(numbers, "1 poll")
	case e.Polls > 1:
		numbers = append(numbers, fmt.Sprintf("%d polls", e.Polls))
	}
	if e.Elapsed > 0 {
		numbers = append(numbers, e.Elapsed.String())
	}
	if e.Needed > 0 {
		form := "%d of %d quota tokens"
		if e.Available >= e.Needed { // it is not they that lack
			form = "%d quota tokens, %d needed"
		}
		numbers = append(numbers, fmt.Sprintf(form, e.Available, e.Needed))
		if e.Pool > 0 {
			numbers = append(numbers, fmt.Sprintf("%d in the pool", e.Pool))
		}
	}
	if e.Wait > 0 {
		numbers = append(numbers, fmt.Sprintf("%v to wait", e.Wait))
	}
	if e.Hint > 0 {
		numbers = append(numbers, fmt.Sprintf("%v asked for by the server", e.Hint))
	}
	if e.Scope != (ScopeKey{}) {
		numbers = append(numbers, fmt.Sprintf("scope %q", e.Scope.String()))
	}
	return numbers
}

// Unwrap returns Reason, Detail and Last, without those that are nil.
func (e *Error) Unwrap() []error {
	found := make([]error, 0, 3)
	for _, err := range [...]error{e.Reason, e.Detail, e.Last} {
		if err != nil {
			found = append(found, err)
		}
	}
	return found
}

// ThrottledBy returns the limits that a throttle was about, as Last names them; nil if
// it names none.
func (e *Error) ThrottledBy() []classify.Reason { return reasonsOf(e.Last) }

// Timeout reports whether time ran out: at the caller's deadline, or in the last attempt.
// [net/url.Error] calls it.
func (e *Error) Timeout() bool {
	timeout := wire.Is(e.Detail, context.DeadlineExceeded)
	return timeout || wire.Find(e.Last, func(err error) (found bool) {
		switch err := err.(type) { //nolint:errorlint // one error of the walk
		case *Error, *url.Error: // each asks what it wraps, which follows
		case interface{ Timeout() bool }:
			timeout, found = err.Timeout(), true
		}
		return found
	}) && timeout
}

// Complete returns a copy of e with what only the loop knows: how long the operation took, and how ctx has ended, if it has. The
// error of ctx joins Detail, with its cause if that says more; what Detail already holds is not added again. Call it in a loop
// of your own for each error of a strategy, which may give the same one to many operations.
func (e *Error) Complete(ctx context.Context, elapsed time.Duration) *Error {
	own := *e
	own.Elapsed = elapsed
	ended, cause := ctx.Err(), context.Cause(ctx)
	if wire.Is(own.Detail, ended) {
		if !wire.Is(own.Detail, cause) {
			own.Detail = wire.Join(own.Detail, cause)
		}
		return &own
	}
	if !wire.Is(ended, cause) && !wire.Is(own.Detail, cause) {
		ended = wire.Join(ended, cause)
	}
	own.Detail = wire.Join(ended, own.Detail)
	return &own
}
