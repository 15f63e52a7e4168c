package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	errDial = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	// The same as net/http returns it with a proxy.
	errProxy = &net.OpError{Op: "proxyconnect", Net: "tcp", Err: errDial}
	errSOCKS = &net.OpError{Op: "socks connect", Net: "tcp", Err: errDial}
	errReset = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// marked is a failure that carries the verdict, and is wrapped.
func marked(v classify.Verdict) error {
	return fmt.Errorf("base: %w", &classify.JudgedError{Verdict: v, Err: errReset})
}

// bodyReader is a body that counts how often it is closed.
type bodyReader struct {
	io.Reader
	closed atomic.Int32
}

func (b *bodyReader) Close() error { b.closed.Add(1); return nil }

func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	post := func(r *http.Request) { r.Method = http.MethodPost }
	withKey := func(r *http.Request) { post(r); r.Header.Set("Idempotency-Key", "1") }
	stream := func(r *http.Request) { r.GetBody = nil }
	failure := func(err error) scripted { return scripted{err: err} }
	status := func(status int, header ...string) scripted { return scripted{status: status, header: header} }
	for _, c := range []struct {
		name    string
		request func(r *http.Request)
		unread  bool // the base fails before it reads the body
		fails   scripted
		config  httpretry.Config
		want    int
	}{
		{name: "PUT, reset", fails: failure(errReset), want: 3},
		{name: "PUT, 500", fails: status(500), want: 3},
		{name: "PUT, 404", fails: status(404), want: 1},
		{name: "POST, reset", request: post, fails: failure(errReset), want: 1},
		{name: "POST, no connection", request: post, fails: failure(errDial), want: 3},
		{name: "POST, no connection to a proxy", request: post, fails: failure(errProxy), want: 3},
		{name: "POST, no connection through a SOCKS proxy", request: post, fails: failure(errSOCKS), want: 3},
		{name: "POST, no name for now", request: post, fails: failure(&net.DNSError{IsTemporary: true}), want: 3},
		{name: "POST, name server refuses", request: post, fails: failure(&net.DNSError{Err: "server misbehaving"}), want: 3},
		{name: "POST, no such name", request: post, fails: failure(&net.DNSError{IsNotFound: true}), want: 1},
		{name: "POST, 500", request: post, fails: status(500), want: 1},
		{name: "POST, 502", request: post, fails: status(502, "Retry-After", "1"), want: 1},
		{name: "POST, 503", request: post, fails: status(503), want: 1},
		{name: "POST, 503 with a hint", request: post, fails: status(503, "Retry-After", "1"), want: 3},
		{name: "POST, 429", request: post, fails: status(429), want: 3},
		{name: "POST, a throttle", request: post, fails: status(400, "X-Amzn-Errortype", "Throttling"), want: 3},
		{name: "POST with a key, reset", request: withKey, fails: failure(errReset), want: 3},
		{name: "POST, reset, idempotent by config", request: post, fails: failure(errReset), want: 3, config: httpretry.Config{
			Idempotent: func(*http.Request) bool { return true },
		}},
		{name: "PUT, reset, not idempotent by config", fails: failure(errReset), want: 1, config: httpretry.Config{
			Idempotent: func(*http.Request) bool { return false },
		}},
		{name: "POST, reset, marked", request: post, fails: failure(marked(classify.RetryAs(classify.Transient))), want: 3},
		{name: "POST, reset, marked as final", request: post, fails: failure(marked(classify.Forbidden())), want: 1},
		{name: "PUT, reset, marked as final", fails: failure(marked(classify.Forbidden())), want: 1},
		{name: "POST, reset, one of two marked", request: post, want: 1, fails: failure(
			errors.Join(errReset, marked(classify.RetryAs(classify.Transient))),
		)},
		{name: "POST, reset, by a policy", request: post, fails: failure(errReset), want: 3, config: httpretry.Config{
			Policy: func(_ *http.Response, err error) error { return retry.Mark(err, classify.Transient) },
		}},
		{name: "stream, reset", request: stream, fails: failure(errReset), want: 1},
		{name: "stream, 503", request: stream, fails: status(503), want: 1},
		{name: "stream, by a policy", request: stream, fails: status(503), want: 1, config: httpretry.Config{
			Policy: func(_ *http.Response, err error) error { return retry.Mark(err, classify.Transient) },
		}},
		{name: "stream, no connection, unread", request: stream, unread: true, fails: failure(errDial), want: 3},
		{name: "stream, 503, unread", request: stream, unread: true, fails: status(503), want: 3},
		{name: "stream, POST, 503, unread", request: func(r *http.Request) { post(r); stream(r) }, unread: true, fails: status(503), want: 1},
		{name: "stream of unknown length", request: func(r *http.Request) { stream(r); r.ContentLength = 0 }, fails: status(503), want: 1},
		{name: "NoBody", request: func(r *http.Request) { r.Body = http.NoBody; stream(r) }, fails: status(503), want: 3},
		{name: "nil body", request: func(r *http.Request) { r.Body = nil; stream(r) }, fails: status(503), want: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			body := &bodyReader{Reader: strings.NewReader("body")}
			request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
			request.Body = body
			if c.request != nil {
				c.request(request)
			}
			bodiless := request.Body == nil || request.Body == http.NoBody
			attempts := 0
			c.config.Strategy = on(t, clk)
			c.config.Base = roundTripFunc(func(r *http.Request) (*http.Response, error) {
				attempts++
				if !c.unread && !bodiless {
					text, err := io.ReadAll(r.Body)
					require.NoError(t, err)
					require.Equal(t, "body", string(text))
				}
				if r.Body != nil {
					require.NoError(t, r.Body.Close())
				}
				return c.fails.RoundTrip(r)
			})
			transport := newTransport(t, c.config)
			clk.Run(func() { exchange(transport, request) })
			require.Equal(t, c.want, attempts)
			if !bodiless {
				require.Equal(t, int32(1), body.closed.Load(), "the body is closed once")
			}
		})
	}
}

func TestBodyIsClosedWhereThereIsNoAttempt(t *testing.T) {
	t.Parallel()
	for _, replayable := range []bool{false, true} {
		for name, change := range map[string]func(r *http.Request) *http.Request{
			"a caller that is gone": func(r *http.Request) *http.Request { return r.WithContext(gone(r.Context())) },
			"a bad edit": func(r *http.Request) *http.Request {
				return r.WithContext(httpretry.With(r.Context(), func(c *httpretry.Config) { c.MaxAttempts = -1 }))
			},
			"an operation out of range": func(r *http.Request) *http.Request {
				return r.WithContext(httpretry.With(r.Context(), func(c *httpretry.Config) {
					c.Operation = func(*http.Request) retry.Operation { return retry.Operation{MaxAttempts: -1} }
				}))
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				body := &bodyReader{Reader: strings.NewReader("body")}
				request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
				request.Body = body
				if !replayable {
					request.GetBody = nil
				}
				transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: always("")})
				require.Error(t, exchange(transport, change(request)).err)
				require.Equal(t, int32(1), body.closed.Load())
			})
		}
	}
}

func TestBodyThatCannotBeMadeAgain(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	gone := errors.New("file is gone")
	request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
	request.GetBody = func() (io.ReadCloser, error) { return nil, gone }
	transport := newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: always("")})
	clk.Run(func() {
		err := exchange(transport, request).err
		require.ErrorIs(t, err, gone)
		require.EqualError(t, err, "httpretry: body of attempt 2: file is gone")
	})
}

func TestBaseThatReadsTheBodyLate(t *testing.T) {
	t.Parallel()
	for _, readBeforeRetry := range []bool{true, false} {
		clk := &clock.Fake{}
		body := &bodyReader{Reader: strings.NewReader("body")}
		request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
		request.Body, request.GetBody = body, nil
		quota := modes(t, standard.Config{Clock: clk})["standard"]
		var first io.ReadCloser
		attempts := 0
		s := &lateReader{Strategy: quota, read: func() {
			if readBeforeRetry {
				_, err := first.Read(make([]byte, 1))
				require.NoError(t, err)
			}
		}}
		transport := newTransport(t, httpretry.Config{Strategy: s, Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 1 {
				first = r.Body
				return scripted{status: 503}.RoundTrip(r)
			}
			_, err := first.Read(make([]byte, 1))
			require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
			text, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.NoError(t, r.Body.Close())
			return scripted{status: 200, body: string(text)}.RoundTrip(r)
		})})
		clk.Run(func() {
			got := exchange(transport, request)
			require.NoError(t, got.err)
			if readBeforeRetry {
				require.Equal(t, 503, got.status)
			} else {
				require.Equal(t, "body", got.body)
			}
		})
		require.NoError(t, first.Close())
		require.Equal(t, int32(1), body.closed.Load())
		require.Equal(t, 500, quota.Snapshot().Scopes[1].Quota, "what the retry took is given back")
	}
}

// lateReader calls read while the strategy decides.
type lateReader struct {
	retry.Strategy
	read func()
}

func (s *lateReader) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	s.read()
	return s.Strategy.RefreshRetryToken(ctx, t, failure)
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
