package awssdk

import (
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errtree"
)

// retryAfterHeader is the delay that a service asks for, in milliseconds.
const retryAfterHeader = "X-Amz-Retry-After"

// hintedError is an error whose response asked for a delay.
type hintedError struct {
	error
	after time.Duration
}

func (e *hintedError) Unwrap() error { return e.error }

// RetryAfter returns the delay.
func (e *hintedError) RetryAfter() (time.Duration, bool) { return e.after, true }

// failureOf returns the error of an attempt as a strategy must see it: with the hint of the
// server, which the errors of the SDK do not tell, and marked as clock skew where the loop has
// found that. A throttle stays one. raw is the error before the loop has changed it.
func failureOf(err, raw error) error {
	failure := err
	if after, ok := hintOf(err); ok {
		failure = &hintedError{err, after}
	}
	if err != raw && isSkew(err) && !throttles(err) { //nolint:errorlint // whether the loop has wrapped it
		failure = &classify.JudgedError{Verdict: classify.RetryAs(classify.ClockSkew), Err: failure}
	}
	return failure
}

func hintOf(err error) (after time.Duration, ok bool) {
	return classify.ParseRetryAfterMillis(hintHeader(err))
}

// hintHeader returns the header with the hint; empty if there is none.
func hintHeader(err error) string {
	response, ok := errtree.As[*smithyhttp.ResponseError](err)
	if !ok || response.Response == nil || response.Response.Response == nil {
		return ""
	}
	return response.Response.Header.Get(retryAfterHeader)
}

// isSkew reports whether err is what the loop of the SDK puts around an error that it has
// traced to a difference of clocks.
func isSkew(err error) bool {
	skew, ok := err.(interface{ RetryableError() bool })
	return ok && skew.RetryableError()
}

func throttles(err error) bool {
	return classify.Default().Classify(classify.Outcome{Err: err}).Kind() == classify.Throttling
}

// forced judges a failure for which the loop of the SDK has decided that it is to be
// retried. The strategy may refuse for other reasons.
func forced(failure error) error {
	verdict := classify.Default().Classify(classify.Outcome{Err: failure})
	if !verdict.Retryable() {
		verdict = classify.RetryAs(classify.Transient)
	}
	return &classify.JudgedError{Verdict: verdict, Err: failure}
}
