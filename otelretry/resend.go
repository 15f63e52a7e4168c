package otelretry

import (
	"net/http"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/awsretry/awsretry/retry"
)

// ResendCount returns a round tripper that sets the attribute http.request.resend_count on the span in
// the context of a request: 1 for the second attempt, 2 for the third. The first attempt has no such
// attribute, as the semantic conventions want it. Nil means [http.DefaultTransport].
//
// It belongs inside the round tripper that makes a span for each attempt, and that inside httpretry:
//
//	httpretry.Config{Base: otelhttp.NewTransport(otelretry.ResendCount(nil))}
//
// With one span around all attempts, that span has the count of the last one.
func ResendCount(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &resendCount{base}
}

type resendCount struct{ base http.RoundTripper }

func (c *resendCount) RoundTrip(r *http.Request) (*http.Response, error) {
	if attempt, ok := retry.AttemptFrom(r.Context()); ok && attempt.Number > 1 {
		trace.SpanFromContext(r.Context()).SetAttributes(semconv.HTTPRequestResendCount(attempt.Number - 1))
	}
	return c.base.RoundTrip(r)
}

// CloseIdleConnections closes the idle connections of the base if it can do that.
func (c *resendCount) CloseIdleConnections() {
	if base, ok := c.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
