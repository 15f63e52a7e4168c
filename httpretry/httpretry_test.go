package httpretry_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// roundTripFunc is a function that is an http.RoundTripper.
type roundTripFunc func(r *http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// modes returns a strategy of each mode. Retries come after the longest delay: 1 s, 2 s, ...
// for every failure, unless the config has a Base or a Behavior.
func modes(tb testing.TB, config standard.Config) map[string]retry.Strategy {
	tb.Helper()
	if config.Base == 0 && config.Behavior == "" {
		config.Base = time.Second
	}
	if config.Random == nil {
		config.Random = func() float64 { return 1 }
	}
	s, err := standard.New(config)
	require.NoError(tb, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(tb, err)
	return map[string]retry.Strategy{"standard": s, "adaptive": a}
}

// on returns a standard strategy on the clock, with delays of 1 s, 2 s, ...
func on(tb testing.TB, clk clock.Clock) retry.Strategy {
	tb.Helper()
	return modes(tb, standard.Config{Clock: clk})["standard"]
}

func newTransport(t *testing.T, config httpretry.Config) *httpretry.Transport {
	t.Helper()
	transport, err := httpretry.New(config)
	require.NoError(t, err)
	return transport
}

// serve answers on a network inside the bubble until the test ends. Then no connection may
// be open.
func serve(t *testing.T, handler http.Handler) *pipenet.Network {
	t.Helper()
	network := pipenet.New()
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)} //nolint:gosec // no headers are late here
	served := make(chan error, 1)
	go func() { served <- server.Serve(network) }()
	t.Cleanup(func() {
		synctest.Wait()
		left := network.Open()
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
		require.Zero(t, left, "connections left")
	})
	return network
}

// newRequest returns a request whose body can be sent again; without a body if the text is
// empty.
func newRequest(ctx context.Context, tb testing.TB, method, url, body string) *http.Request {
	tb.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	require.NoError(tb, err)
	return r
}

// reply is what a client gets.
type reply struct {
	status  int
	header  http.Header
	body    string
	bodyErr error
	refusal error
	err     error
}

// exchange sends the request and reads the response to its end.
func exchange(rt http.RoundTripper, r *http.Request) reply {
	response, err := rt.RoundTrip(r)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{
		status: response.StatusCode, header: response.Header, body: string(text), bodyErr: err,
		refusal: httpretry.Refusal(response),
	}
}

// scripted is a base that does the same for every request.
type scripted struct {
	err    error
	status int
	body   string
	header []string // names and values
}

func (s scripted) RoundTrip(*http.Request) (*http.Response, error) {
	if s.err != nil {
		return nil, s.err
	}
	header := http.Header{}
	for i := 0; i < len(s.header); i += 2 {
		header.Set(s.header[i], s.header[i+1])
	}
	return &http.Response{
		StatusCode: s.status, Header: header, Body: io.NopCloser(strings.NewReader(s.body)), ContentLength: int64(len(s.body)),
	}, nil
}

// gone returns a context that has ended.
func gone(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// lastOf returns the response that the client gave up on.
func lastOf(err error) (*httpretry.ResponseError, bool) {
	return errors.AsType[*httpretry.ResponseError](err)
}

// within returns the timeout of that length, or none for zero.
func within(d time.Duration) retry.AttemptTimeout {
	if d == 0 {
		return nil
	}
	return retry.FixedTimeout{First: d}
}

const slowDown = "Throttling"

// always answers every attempt with the same throttle.
func always(body string, header ...string) http.RoundTripper {
	return scripted{status: 400, body: body, header: append(header, "X-Amzn-Errortype", slowDown)}
}

// requireThrottle checks that an error holds what the service said.
func requireThrottle(t *testing.T, err error) {
	t.Helper()
	said, ok := errors.AsType[*httpretry.ResponseError](err)
	require.True(t, ok, err)
	require.Equal(t, 400, said.Status)
	require.Equal(t, slowDown, said.Code)
}

var (
	errDial = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	// The same as net/http returns it with a proxy.
	errProxy = &net.OpError{Op: "proxyconnect", Net: "tcp", Err: errDial}
	errSOCKS = &net.OpError{Op: "socks connect", Net: "tcp", Err: errDial}
	errReset = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// bodyReader is a body that counts how often it is closed.
type bodyReader struct {
	io.Reader
	closed atomic.Int32
}

func (b *bodyReader) Close() error { b.closed.Add(1); return nil }

// clientOf returns a client of the service, over a standard strategy.
func clientOf(t *testing.T, service http.Handler, config httpretry.Config) *http.Client {
	t.Helper()
	inner := serve(t, service).Transport()
	t.Cleanup(inner.CloseIdleConnections)
	if config.Strategy == nil {
		config.Strategy = on(t, nil)
	}
	config.Base = inner
	return &http.Client{Transport: newTransport(t, config)}
}

func get(ctx context.Context, t *testing.T, client *http.Client) reply {
	t.Helper()
	return exchange(roundTripFunc(client.Do), newRequest(ctx, t, http.MethodGet, "http://service/", ""))
}

// around is a strategy by another author.
type around struct{ retry.Strategy }

// attemptTimeout is longer than every answer that is not meant to be slow, and shorter than the time for which
// the body of a failure is looked into.
const attemptTimeout = 900 * time.Millisecond

// strictBody is a body that cannot be read after its end or after Close, and that counts.
type strictBody struct {
	io.Reader
	read, closed int
	ended        bool
}

func (b *strictBody) Read(p []byte) (int, error) {
	if b.closed > 0 || b.ended {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.Reader.Read(p)
	b.read += n
	b.ended = err != nil
	return n, err
}

func (b *strictBody) Close() error { b.closed++; return nil }
