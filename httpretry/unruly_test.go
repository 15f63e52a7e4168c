package httpretry_test

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestBaseThatReturnsNothing(t *testing.T) {
	t.Parallel()
	transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return nil, nil //nolint:nilnil // that is the point
	})})
	got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.EqualError(t, got.err, "httpretry: Base returned neither a response nor an error")
}

func TestBaseThatReturnsBoth(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	body := &bodyReader{Reader: strings.NewReader("")}
	transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: body}, broken
	})})
	got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.Equal(t, broken, got.err)
	require.Equal(t, int32(1), body.closed.Load())
}

// A panic passes through. No body stays open, and the strategy hears of the attempt.
func TestPanics(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(){
		"panic":  func() { panic(http.ErrAbortHandler) },
		"Goexit": runtime.Goexit,
	} {
		for _, inPolicy := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := modes(t, standard.Config{Clock: clk})["standard"]
				sent, received := &bodyReader{Reader: strings.NewReader("x")}, &bodyReader{Reader: strings.NewReader("y")}
				attempts := 0
				transport := newTransport(t, httpretry.Config{
					Strategy: s, Operation: func(*http.Request) retry.Operation { return retry.Operation{} },
					Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
						if attempts++; attempts == 2 && !inPolicy {
							leave()
						}
						return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: received}, nil
					}),
					Policy: func(_ *http.Response, err error) error {
						if attempts == 2 {
							leave()
						}
						return err
					},
				})
				request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "x")
				request.Body = sent
				request.GetBody = func() (io.ReadCloser, error) { return http.NoBody, nil }
				clk.Run(func() {
					left := make(chan struct{})
					go func() { // which is the one that ends
						defer close(left)
						defer func() { _ = recover() }()
						exchange(transport, request)
					}()
					<-left
				})
				require.Equal(t, 2, attempts)
				require.Positive(t, sent.closed.Load())
				require.Equal(t, map[bool]int32{false: 1, true: 2}[inPolicy], received.closed.Load())
				require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
			})
		}
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
