package otelretry

import (
	"net/http"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/awsretry/awsretry/retry"
)

// ResendCount returns a round tripper that sets the attribute http.request.resend_count on the span in
// a request's context: 1 for the second attempt, 2 for the third. As the semantic conventions require,
// the first attempt has no such attribute. A nil base means [http.DefaultTransport].
//
// Put it inside the round tripper that makes a span for each attempt, and that one inside httpretry:
//
//	httpretry.Config{Base: otelhttp.NewTransport(otelretry.ResendCount(nil))}
//
// If one span covers all attempts, it has the count of the last.
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
