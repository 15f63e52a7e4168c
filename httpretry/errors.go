package httpretry

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/retry"
)

// ResponseError is a response with a status of 400 or more, as classifiers,
// policies and observers see it.
type ResponseError struct {
	// Status is the HTTP status.
	Status int
	// Code is the error code that the service gave, without namespace; empty if there
	// is none or it was not found: it is looked for in the header x-amzn-ErrorType and
	// in the first 64 KiB of a JSON or XML body.
	Code string
	// Header is the header of the response. It must not be changed.
	Header http.Header
	// Err is why the body could not be read, where that was tried; else nil.
	Err error

	after  time.Duration
	hinted bool
}

// Error returns the status and the code.
func (e *ResponseError) Error() string {
	text := "httpretry: status " + strconv.Itoa(e.Status)
	if name := http.StatusText(e.Status); name != "" {
		text += " " + name
	}
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *ResponseError) Unwrap() error { return e.Err }

// HTTPStatusCode returns Status.
func (e *ResponseError) HTTPStatusCode() int { return e.Status }

// ErrorCode returns Code.
func (e *ResponseError) ErrorCode() string { return e.Code }

// RetryAfter returns how long the server asked to wait, in x-amz-retry-after or
// Retry-After.
func (e *ResponseError) RetryAfter() (after time.Duration, ok bool) { return e.after, e.hinted }

// Refusal returns why a failed response that a Transport returned, which may have
// come through an http.Client, was not retried: a *retry.Error in which errors.Is
// finds the reason, such as retry.ErrAttemptsExhausted, and errors.As the
// *ResponseError; or the *ResponseError itself if no classifier wanted a retry. It returns
// nil for a success, and for a response that did not come from a Transport or whose
// Request has been replaced.
func Refusal(response *http.Response) error {
	if response == nil || response.Request == nil {
		return nil
	}
	c, ok := response.Request.Context().Value(callKey{}).(*call)
	if !ok {
		return nil
	}
	return c.err
}

// connectionError is an error of a round trip that has had a connection. Whatever
// it is, the connection or what came over it failed: net/http has many such errors
// that tell nothing about themselves. Without a connection only io.EOF is one: the
// server or a proxy hung up before all was set up, such as TLS.
type connectionError struct{ err error }

func (e *connectionError) Error() string { return e.err.Error() }
func (e *connectionError) Unwrap() error { return e.err }

// Temporary lets classifiers take it for transient.
func (e *connectionError) Temporary() bool { return true }

// Timeout is for those who ask the error that http.Client returns.
func (e *connectionError) Timeout() bool {
	for err := range errtree.All(e.err) {
		switch err := err.(type) { //nolint:errorlint // one error of the walk
		case *connectionError, *retry.Error, *url.Error: // each asks what it wraps, which follows
		case interface{ Timeout() bool }:
			return err.Timeout()
		}
	}
	return false
}

// explain says what the error of the base means.
func (c *call) explain(err error) error {
	if c.cancel != nil {
		select {
		case <-c.request.Cancel: //nolint:staticcheck // see newCall
			c.cancel()
		default:
		}
	}
	if limited := c.lease.explain(err); limited != err { //nolint:errorlint // whether it is another one
		return limited
	}
	if c.Err() == nil && (c.connected.Load() || errtree.Is(err, io.EOF)) {
		return &connectionError{err}
	}
	return err
}
