package httpretry_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/pipenet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// roundTripFunc is a function that is an http.RoundTripper.
type roundTripFunc func(r *http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// strategy is what both modes are.
type strategy interface {
	retry.Strategy
	Snapshot() retry.Snapshot
}

// modes returns a strategy of each mode, whose retries come after the longest
// delay unless the config says otherwise.
func modes(t *testing.T, config standard.Config) map[string]strategy {
	t.Helper()
	if config.Random == nil {
		config.Random = func() float64 { return 1 }
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	return map[string]strategy{"standard": s, "adaptive": a}
}

// on returns a standard strategy on the clock, with delays of 1 s, 2 s, ...
func on(t *testing.T, clk clock.Clock) retry.Strategy {
	t.Helper()
	return modes(t, standard.Config{Clock: clk})["standard"]
}

func newTransport(t *testing.T, config httpretry.Config) *httpretry.Transport {
	t.Helper()
	transport, err := httpretry.New(config)
	require.NoError(t, err)
	return transport
}

// moving calls f and moves the clock whenever somebody waits for it.
func moving(t *testing.T, clk *clock.Fake, f func()) {
	t.Helper()
	done, finish := context.WithCancel(t.Context())
	go func() {
		defer finish()
		f()
	}()
	for clk.BlockUntil(done, 1) == nil {
		clk.AdvanceToNext()
	}
	<-done.Done()
}

// serve answers on a network inside the bubble until the test ends. No connection
// may be left then.
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

// newRequest returns a request with a body that can be replayed; without one if
// body is empty.
func newRequest(ctx context.Context, t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	require.NoError(t, err)
	return r
}

// bodyOf reads and closes the body of a response.
func bodyOf(t *testing.T, response *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return string(text)
}

// answer is a response as it comes from a base.
func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}
