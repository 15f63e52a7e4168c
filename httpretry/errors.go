package httpretry

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/retry"
)

// ResponseError is a response with a status of 400 or more, as classifiers, policies and
// observers see it.
type ResponseError struct {
	// Status is the HTTP status.
	Status int
	// Code is the error code of the service without its namespace, such as
	// "ThrottlingException". It comes from the header x-amzn-ErrorType or from the first 64
	// KiB of a JSON or XML body in the forms of the AWS protocols, if it arrives within a
	// second. It is empty if there is none.
	Code string
	// Header is the header of the response. Do not change it.
	Header http.Header
	// Err is the error of reading the body in search of a code; nil if there was none.
	Err error

	after          time.Duration
	hinted, inFull bool
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
		text += ": " + wire.Text(e.Err)
	}
	return text
}

// Unwrap returns Err.
func (e *ResponseError) Unwrap() error { return e.Err }

// HTTPStatusCode returns Status.
func (e *ResponseError) HTTPStatusCode() int { return e.Status }

// ErrorCode returns Code.
func (e *ResponseError) ErrorCode() string { return e.Code }

// RetryAfter returns how long the server asked to wait: the milliseconds of
// x-amz-retry-after, else Retry-After, as seconds or as a date. It reports false if the
// server did not ask.
func (e *ResponseError) RetryAfter() (after time.Duration, ok bool) { return e.after, e.hinted }

// RetryAfterInFull reports whether the time of RetryAfter comes from Retry-After. A strategy waits for all
// of it, or gives up if it is above MaxHint of standard.Config, which is one minute by default. With
// x-amz-retry-after the delay is at most 5 s longer than the backoff, unless MaxHint is set.
func (e *ResponseError) RetryAfterInFull() bool { return e.inFull }

// Refusal returns why there was no further attempt after a failed response that a
// [Transport] returned, also through an [http.Client]:
//
//   - a [*retry.Error] if the classifiers asked for a retry and the client gave up. [errors.Is]
//     finds the reason, such as [retry.ErrAttemptsExhausted], and [errors.As] the [*ResponseError].
//     If a rule of this package stopped the retry, the reason is [retry.ErrNotRetryable], and Detail
//     and the text name the rule: the request may have been executed and is not idempotent, or its
//     body cannot be read again;
//   - the [*ResponseError], or the error of [Config.Policy] instead, if no classifier asked for a
//     retry, as for status 404;
//   - nil for a success, and for a response that no Transport returned or whose Request was replaced.
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

// connectionError is an error of a round trip whose connection failed, or could not be opened, or what came over it was no
// response. net/http has many such errors without methods that say so.
type connectionError struct {
	err    error
	status int // of a proxy's answer to CONNECT, if it is known
}

func (e *connectionError) Error() string { return wire.Text(e.err) }
func (e *connectionError) Unwrap() error { return e.err }

// HTTPStatusCode returns the status of the answer, or 0.
func (e *connectionError) HTTPStatusCode() int { return e.status }

// Temporary returns true, so that classifiers see a transient failure.
func (e *connectionError) Temporary() bool { return true }

// Timeout reports whether the connection timed out. url.Error, which http.Client returns,
// calls it.
func (e *connectionError) Timeout() (timeout bool) {
	wire.Find(e.err, func(err error) (found bool) {
		switch err := err.(type) { //nolint:errorlint // one error of the walk
		case *connectionError, *retry.Error, *url.Error: // what they wrap comes next
		case interface{ Timeout() bool }:
			timeout, found = err.Timeout(), true
		}
		return found
	})
	return timeout
}

// explain turns the error of Base into one that says what it means.
func (c *call) explain(err error) error {
	if c.cancel != nil {
		select {
		case <-c.request.Cancel: //nolint:staticcheck // see newCall
			c.cancel()
		default:
		}
	}
	if late := c.timer.limit.Late(err); late != nil {
		return late
	}
	switch {
	case c.Err() != nil:
		return err
	case c.connection.Load() == had && wire.LossOf(err) != wire.LossBlamed, wire.Is(err, io.EOF):
		return &connectionError{err: err}
	case c.unsent():
		status, _ := wire.Unopened(err)
		return &connectionError{err, status}
	default:
		return err
	}
}
