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

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	require.NoError(t, httpretry.Refusal(nil))
	require.NoError(t, httpretry.Refusal(&http.Response{}))
	require.NoError(t, httpretry.Refusal(&http.Response{Request: newRequest(t.Context(), t, http.MethodGet, "http://x/", "")}))
	for _, c := range []struct {
		status   int
		attempts int
		post     bool
		gaveUp   bool
		want     string
	}{
		{status: 200},
		{status: 304},
		{status: 404, want: "httpretry: status 404 Not Found"},
		{status: 404, post: true, want: "httpretry: status 404 Not Found"},
		{status: 501, want: "httpretry: status 501 Not Implemented"},
		{
			status: 503, attempts: 1, gaveUp: true,
			want: "retry: client-side: attempts exhausted: last error: httpretry: status 503 Service Unavailable (1 attempt of 1)",
		},
		{
			status: 500, post: true, gaveUp: true,
			want: "retry: client-side: failure is not retryable: httpretry: POST is not sent again: it may have been executed" +
				" and is not idempotent: last error: httpretry: status 500 Internal Server Error (1 attempt)",
		},
	} {
		for _, asError := range []bool{false, true} {
			transport := newTransport(t, httpretry.Config{
				Strategy: on(t, &clock.Fake{}), MaxAttempts: c.attempts, RefusalAsError: asError,
				Operation: func(*http.Request) retry.Operation { return retry.Operation{} },
				Base:      scripted{status: c.status, body: "body"},
			})
			method := http.MethodGet
			if c.post {
				method = http.MethodPost
			}
			got := exchange(transport, newRequest(t.Context(), t, method, "http://service/", ""))
			if asError && c.gaveUp {
				require.EqualError(t, got.err, c.want)
				continue
			}
			require.NoError(t, got.err)
			require.Equal(t, "body", got.body)
			if c.want == "" {
				require.NoError(t, got.refusal)
			} else {
				require.EqualError(t, got.refusal, c.want)
			}
		}
	}
}

// Every error after a connection was there is a failure of the connection. Before that, io.EOF
// is one: net/http returns it for a TLS handshake or a proxy that was cut off.
func TestErrorsThatSayNothing(t *testing.T) {
	t.Parallel()
	silent := errors.New("silent")
	for _, c := range []struct {
		name      string
		connected bool
		err       error
		want      int
	}{
		{"before a connection", false, silent, 1},
		{"after a connection", true, silent, 3},
		{"an end before a connection", false, io.EOF, 3},
		{"an end at a proxy", false, &net.OpError{Op: "proxyconnect", Net: "tcp", Err: io.EOF}, 3},
		{"an end after a connection", true, io.EOF, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			attempts := 0
			transport := newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
				attempts++
				if c.connected {
					httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
				}
				return nil, c.err
			})})
			clk.Run(func() {
				err := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", "")).err
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.want == 3, errors.Is(err, retry.ErrAttemptsExhausted))
			})
			require.Equal(t, c.want, attempts)
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
				t.Run(fmt.Sprint(name, "/", limit, "/", method), func(t *testing.T) {
					t.Parallel()
					calls := 0
					transport := newTransport(t, httpretry.Config{
						Strategy: on(t, &clock.Fake{}), AttemptTimeout: within(limit),
						Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
							calls++
							return nil, odd
						}),
					})
					got := exchange(transport, newRequest(t.Context(), t, method, "http://service/", "body"))
					require.Equal(t, fmt.Sprintf("%#v", odd), fmt.Sprintf("%#v", got.err))
					require.Equal(t, 1, calls)
				})
			}
		}
	}
}

// The error of net/http for the legacy channel says nothing about itself.
func TestErrorOfTheLegacyChannelIsFinal(t *testing.T) {
	t.Parallel()
	canceled, ended := make(chan struct{}), errors.New("net/http: request canceled")
	transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
		close(canceled)
		return nil, ended
	})})
	request := newRequest(t.Context(), t, http.MethodGet, "http://service/", "")
	request.Cancel = canceled //nolint:staticcheck // it is still there
	require.Equal(t, ended, exchange(transport, request).err)
}

func TestErrorsOfConnectionsSayWhetherTheyAreTimeouts(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]bool{
		os.ErrDeadlineExceeded: true, io.ErrUnexpectedEOF: false, &fielded{os.ErrDeadlineExceeded}: false,
	} {
		transport := newTransport(t, httpretry.Config{
			Strategy: on(t, nil), MaxAttempts: 1,
			Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
				return nil, cause
			}),
		})
		err := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", "")).err
		refusal, ok := errors.AsType[*retry.Error](err)
		require.True(t, ok)
		require.ErrorIs(t, err, cause)
		require.Equal(t, want, refusal.Timeout())
	}
}

func TestResponseErrorSaysWhatTheServiceSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  *httpretry.ResponseError
		want string
	}{
		{&httpretry.ResponseError{Status: 503}, "httpretry: status 503 Service Unavailable"},
		{&httpretry.ResponseError{Status: 400, Code: "Throttling"}, "httpretry: status 400 Bad Request: Throttling"},
		{&httpretry.ResponseError{Status: 599, Err: io.ErrUnexpectedEOF}, "httpretry: status 599: unexpected EOF"},
	} {
		require.EqualError(t, c.err, c.want)
		require.Equal(t, c.err.Err, errors.Unwrap(c.err))
		require.Equal(t, c.err.Status, c.err.HTTPStatusCode())
		require.Equal(t, c.err.Code, c.err.ErrorCode())
	}
}
