package otelretry_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// traced are options of otelhttp for spans and no metrics.
func traced(provider *trace.TracerProvider) []otelhttp.Option {
	return []otelhttp.Option{otelhttp.WithTracerProvider(provider), otelhttp.WithMeterProvider(noop.NewMeterProvider())}
}

// resend returns http.request.resend_count of a span, or nil.
func resend(span trace.ReadOnlySpan) any {
	for _, a := range span.Attributes() {
		if a.Key == "http.request.resend_count" {
			return a.Value.AsInt64()
		}
	}
	return nil
}

// unavailable starts a server whose first two answers have status 503.
func unavailable(t *testing.T) *httptest.Server {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// get sends a request, and checks that it succeeds.
func get(ctx context.Context, t *testing.T, transport http.RoundTripper, url string) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := (&http.Client{Transport: transport}).Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// newTransport returns a transport that retries at once and is observed by the telemetry.
func newTransport(t *testing.T, base http.RoundTripper) *httpretry.Transport {
	t.Helper()
	_, config := newReader()
	strategy, err := standard.New(standard.Config{
		Random: func() float64 { return 0 }, Observer: newTelemetry(t, config),
	})
	require.NoError(t, err)
	transport, err := httpretry.New(httpretry.Config{Strategy: strategy, Base: base})
	require.NoError(t, err)
	return transport
}

func TestEachAttemptHasASpanWithItsResendCount(t *testing.T) {
	t.Parallel()
	recorder, provider := newTracing()
	transport := newTransport(t, otelhttp.NewTransport(otelretry.ResendCount(nil), traced(provider)...))
	ctx, span := provider.Tracer("").Start(t.Context(), "call")
	get(ctx, t, transport, unavailable(t).URL)
	span.End()

	ended := recorder.Ended()
	require.Len(t, ended, 4)
	for i, want := range []any{nil, int64(1), int64(2), nil} {
		require.Equal(t, want, resend(ended[i]), "span %d", i)
	}
	require.Equal(t, "call", ended[3].Name())
	require.Len(t, ended[3].Events(), 2)
	require.Equal(t, "awsretry.retry", ended[3].Events()[0].Name)
	require.Empty(t, ended[0].Events())
}

func TestOneSpanAroundAllAttemptsHasTheLastResendCount(t *testing.T) {
	t.Parallel()
	recorder, provider := newTracing()
	transport := otelhttp.NewTransport(newTransport(t, otelretry.ResendCount(nil)), traced(provider)...)
	get(t.Context(), t, transport, unavailable(t).URL)

	ended := recorder.Ended()
	require.Len(t, ended, 1)
	require.Equal(t, int64(2), resend(ended[0]))
	require.Len(t, ended[0].Events(), 2)
}

func TestARequestOutsideOfALoopHasNoResendCount(t *testing.T) {
	t.Parallel()
	recorder, provider := newTracing()
	base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	})
	transport := otelhttp.NewTransport(otelretry.ResendCount(base), traced(provider)...)
	get(t.Context(), t, transport, "http://service.example/")
	get(retry.Once(t.Context()), t, transport, "http://service.example/")
	for _, span := range recorder.Ended() {
		require.Nil(t, resend(span))
	}
	require.Len(t, recorder.Ended(), 2)
}

type roundTripFunc func(r *http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type closing struct {
	http.RoundTripper
	closed int
}

func (c *closing) CloseIdleConnections() { c.closed++ }

func TestResendCountClosesIdleConnections(t *testing.T) {
	t.Parallel()
	base := &closing{}
	(&http.Client{Transport: otelretry.ResendCount(base)}).CloseIdleConnections()
	require.Equal(t, 1, base.closed)
	(&http.Client{Transport: otelretry.ResendCount(roundTripFunc(nil))}).CloseIdleConnections()
}
