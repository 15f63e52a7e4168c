package classify_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

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

func TestErrorsAreFoundThroughAnyWrapping(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want classify.Verdict
	}{
		{"status", statusError(503), classify.RetryAs(classify.Transient)},
		{"throttling status", statusError(429), classify.RetryAs(classify.Throttling)},
		{"final status", statusError(404), classify.Verdict{}},
		{"throttling code", codeError("SlowDown"), classify.RetryAs(classify.Throttling)},
		{"transient code", codeError("RequestTimeout"), classify.RetryAs(classify.Transient)},
		{"final code", codeError("NoSuchKey"), classify.Verdict{}},
		{"timeout", timeoutError{}, classify.RetryAs(classify.Timeout)},
		{"hint", hintError{500, time.Second, true}, classify.RetryAs(classify.Transient).WithHint(time.Second)},
		{"neither", errors.New("neither"), classify.Verdict{}},
	} {
		for how, err := range wrappings(c.err) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
			})
		}
	}
}
