package classify_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

var (
	none, forbidden     = classify.Verdict{}, classify.Forbidden()
	throttle, transient = classify.RetryAs(classify.Throttling), classify.RetryAs(classify.Transient)
	timeout, skew       = classify.RetryAs(classify.Timeout), classify.RetryAs(classify.ClockSkew)
	ofServer, ofClient  = classify.RetryAs(classify.Server), classify.RetryAs(classify.Client)
)

// row is an error, and what the default chain says of it.
type row struct {
	name string
	err  error
	want classify.Verdict
}

// requireVerdicts has every wrapping of each error judged.
func requireVerdicts(t *testing.T, rows []row) {
	t.Helper()
	for _, c := range rows {
		for how, err := range wrappings(c.err) {
			require.Equal(t, c.want, verdictOf(err), "%s, %s", c.name, how)
		}
	}
}

// changed returns what changes a chain without an error.
func changed(t *testing.T) func(*classify.Chain, error) *classify.Chain {
	t.Helper()
	return func(c *classify.Chain, err error) *classify.Chain {
		t.Helper()
		require.NoError(t, err)
		return c
	}
}

// fixed is a classifier that always says the same. It keeps what it was asked.
type fixed struct {
	name    string
	verdict classify.Verdict
	asked   []classify.Outcome
}

func (f *fixed) Name() string { return f.name }

func (f *fixed) Classify(o classify.Outcome) classify.Verdict {
	f.asked = append(f.asked, o)
	return f.verdict
}

// builtIn are the built-in classifiers in the order of the default chain.
func builtIn() []classify.Classifier {
	return []classify.Classifier{
		classify.Status(), classify.Code(), classify.Skew(), classify.Modeled(), classify.Transport(),
		classify.Traits(false),
	}
}

// codeError is an answer of which only the code is known.
type codeError string

func (e codeError) Error() string     { return "code " + string(e) }
func (e codeError) ErrorCode() string { return string(e) }

// statusError is an answer of which only the status is known.
type statusError int

func (e statusError) Error() string       { return fmt.Sprintf("status %d", int(e)) }
func (e statusError) HTTPStatusCode() int { return int(e) }

// hintError is an answer that asks to wait, or that could ask to wait and does
// not.
type hintError struct {
	status int
	after  time.Duration
	hinted bool
}

func (e hintError) Error() string                     { return "hint" }
func (e hintError) HTTPStatusCode() int               { return e.status }
func (e hintError) RetryAfter() (time.Duration, bool) { return e.after, e.hinted }

// verdictOf is what the default chain says of the error.
func verdictOf(err error) classify.Verdict {
	return classify.Default().Classify(classify.Outcome{Err: err})
}

// verdictOfGone is what the default chain says of the error of an operation whose context has
// ended.
func verdictOfGone(err error) classify.Verdict {
	return classify.Default().Classify(classify.Outcome{Err: err, CallerGone: true})
}

// wrappings are the ways in which a caller may find the error.
func wrappings(err error) map[string]error {
	return map[string]error{
		"bare":        err,
		"wrapped":     fmt.Errorf("operation: %w", err),
		"deep":        fmt.Errorf("a: %w", fmt.Errorf("b: %w", fmt.Errorf("c: %w", err))),
		"one of two":  fmt.Errorf("%w, %w", errors.New("other"), err),
		"joined":      errors.Join(errors.New("other"), err, errors.New("another")),
		"joined deep": fmt.Errorf("a: %w", errors.Join(errors.Join(), errors.New("b"), fmt.Errorf("c: %w", err))),
	}
}

// temporaryError says nothing of itself but that it is temporary.
type temporaryError struct{}

func (temporaryError) Error() string   { return "temporary" }
func (temporaryError) Temporary() bool { return true }
func (temporaryError) Timeout() bool   { return false }

// aroundError says something and wraps what may say the same.
type aroundError struct {
	answer

	inner error
}

func (e *aroundError) Unwrap() error { return e.inner }

func joinAnswer(status int, code string) error {
	return &answer{hintError: hintError{status: status}, code: codeError(code)}
}

// safetyError says whether its request may be sent again: "yes", "no" or "unknown".
type safetyError string

func (e safetyError) Error() string                 { return "safety " + string(e) }
func (e safetyError) RetrySafe() (safe, known bool) { return e == yes, e != unknown }

// throttlingError says whether it is a throttle.
type throttlingError bool

func (e throttlingError) Error() string    { return fmt.Sprintf("throttling %t", bool(e)) }
func (e throttlingError) Throttling() bool { return bool(e) }

// faultError says whether the fault is the server's.
type faultError bool

func (e faultError) Error() string     { return fmt.Sprintf("server fault %t", bool(e)) }
func (e faultError) ServerFault() bool { return bool(e) }

const no, yes, unknown = safetyError("no"), safetyError("yes"), safetyError("unknown")

// timeoutError says that it is a timeout, and as those of net/http also that it
// is context.DeadlineExceeded, which it does not wrap.
type timeoutError struct{}

func (timeoutError) Error() string        { return "timeout" }
func (timeoutError) Timeout() bool        { return true }
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// opError is how the net package reports a failed system call.
func opError(op string, cause error) error {
	if _, ok := errors.AsType[syscall.Errno](cause); ok {
		cause = os.NewSyscallError(op, cause)
	}
	return &net.OpError{Op: op, Net: "tcp", Err: cause}
}

// constant always says the same, to all that ask at the same time.
type constant struct{ verdict classify.Verdict }

func (constant) Name() string                                 { return "constant" }
func (c constant) Classify(classify.Outcome) classify.Verdict { return c.verdict }

// answer is an HTTP error with a status, a code and room for a hint.
type answer struct {
	hintError
	code codeError
}

func (a *answer) ErrorCode() string { return a.code.ErrorCode() }

// skewedError is an answer from which the clocks are known.
type skewedError struct {
	used, observed time.Duration
	err            error
}

func (e *skewedError) Error() string { return "skewed" }
func (e *skewedError) Unwrap() error { return e.err }

func (e *skewedError) ClockSkew() (used, observed time.Duration, ok bool) {
	return e.used, e.observed, true
}

// manyErrors are errors of every sort, and each pair of them joined.
func manyErrors() []error {
	single := []error{
		errors.New("plain"), statusError(404), statusError(429), statusError(503), codeError("SlowDown"),
		codeError("RequestTimeout"), codeError("ReplicatedWriteConflictException"), codeError("NoSuchKey"),
		timeoutError{},
		context.DeadlineExceeded, context.Canceled,
		temporaryError{},
		hintError{status: 500, after: 1, hinted: true},
		no, yes, unknown, faultError(true), throttlingError(true),
		&skewedError{observed: 1 << 40, err: codeError("AuthFailure")},
		&classify.JudgedError{Verdict: forbidden, Err: statusError(503)},
	}
	all := single
	for _, a := range single {
		for _, b := range single {
			all = append(all, errors.Join(a, b))
		}
	}
	return all
}
