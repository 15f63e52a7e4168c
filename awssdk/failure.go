package awssdk

import (
	"net/http"
	"time"

	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// retryAfterHeader is the delay that a service asks for, in milliseconds.
const retryAfterHeader = "X-Amz-Retry-After"

// annotatedError adds the retry hint and the throttle reasons that the SDK's errors lack.
type annotatedError struct {
	error
	after   time.Duration // if hinted
	hinted  bool
	reasons []classify.Reason
}

func (e *annotatedError) Unwrap() error { return e.error }

// RetryAfter returns the delay.
func (e *annotatedError) RetryAfter() (time.Duration, bool) { return e.after, e.hinted }

// ThrottledBy returns what a throttle is about.
func (e *annotatedError) ThrottledBy() []classify.Reason { return e.reasons }

// failureOf returns the error of an attempt of the call as its strategy must see it. What has failed before there was a request is
// retried if the SDK retries it, so that no provider of credentials is asked more often than by the SDK, or less often.
func (c *call) failureOf(err error) error {
	failure := failureOf(err, c.strategy.Clock().Now)
	if !c.early {
		return failure
	}
	known := classify.Default().Classify(classify.Outcome{Err: failure}).Retryable()
	switch retried := sdkretry.NewStandard().IsErrorRetryable(err); {
	case retried && !known:
		return forced(failure)
	case known && !retried:
		return &classify.JudgedError{Err: failure}
	}
	return failure
}

// failureOf returns the error of an attempt as a strategy must see it: with the hint of the server and the reasons of a
// throttle, and marked as clock skew where the loop has found that. A throttle stays one.
func failureOf(err error, now func() time.Time) error {
	throttled := throttles(err)
	failure := withHints(err, throttled, now)
	if !throttled {
		failure = canceledBy(failure)
	}
	if isSkew(err) && !throttled {
		failure = &classify.JudgedError{Verdict: classify.RetryAs(classify.ClockSkew), Err: failure}
	}
	return failure
}

// withHints adds hints and reasons from the response to err. Retry-After is a hint of throttles only, and so are
// the seconds in the body of some.
func withHints(err error, throttled bool, now func() time.Time) error {
	header, fields := headerOf(err), modeled{}
	after, hinted := classify.ParseRetryAfterMillis(header.Get(retryAfterHeader))
	if throttled {
		fields = modeledOf(err)
		for _, text := range [...]string{header.Get("Retry-After"), fields.seconds} {
			if !hinted {
				after, hinted = wire.ParseRetryAfter(text, now)
			}
		}
	}
	if !hinted && len(fields.reasons) == 0 {
		return err
	}
	return &annotatedError{err, after, hinted, fields.reasons}
}

// headerOf returns the header of the response; nil if there is none.
func headerOf(err error) http.Header {
	response, ok := wire.As[*smithyhttp.ResponseError](err)
	if !ok || response.Response == nil || response.Response.Response == nil {
		return nil
	}
	return response.Response.Header
}

// isSkew reports whether err is what the loop of the SDK puts around an error that it has traced to a difference of clocks.
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
