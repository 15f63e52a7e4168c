package httpretry_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
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

// events keeps what an observer is told.
type events []retry.Event

func (all *events) Observe(_ context.Context, e retry.Event) { *all = append(*all, e) }

// of returns the events of these kinds.
func (all *events) of(kinds ...retry.EventKind) (found events) {
	for _, e := range *all {
		for _, kind := range kinds {
			if e.Kind == kind {
				found = append(found, e)
			}
		}
	}
	return found
}

func newTransport(tb testing.TB, config httpretry.Config) *httpretry.Transport {
	tb.Helper()
	transport, err := httpretry.New(config)
	require.NoError(tb, err)
	return transport
}

// bubble runs a parallel subtest in a bubble.
func bubble(t *testing.T, name string, play func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, play)
	})
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

// clientOf returns a client of the service, over a standard strategy.
func clientOf(t *testing.T, service http.HandlerFunc, config httpretry.Config) *http.Client {
	t.Helper()
	inner := serve(t, service).Transport()
	t.Cleanup(inner.CloseIdleConnections)
	if config.Strategy == nil {
		config.Strategy = on(t, nil)
	}
	config.Base = inner
	return &http.Client{Transport: newTransport(t, config)}
}

// pause waits in the bubble, and reports whether the context has not ended before.
func pause(ctx context.Context, d time.Duration) bool { return clock.System{}.Sleep(ctx, d) == nil }

// newRequest returns a request whose body can be sent again; without a body if the text is
// empty.
func newRequest(tb testing.TB, method, body string) *http.Request {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, "http://service/", strings.NewReader(body))
	require.NoError(tb, err)
	return r
}

// reply is what a client gets.
type reply struct {
	status   int
	body     string
	bodyErr  error
	refusal  error
	err      error
	attempts int           // of a trial
	took     time.Duration // of a trial
}

// exchange sends the request and reads the response to its end.
func exchange(rt http.RoundTripper, r *http.Request) reply {
	response, err := rt.RoundTrip(r)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{status: response.StatusCode, body: string(text), bodyErr: err, refusal: httpretry.Refusal(response)}
}

func get(t *testing.T, client *http.Client) reply {
	t.Helper()
	return exchange(roundTripFunc(client.Do), newRequest(t, http.MethodGet, ""))
}

// try sends a request through a Transport with the config, whose fake clock moves on when it waits. Without a
// strategy it has a standard one.
func try(tb testing.TB, config httpretry.Config, r *http.Request) (got reply) {
	tb.Helper()
	if config.Strategy == nil {
		config.Strategy = on(tb, &clock.Fake{})
	}
	base, attempts := config.Base, 0
	config.Base = roundTripFunc(func(r *http.Request) (*http.Response, error) {
		attempts++
		return base.RoundTrip(r)
	})
	transport, clk := newTransport(tb, config), config.Strategy.Clock()
	start := clk.Now()
	if fake, ok := clk.(*clock.Fake); ok {
		fake.Run(func() { got = exchange(transport, r) })
	} else {
		got = exchange(transport, r)
	}
	got.attempts, got.took = attempts, clk.Now().Sub(start)
	return got
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

// lastOf returns the response that the client gave up on.
func lastOf(tb testing.TB, err error) *httpretry.ResponseError {
	tb.Helper()
	said, ok := errors.AsType[*httpretry.ResponseError](err)
	require.True(tb, ok, "%v", err)
	return said
}

// within returns the timeout of that length, or none for zero.
func within(d time.Duration) retry.AttemptTimeout {
	if d == 0 {
		return nil
	}
	return retry.FixedTimeout{First: d}
}

// always answers every attempt with the same throttle.
func always(body string, header ...string) http.RoundTripper {
	return scripted{status: 400, body: body, header: append(header, "X-Amzn-Errortype", "Throttling")}
}

// requireThrottle checks that an error holds what the service said.
func requireThrottle(tb testing.TB, err error) {
	tb.Helper()
	said := lastOf(tb, err)
	require.Equal(tb, 400, said.Status)
	require.Equal(tb, "Throttling", said.Code)
}

// bodyReader is a body that cannot be read after its end or after Close, and that counts.
type bodyReader struct {
	io.Reader
	read, closed atomic.Int32
	ended        atomic.Bool
}

func newBody(text string) *bodyReader { return &bodyReader{Reader: strings.NewReader(text)} }

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.closed.Load() > 0 || b.ended.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.Reader.Read(p)
	b.read.Add(int32(n)) //nolint:gosec // less than a megabyte
	b.ended.Store(err != nil)
	return n, err
}

func (b *bodyReader) Close() error { b.closed.Add(1); return nil }

// around is a strategy by another author.
type around struct{ retry.Strategy }
