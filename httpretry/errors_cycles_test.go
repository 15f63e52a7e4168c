package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// ring is an error with an HTTP status, as AWS clients return it, that wraps another, perhaps itself.
type ring struct{ inner error }

func (*ring) Error() string       { return "service unavailable" }
func (*ring) HTTPStatusCode() int { return http.StatusServiceUnavailable }
func (r *ring) Unwrap() error     { return r.inner }

// web is such an error that wraps several, perhaps itself.
type web struct {
	ring
	inner []error
}

func (w *web) Unwrap() []error { return w.inner }

// stubborn refuses every retry with an error that is not of the package retry.
type stubborn struct{ retry.Strategy }

func (stubborn) RefreshRetryToken(_ context.Context, t retry.Token, failure error) (retry.Token, error) {
	return t, fmt.Errorf("no: %w", failure)
}

func TestErrorsThatWrapWithoutEndHoldUpNothing(t *testing.T) {
	t.Parallel()
	type base = func(r *http.Request, err error) (*http.Response, error)
	fails := func(_ *http.Request, err error) (*http.Response, error) { return nil, err }
	late := func(r *http.Request, err error) (*http.Response, error) { <-r.Context().Done(); return nil, err }
	lateAndSaysSo := func(r *http.Request, err error) (*http.Response, error) {
		<-r.Context().Done()
		return nil, errors.Join(r.Context().Err(), err)
	}
	inTheBody := func(_ *http.Request, err error) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, ContentLength: -1, Body: io.NopCloser(iotest.ErrReader(err))}, nil
	}
	const exhausted, second = "client-side: attempts exhausted", time.Second
	for _, c := range []struct {
		name, method string
		base         base
		change       func(c *httpretry.Config)
		want         string // a part of the text of the error
		timeout      bool   // what the method Timeout of the error returns
	}{
		{"all attempts", "GET", fails, nil, exhausted, false},
		{"on a connection", "GET", func(r *http.Request, err error) (*http.Response, error) { return connected(err)(r) }, nil, exhausted, false},
		{"not to be repeated", "POST", fails, nil, "service unavailable", false},
		{"response not to be repeated", "POST", inTheBody, nil, "httpretry: status 503 Service Unavailable: service unavailable", false},
		{"without time", "GET", late, func(c *httpretry.Config) { c.AttemptTimeout = within(second) }, exhausted, false},
		{
			"without time, not to be repeated", "POST", lateAndSaysSo, func(c *httpretry.Config) { c.AttemptTimeout = within(second) },
			"retry: attempt timed out after 1s", true,
		},
		{"without time, and says so", "GET", lateAndSaysSo, func(c *httpretry.Config) { c.AttemptTimeout = within(second) }, exhausted, true},
		{"a strategy with words of its own", "GET", fails, func(c *httpretry.Config) {
			c.Strategy = stubborn{c.Strategy}
		}, "client-side: no: service unavailable", false},
	} {
		self, list, open := &ring{}, &web{}, &ring{}
		self.inner, list.inner = &ring{self}, []error{list, list, nil, list}
		for kind, err := range map[string]error{"two that wrap each other": self, "a list of itself": list, "its own refusal": open} {
			bubble(t, c.name+"/"+kind, func(t *testing.T) {
				t.Helper()
				send := func() error {
					config := httpretry.Config{Strategy: on(t, nil), RefusalAsError: true}
					config.Base = roundTripFunc(func(r *http.Request) (*http.Response, error) { return c.base(r, err) })
					if c.change != nil {
						c.change(&config)
					}
					got := try(t, config, newRequest(t, c.method, ""))
					return errors.Join(got.err, got.refusal) // one of them
				}
				got := send()
				if err == open { //nolint:errorlint // the error itself
					open.inner = got
					got = send()
				}
				require.Contains(t, fmt.Sprint(got), c.want)
				asked, ok := got.(interface{ Unwrap() []error }).Unwrap()[0].(interface{ Timeout() bool }) //nolint:forcetypeassert // of errors.Join
				require.Equal(t, c.timeout, ok && asked.Timeout())
			})
		}
	}
}
