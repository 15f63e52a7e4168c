package httpretry_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	require.NoError(t, httpretry.Refusal(nil))
	require.NoError(t, httpretry.Refusal(&http.Response{}))
	require.NoError(t, httpretry.Refusal(&http.Response{Request: newRequest(t, http.MethodGet, "")}))
	for _, c := range []struct {
		method   string
		status   int
		attempts int
		gaveUp   bool
		want     string
	}{
		{method: "GET", status: 200},
		{method: "GET", status: 304},
		{method: "GET", status: 404, want: "httpretry: status 404 Not Found"},
		{method: "POST", status: 404, want: "httpretry: status 404 Not Found"},
		{method: "GET", status: 501, want: "httpretry: status 501 Not Implemented"},
		{
			method: "GET", status: 503, attempts: 1, gaveUp: true,
			want: "retry: client-side: attempts exhausted: last error: httpretry: status 503 Service Unavailable (1 attempt of 1)",
		},
		{
			method: "POST", status: 500, gaveUp: true,
			want: "retry: client-side: failure is not retryable: httpretry: POST is not sent again: it may have been executed" +
				" and is not idempotent: last error: httpretry: status 500 Internal Server Error (1 attempt)",
		},
	} {
		for _, asError := range []bool{false, true} {
			got := try(t, httpretry.Config{
				MaxAttempts: c.attempts, RefusalAsError: asError, Base: scripted{status: c.status, body: "body"},
				Operation: func(*http.Request) retry.Operation { return retry.Operation{} },
			}, newRequest(t, c.method, ""))
			refusal := got.refusal
			if asError && c.gaveUp {
				refusal = got.err
			} else {
				require.Equal(t, "body", got.body)
			}
			if c.want == "" {
				require.NoError(t, refusal)
			} else {
				require.EqualError(t, refusal, c.want)
			}
		}
	}
}

// connected is a base that fails with the error, once it has had a connection.
func connected(err error) roundTripFunc {
	return func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
		return nil, err
	}
}

// Every error after a connection was there is a failure of the connection, and says whether it is a timeout. Before that,
// io.EOF is one: net/http returns it for a TLS handshake or a proxy that was cut off.
func TestErrorsThatSayNothing(t *testing.T) {
	t.Parallel()
	silent := errors.New("silent")
	for name, c := range map[string]struct {
		base    http.RoundTripper
		err     error
		again   bool
		timeout bool
	}{
		"before a connection":     {scripted{err: silent}, silent, false, false},
		"after a connection":      {connected(silent), silent, true, false},
		"end before a connection": {scripted{err: io.EOF}, io.EOF, true, false},
		"end at a proxy":          {scripted{err: &net.OpError{Op: "proxyconnect", Net: "tcp", Err: io.EOF}}, io.EOF, true, false},
		"end after a connection":  {connected(io.EOF), io.EOF, true, false},
		"timeout":                 {connected(os.ErrDeadlineExceeded), os.ErrDeadlineExceeded, true, true},
		"timeout of another":      {connected(&fielded{os.ErrDeadlineExceeded}), os.ErrDeadlineExceeded, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := try(t, httpretry.Config{Base: c.base}, newRequest(t, http.MethodGet, ""))
			require.ErrorIs(t, got.err, c.err)
			require.Equal(t, c.again, got.attempts == 3)
			if refusal, ok := errors.AsType[*retry.Error](got.err); c.again {
				require.True(t, ok)
				require.Equal(t, c.timeout, refusal.Timeout())
			}
		})
	}
}

// fielded is an error whose methods read a field, so that those of a nil pointer panic.
type fielded struct{ inner error }

func (e *fielded) Error() string   { return e.inner.Error() }
func (e *fielded) Unwrap() error   { return e.inner }
func (e *fielded) Is(error) bool   { return e.inner == nil }
func (e *fielded) Timeout() bool   { return e.inner == nil }
func (e *fielded) Temporary() bool { return e.inner == nil }

// holding is an error that can be compared only if what it holds can.
type holding struct{ what any }

func (holding) Error() string { return "holding" }

// A base that returns a nil pointer of some type as its error is a common mistake.
func TestErrorsOfABaseThatPanicEndTheRequest(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]error{
		"nil pointer":                    (*fielded)(nil),
		"nil pointer of the net package": (*net.OpError)(nil),
		"nil pointer below another":      &fielded{(*net.DNSError)(nil)},
		"nil answer":                     (*httpretry.ResponseError)(nil),
		"not to be compared":             holding{[]int{1}},
	} {
		for _, limit := range []time.Duration{0, time.Minute} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				got := try(t, httpretry.Config{AttemptTimeout: within(limit), Base: scripted{err: odd}}, newRequest(t, method, "body"))
				require.Equal(t, fmt.Sprintf("%#v", odd), fmt.Sprintf("%#v", got.err), name)
				require.Equal(t, 1, got.attempts, name)
			}
		}
	}
}

// The error of net/http for the legacy channel says nothing about itself.
func TestErrorOfTheLegacyChannelIsFinal(t *testing.T) {
	t.Parallel()
	canceled, ended := make(chan struct{}), errors.New("net/http: request canceled")
	request := newRequest(t, http.MethodGet, "")
	request.Cancel = canceled //nolint:staticcheck // it is still there
	require.Equal(t, ended, exchange(newTransport(t, httpretry.Config{
		Strategy: on(t, nil), Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
			close(canceled)
			return connected(ended)(r)
		}),
	}), request).err)
}

func TestResponseErrorSaysWhatTheServiceSaid(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*httpretry.ResponseError{
		"httpretry: status 503 Service Unavailable":     {Status: 503},
		"httpretry: status 400 Bad Request: Throttling": {Status: 400, Code: "Throttling"},
		"httpretry: status 599: unexpected EOF":         {Status: 599, Err: io.ErrUnexpectedEOF},
	} {
		require.EqualError(t, err, want)
		require.Equal(t, err.Err, errors.Unwrap(err))
		require.Equal(t, err.Status, err.HTTPStatusCode())
		require.Equal(t, err.Code, err.ErrorCode())
	}
}
