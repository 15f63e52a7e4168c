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
		return errors.New(`must have the form "K: V" or K=V, such as Retry-After=5`)
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

// grpcError is the error of a call of gRPC, with the methods that those of its module have.
type grpcError struct{ code uint32 }

func (e *grpcError) Error() string          { return "rpc error: code = " + grpcCodes()[e.code] }
func (e *grpcError) Is(target error) bool   { return target == error(e) }
func (e *grpcError) GRPCStatus() *grpcError { return e }
func (e *grpcError) Code() uint32           { return e.code }

// grpcCodes are the names of the codes of gRPC by their numbers.
func grpcCodes() []string {
	return []string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
		"UNAUTHENTICATED",
	}
}

// parseGRPC reads a code of gRPC: its number, or its name in any spelling.
func parseGRPC(text string) (*grpcError, error) {
	plain := func(name string) string {
		return strings.ToUpper(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	}
	for code, name := range grpcCodes() {
		if plain(text) == plain(name) || text == strconv.Itoa(code) {
			return &grpcError{uint32(code)}, nil //nolint:gosec // one of 17
		}
	}
	return nil, errors.New("must be a number from 0 to 16 or a name, such as UNAVAILABLE")
}

// sqlError is an error of a database, with the method that those of pgx and lib/pq have.
type sqlError string

func (e sqlError) Error() string    { return "SQLSTATE " + string(e) }
func (e sqlError) SQLState() string { return string(e) }

const sqlStateDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

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
		return 0, fmt.Errorf("must be a number of seconds, at most %.0f, such as -300", float64(maxSkew))
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}
