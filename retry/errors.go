package retry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
)

// Reasons for which an operation ends without success, found with errors.Is.
var (
	// ErrNotRetryable: nobody asked for a retry of this failure, or one was
	// forbidden.
	ErrNotRetryable = errors.New("failure is not retryable")
	// ErrAttemptsExhausted: as many attempts were made as are allowed.
	ErrAttemptsExhausted = errors.New("attempts exhausted")
	// ErrQuotaExhausted: the retry quota of the scope does not cover a retry.
	ErrQuotaExhausted = errors.New("retry quota exhausted")
	// ErrMaxElapsed: an attempt would begin after the time that the whole operation
	// may take.
	ErrMaxElapsed = errors.New("maximum elapsed time reached")
	// ErrSendRateLimited: adaptive mode would have to delay the attempt for longer
	// than is allowed.
	ErrSendRateLimited = errors.New("held back by the send rate")
	// ErrCanceled: the caller's context ended.
	ErrCanceled = errors.New("canceled by the caller")
	// ErrDeadline: a wait could not end before the caller's deadline, so it was
	// not begun.
	ErrDeadline = errors.New("wait would end after the caller's deadline")
)

// Errors that are not a refusal.
var (
	// ErrForeignToken: the token was issued by another strategy, or is the zero
	// Token.
	ErrForeignToken = errors.New("retry: token of another strategy")
	// ErrTokenUsed: the token has been used, or is being waited for.
	ErrTokenUsed = errors.New("retry: token already used")
	// ErrAborted is the failure of an attempt that ended without returning: by a
	// panic or runtime.Goexit.
	ErrAborted = errors.New("retry: attempt did not return")
	// ErrRejected is the error of an operation whose policy ended it as a failure
	// although the attempt returned no error.
	ErrRejected = errors.New("retry: policy rejected the value")
)

// Error says why the client gave up on an operation. errors.Is finds its reason,
// the error of the caller's context and its cause, and errors.As finds the last
// error of the service.
type Error struct {
	// Reason is one of the reasons above.
	Reason error
	// Scope is the scope of the operation.
	Scope ScopeKey
	// Attempts is how many attempts were made, and MaxAttempts how many were
	// allowed; MaxAttempts is 0 where that is not known.
	Attempts, MaxAttempts int
	// Elapsed is how long the operation took; Do fills it in.
	Elapsed time.Duration
	// Available and Needed are retry quota tokens, for ErrQuotaExhausted.
	Available, Needed int
	// Wait is the wait that was refused, for ErrDeadline, ErrSendRateLimited and
	// ErrMaxElapsed.
	Wait time.Duration
	// Detail is what else is known of the reason, or nil.
	Detail error
	// Canceled is the error of the caller's context, or the one it would have had
	// at its deadline; nil if the context is not the reason. Cause is
	// context.Cause where that says more.
	Canceled, Cause error
	// Last is the error of the last attempt; nil if there was none.
	Last error
}

// Error begins with "client-side", because it is the client that gave up.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client-side: %v", e.Reason)
	e.writeFacts(&b)
	fmt.Fprintf(&b, " after %s", count(e.Attempts, "attempt"))
	if e.Elapsed > 0 {
		fmt.Fprintf(&b, " and %v", e.Elapsed)
	}
	for _, err := range []error{e.Detail, e.Canceled, e.Cause} {
		if err != nil {
			fmt.Fprintf(&b, ": %v", err)
		}
	}
	if e.Last != nil {
		fmt.Fprintf(&b, ": last error: %v", e.Last)
	}
	return b.String()
}

func (e *Error) writeFacts(b *strings.Builder) {
	if e.Scope != (ScopeKey{}) {
		fmt.Fprintf(b, " in scope %q", e.Scope.String())
	}
	switch {
	case errtree.Is(e.Reason, ErrQuotaExhausted):
		fmt.Fprintf(b, " (%d available, %d needed)", e.Available, e.Needed)
	case errtree.Is(e.Reason, ErrAttemptsExhausted) && e.MaxAttempts > 0:
		fmt.Fprintf(b, " (%d allowed)", e.MaxAttempts)
	case e.Wait > 0 && e.Detail == nil:
		fmt.Fprintf(b, " (%v to wait)", e.Wait)
	}
}

// Unwrap returns everything that errors.Is and errors.As are to find.
func (e *Error) Unwrap() []error {
	found := make([]error, 0, 5)
	for _, err := range [...]error{e.Reason, e.Canceled, e.Cause, e.Detail, e.Last} {
		if err != nil {
			found = append(found, err)
		}
	}
	return found
}

// Timeout reports whether time ran out: at the caller's deadline, or in the last
// attempt. It is for those who ask the error that http.Client makes of this one.
func (e *Error) Timeout() bool {
	if errtree.Is(e.Canceled, context.DeadlineExceeded) {
		return true
	}
	for err := range errtree.All(e.Last) {
		switch err := err.(type) { //nolint:errorlint // one error of the walk
		case *Error, *url.Error: // each asks what it wraps, which follows
		case interface{ Timeout() bool }:
			return err.Timeout()
		}
	}
	return false
}

// Because fills in why ctx, which is done, ended, and returns e.
func (e *Error) Because(ctx context.Context) *Error {
	e.Canceled = ctx.Err()
	if cause := context.Cause(ctx); cause != e.Canceled { //nolint:errorlint // the same value says nothing more
		e.Cause = cause
	}
	return e
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
