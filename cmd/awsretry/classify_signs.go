package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// answerError is the answer of a service that the flags describe.
type answerError struct {
	status          int
	code, errorType string
	millis, seconds *time.Duration // values of the two headers
	unread          []string       // headers whose value is none of these
}

func (e *answerError) Error() string { return fmt.Sprintf("status %d %s", e.status, e.ErrorCode()) }

func (e *answerError) HTTPStatusCode() int { return e.status }

// ErrorCode returns the code of the flag, else that of the header.
func (e *answerError) ErrorCode() string {
	if e.code != "" {
		return e.code
	}
	return e.errorType
}

// RetryAfter returns the delay in the AWS header, else in Retry-After.
func (e *answerError) RetryAfter() (time.Duration, bool) {
	for _, after := range []*time.Duration{e.millis, e.seconds} {
		if after != nil {
			return *after, true
		}
	}
	return 0, false
}

// RetryAfterInFull reports whether that is Retry-After.
func (e *answerError) RetryAfterInFull() bool { return e.millis == nil }

// addHeader adds a header in the form "K: V" or K=V. A header with a value that no client understands counts
// as absent.
func (e *answerError) addHeader(text string) error {
	at := strings.IndexAny(text, ":=") // No name of a header has one of these.
	if at <= 0 {
		return errors.New(`must have the form "K: V" or K=V`)
	}
	name, value := text[:at], text[at+1:]
	read := true
	var after time.Duration
	switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(name)) {
	case "x-amzn-errortype":
		e.errorType = value
	case "x-amz-retry-after":
		if after, read = classify.ParseRetryAfterMillis(value); read {
			e.millis = &after
		}
	case "retry-after":
		if after, read = wire.RetryAfterSeconds(value); read {
			e.seconds = &after
		}
	}
	if !read {
		e.unread = append(e.unread, text)
	}
	return nil
}

// modeledError is an error with its retry trait in the model of the service.
type modeledError string

func (e modeledError) Error() string { return "modeled as " + string(e) }

func (e modeledError) Throttling() bool { return e == "throttling" }

func (e modeledError) RetrySafe() (safe, known bool) { return e != "not_retryable", true }

// skewedError is an error with the clock skews of its request and its answer.
type skewedError struct {
	used, observed time.Duration
	err            error
}

func (e *skewedError) Error() string { return e.err.Error() }

func (e *skewedError) Unwrap() error { return e.err }

func (e *skewedError) ClockSkew() (used, observed time.Duration, ok bool) {
	return e.used, e.observed, true
}

// parseStatus reads an HTTP status. 0 means no status.
func parseStatus(text string) (int, error) {
	status, err := strconv.Atoi(text)
	if err != nil || status < 0 || status > 999 {
		return 0, errors.New("must be a number from 0 to 999")
	}
	return status, nil
}

// maxSkew is the largest skew in seconds. It fits into a Duration.
const maxSkew = 9e9

func parseSkew(text string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > maxSkew {
		return 0, fmt.Errorf("must be a number of seconds, at most %.0f", float64(maxSkew))
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}
