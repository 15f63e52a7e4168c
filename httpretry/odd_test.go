package httpretry_test

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
)

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

// oddBody is a body that cannot be read to its end.
type oddBody struct{ err error }

func (b oddBody) Read([]byte) (int, error) { return 0, b.err }
func (oddBody) Close() error               { return nil }

func TestErrorsOfABodyThatPanicLeaveTheAnswer(t *testing.T) {
	t.Parallel()
	transport := newTransport(t, httpretry.Config{
		Strategy: on(t, &clock.Fake{}),
		Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotFound, Body: oddBody{(*fielded)(nil)}, ContentLength: -1}, nil
		}),
	})
	response, err := transport.RoundTrip(newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	require.EqualError(t, httpretry.Refusal(response), "httpretry: status 404 Not Found: <nil>")
}
