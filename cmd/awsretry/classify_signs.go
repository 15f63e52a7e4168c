package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// answerError is an answer of a service as far as the flags tell of it.
type answerError struct {
	status          int
	code, errorType string
	millis, seconds *time.Duration // what the two headers ask for
}

func (e *answerError) Error() string { return fmt.Sprintf("status %d %s", e.status, e.ErrorCode()) }

func (e *answerError) HTTPStatusCode() int { return e.status }

// ErrorCode returns the code that was given, else that of the header.
func (e *answerError) ErrorCode() string {
	if e.code != "" {
		return e.code
	}
	return e.errorType
}

// RetryAfter returns what the header of AWS asks for, else the general one.
func (e *answerError) RetryAfter() (time.Duration, bool) {
	for _, after := range []*time.Duration{e.millis, e.seconds} {
		if after != nil {
			return *after, true
		}
	}
	return 0, false
}

// addHeader takes in a header in the form K=V. One with a value that no client
// understands is as if it were absent.
func (e *answerError) addHeader(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("must have the form K=V")
	}
	switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(name)) {
	case "x-amzn-errortype":
		e.errorType = value
	case "x-amz-retry-after":
		if after, ok := classify.ParseRetryAfterMillis(value); ok {
			e.millis = &after
		}
	case "retry-after":
		if after, ok := parseSeconds(value); ok {
			e.seconds = &after
		}
	}
	return nil
}

// parseSeconds reads whole seconds as httpretry does: a number too large for a
// Duration becomes the largest one.
func parseSeconds(value string) (after time.Duration, ok bool) {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err != nil || seconds > math.MaxInt64/uint64(time.Second) {
		return math.MaxInt64, true // all digits, so the only error is that they are too many
	}
	return time.Duration(seconds) * time.Second, true
}

// modeledError says what the model of a service says of an error.
type modeledError string

func (e modeledError) Error() string { return "modeled as " + string(e) }

func (e modeledError) Throttling() bool { return e == "throttling" }

func (e modeledError) RetrySafe() (safe, known bool) { return e != "not_retryable", true }

func (e modeledError) check() error {
	switch e {
	case "retryable", "throttling", "not_retryable":
		return nil
	default:
		return errors.New("must be retryable, throttling or not_retryable")
	}
}

// skewedError is an error with the clock skews of its request and of its answer.
type skewedError struct {
	used, observed time.Duration
	err            error
}

func (e *skewedError) Error() string { return e.err.Error() }

func (e *skewedError) Unwrap() error { return e.err }

func (e *skewedError) ClockSkew() (used, observed time.Duration, ok bool) {
	return e.used, e.observed, true
}

// parseStatus reads an HTTP status; 0 is none.
func parseStatus(text string) (int, error) {
	status, err := strconv.Atoi(text)
	if err != nil || status < 0 || status > 999 {
		return 0, errors.New("must be a number from 0 to 999")
	}
	return status, nil
}

// maxSkew keeps the seconds of a skew within what a Duration holds.
const maxSkew = 9e9

func parseSkew(text string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > maxSkew {
		return 0, fmt.Errorf("must be a number of seconds, at most %.0f", float64(maxSkew))
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}
