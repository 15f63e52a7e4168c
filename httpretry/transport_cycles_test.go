package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// unavailable is an error with an HTTP status, as AWS clients return it.
type unavailable struct{}

func (unavailable) Error() string       { return "service unavailable" }
func (unavailable) HTTPStatusCode() int { return http.StatusServiceUnavailable }

// ring is a server error that wraps one error, perhaps itself.
type ring struct {
	unavailable
	inner error
}

func (r *ring) Unwrap() error { return r.inner }

// web is a server error that wraps several, perhaps itself.
type web struct {
	unavailable
	inner []error
}

func (w *web) Unwrap() []error { return w.inner }

// cycles returns errors that wrap others without an end. The last one does so once its test has
// made it wrap its own result.
func cycles() map[string]error {
	self, one, list := &ring{}, &ring{}, &web{}
	self.inner = self
	one.inner = &ring{inner: one}
	list.inner = []error{list, list, nil, list}
	return map[string]error{
		"an error that wraps itself": self, "two that wrap each other": one, "a list of itself": list,
		"an error that wraps its own refusal": &ring{},
	}
}

// stubborn refuses every retry with an error that is not of the package retry.
type stubborn struct{ retry.Strategy }

func (stubborn) RefreshRetryToken(_ context.Context, t retry.Token, failure error) (retry.Token, error) {
	return t, fmt.Errorf("no: %w", failure)
}

// doomed is an operation with such an error.
type doomed struct {
	ctx      context.Context //nolint:containedctx // the context of the caller
	cancel   context.CancelFunc
	strategy retry.Strategy
	err      error
}

func (d doomed) fail(context.Context) error { return d.err }

func (d doomed) failLate(ctx context.Context) error {
	<-ctx.Done()
	return d.err
}

func (d doomed) failWithContext(ctx context.Context) error {
	<-ctx.Done()
	return errors.Join(ctx.Err(), d.err)
}

func (d doomed) failCanceled(context.Context) error {
	d.cancel()
	return d.err
}

func (d doomed) do(attempt func(ctx context.Context) error, opts ...retry.Option) error {
	_, err := retry.Do(d.ctx, d.strategy, retry.Operation{}, func(ctx context.Context) (int, error) {
		return 0, attempt(ctx)
	}, opts...)
	return err
}

// failing is a round tripper that fails before its response, perhaps on a connection, or in the
// body of the response.
type failing struct {
	attempt              func(ctx context.Context) error
	connected, answering bool
}

func (b failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.connected {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	}
	err := b.attempt(r.Context())
	if !b.answering {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: header, ContentLength: -1, Body: io.NopCloser(iotest.ErrReader(err))}, nil
}

func (d doomed) send(method string, b failing, limit time.Duration) error {
	config := httpretry.Config{Strategy: d.strategy, Base: b, RefusalAsError: true}
	if limit > 0 {
		config.AttemptTimeout = retry.FixedTimeout{First: limit}
	}
	transport, err := httpretry.New(config)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(d.ctx, method, "http://service/", http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return httpretry.Refusal(response)
}

func TestErrorsThatWrapWithoutEndHoldUpNothing(t *testing.T) {
	t.Parallel()
	judge := func(err error) error {
		return errors.New(classify.Default().Classify(classify.Outcome{Err: err}).String())
	}
	again := retry.WithPolicy(func(_ int, err error) error { return retry.Mark(err, classify.Server) })
	final := retry.WithPolicy(func(_ int, err error) error { return retry.Permanent(err) })
	const exhausted = "client-side: attempts exhausted"
	for _, c := range []struct {
		name    string
		enter   func(d doomed) error
		want    string // A part of the text of the error.
		timeout bool   // The result of the error's Timeout method.
	}{
		{"a verdict", func(d doomed) error { return judge(d.err) }, "retry(transient)", false},
		{"a verdict on a refusal", func(d doomed) error {
			return judge(&retry.Error{Reason: retry.ErrMaxElapsed, Last: d.err})
		}, "retry(transient)", false},
		{"a verdict on a timeout", func(d doomed) error {
			return judge(&retry.AttemptTimeoutError{Err: d.err})
		}, "retry(timeout)", false},
		{"a success after a retry", func(d doomed) error {
			failed := false
			return d.do(func(context.Context) error {
				if failed {
					return nil
				}
				failed = true
				return d.err
			})
		}, "<nil>", false},
		{"all attempts", func(d doomed) error { return d.do(d.fail) }, exhausted, false},
		{"a canceled context", func(d doomed) error { return d.do(d.failCanceled) }, "client-side: canceled", false},
		{"attempts without time", func(d doomed) error {
			return d.do(d.failLate, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
		}, exhausted, false},
		{"attempts without time that say so", func(d doomed) error {
			return d.do(d.failWithContext, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
		}, exhausted, true},
		{"a policy for retries", func(d doomed) error {
			return d.do(d.fail, again)
		}, exhausted, false},
		{"a policy against them", func(d doomed) error { return d.do(d.fail, final) }, "service unavailable", false},
		{"a strategy with words of its own", func(d doomed) error {
			d.strategy = stubborn{d.strategy}
			return d.do(d.fail)
		}, "client-side: no: service unavailable", false},
		{"HTTP requests", func(d doomed) error {
			return d.send(http.MethodGet, failing{attempt: d.fail}, 0)
		}, exhausted, false},
		{"HTTP requests on a connection", func(d doomed) error {
			return d.send(http.MethodGet, failing{attempt: d.fail, connected: true}, 0)
		}, exhausted, false},
		{"an HTTP request that must not be repeated", func(d doomed) error {
			return d.send(http.MethodPost, failing{attempt: d.fail}, 0)
		}, "service unavailable", false},
		{"an HTTP response that must not be repeated", func(d doomed) error {
			return d.send(http.MethodPost, failing{attempt: d.fail, answering: true}, 0)
		}, "httpretry: status 503 Service Unavailable: service unavailable", false},
		{"a canceled HTTP request", func(d doomed) error {
			return d.send(http.MethodGet, failing{attempt: d.failCanceled}, 0)
		}, "client-side: canceled", false},
		{"HTTP requests without time", func(d doomed) error {
			return d.send(http.MethodGet, failing{attempt: d.failLate}, time.Second)
		}, exhausted, false},
		{"an HTTP request without time that must not be repeated", func(d doomed) error {
			return d.send(http.MethodPost, failing{attempt: d.failWithContext}, time.Second)
		}, "retry: attempt timed out after 1s", true},
		{"HTTP requests without time that say so", func(d doomed) error {
			return d.send(http.MethodGet, failing{attempt: d.failWithContext}, time.Second)
		}, exhausted, true},
	} {
		for kind, err := range cycles() {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, bad := standard.New(standard.Config{})
					require.NoError(t, bad)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					got := c.enter(doomed{ctx, cancel, s, err})
					if open, ok := err.(*ring); ok && open.inner == nil { //nolint:errorlint // the error itself
						open.inner = got
						got = c.enter(doomed{ctx, cancel, s, err})
					}
					require.Contains(t, fmt.Sprint(got), c.want)
					asked, ok := got.(interface{ Timeout() bool })
					require.Equal(t, c.timeout, ok && asked.Timeout())
				})
			})
		}
	}
}
