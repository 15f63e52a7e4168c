package classify

import (
	"time"
)

// CodeError is an error with the code that a service gave it, as smithy-go's
// API errors have.
type CodeError interface {
	error
	ErrorCode() string
}

// StatusError is an error with the HTTP status of the answer, as smithy-go's
// response errors have.
type StatusError interface {
	error
	HTTPStatusCode() int
}

// RetryAfterError is an error with the time for which the server asked to wait.
// A negative time counts as none.
type RetryAfterError interface {
	error
	RetryAfter() (after time.Duration, ok bool)
}

// JudgedError is an error with a verdict that whoever made it already knows, such
// as the policy of a call. The verdict counts where the JudgedError itself is
// judged, not where it is wrapped: what was decided for an inner call does not
// decide an outer one.
type JudgedError struct {
	// Verdict is what to do with the error.
	Verdict Verdict
	// Err is the error itself; nil if a value was judged.
	Err error
}

// Error returns the text of the error, or says what the verdict is.
func (e *JudgedError) Error() string {
	if e.Err == nil {
		return "classify: judged " + e.Verdict.String()
	}
	return e.Err.Error()
}

// Unwrap returns the error itself.
func (e *JudgedError) Unwrap() error { return e.Err }

// Judgement returns the verdict of an error that is a JudgedError, with the hint of
// the error in it where the verdict is a retry without one. It reports false for
// any other error.
func Judgement(err error) (Verdict, bool) {
	judged, ok := err.(*JudgedError) //nolint:errorlint // only what is judged here
	if !ok {
		return Verdict{}, false
	}
	return hinted(judged.Verdict, judged.Err), true
}

// hinted adds the hint of an error to a verdict that is a retry without one.
func hinted(v Verdict, err error) Verdict {
	if _, ok := v.Hint(); ok || v.Action() != Retry {
		return v
	}
	if after, ok := retryAfter(err); ok {
		return v.WithHint(after)
	}
	return v
}

func retryAfter(err error) (time.Duration, bool) {
	hinting, ok := find(err, func(e RetryAfterError) bool {
		_, ok := e.RetryAfter()
		return ok
	})
	if !ok {
		return 0, false
	}
	return hinting.RetryAfter()
}

// find returns the first error that err is or wraps which is a T and accepted.
// Unlike errors.AsType it goes on where the first T has nothing to say.
func find[T error](err error, accept func(e T) bool) (found T, ok bool) {
	for err != nil {
		if found, ok = err.(T); ok && accept(found) { //nolint:errorlint // this is the walk itself
			return found, true
		}
		switch wrapper := err.(type) { //nolint:errorlint // this is the walk itself
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range wrapper.Unwrap() {
				if found, ok = find(inner, accept); ok {
					return found, true
				}
			}
			return found, false
		default:
			return found, false
		}
	}
	return found, false
}
