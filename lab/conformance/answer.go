package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errcode"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// answer is the answer of the service to one attempt.
type answer struct {
	status    int
	code      string
	headers   map[string]string
	transport string         // a kind of failure of net/http, instead of a response
	skew      *time.Duration // of the clock of the service; nil if the response has no date
	last      bool           // the caller gives up while the service answers
}

// success is the answer to a successful request.
func success() answer { return answer{status: http.StatusOK} }

// throttle is an answer that causes a retry for five tokens. Its status is for retryers that do not
// read codes.
func throttle() answer {
	return answer{status: http.StatusTooManyRequests, code: "ThrottlingException"}
}

// final is an answer that must not be retried.
func final() answer { return answer{status: http.StatusBadRequest, code: "ValidationException"} }

// skewed is how far the clock of the service is ahead in a case whose failure is due to clock skew.
const skewed = time.Hour

// answerOf returns the answer of a case.
func answerOf(r vectors.Response) answer {
	a := answer{status: r.Status, code: r.ErrorCode, headers: r.Headers}
	switch r.Kind {
	case "success":
		return success()
	case "timeout":
		a.transport = "read_timeout"
	case "connect":
		a.transport = "connection_refused"
	case "clock_skew":
		a.skew = new(skewed)
	}
	return a
}

// nth returns the answer as the n-th of its case, from 0. Clients correct their clock after the first
// answer that shows skew, so the clock of the service stays wrong for them only if it moves each time.
func (a answer) nth(n int) answer {
	if a.skew != nil {
		a.skew = new(time.Duration(n+1) * *a.skew)
	}
	return a
}

// String describes the answer for the report.
func (a answer) String() string {
	switch {
	case a.transport != "":
		return strings.ReplaceAll(a.transport, "_", " ")
	case a.status < http.StatusMultipleChoices:
		return "success"
	}
	said := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, a.code))
	if a.skew != nil {
		where := "ahead"
		if *a.skew < 0 {
			where = "behind"
		}
		said += fmt.Sprintf(" with a clock that is %s %s", a.skew.Abs(), where)
	}
	if hint, ok := a.headers["x-amz-retry-after"]; ok {
		said += fmt.Sprintf(" with x-amz-retry-after %q", hint)
	}
	return said
}

// hint returns the server hint, as clients read it.
func (a answer) hint() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(a.headers["x-amz-retry-after"])
}

// err returns the error that a client of aws-sdk-go-v2 makes of the answer; nil for success.
func (a answer) err() error {
	var cause error
	switch {
	case a.transport != "":
		cause = vectors.TransportError(a.transport)
		if a.transport == "plain_error" {
			break // it comes from the client itself
		}
		cause = &smithyhttp.RequestSendError{Err: &url.Error{Op: "Post", URL: address, Err: cause}}
	case a.status < http.StatusMultipleChoices:
		return nil
	default:
		cause = &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: a.response()}, //nolint:bodyclose // in memory
			Err:      &smithy.GenericAPIError{Code: errcode.Bare(a.code), Message: "an answer of the suite"},
		}}
	}
	return &smithy.OperationError{ServiceID: "Suite", OperationName: "Call", Err: cause}
}

// address is the URL of the suite's requests.
const address = "https://service.example/"

// response returns the answer as an HTTP response of a JSON service.
func (a answer) response() *http.Response {
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
	body := []byte("{}")
	if a.code != "" {
		header.Set("X-Amzn-ErrorType", a.code)
		body, _ = json.Marshal(map[string]string{"__type": a.code, "message": "an answer of the suite"})
	}
	for name, value := range a.headers {
		header.Set(name, value)
	}
	if a.skew != nil {
		header.Set("Date", time.Now().Add(*a.skew).UTC().Format(http.TimeFormat))
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// HTTPResponse returns what an HTTP client gets for the error of an attempt: a response with the
// status, headers and body of a JSON service, or an error without a response. A nil error gives a
// response with status 200. A subject whose loop is below or around an [http.RoundTripper] makes an
// attempt in RoundTrip and passes its error through HTTPResponse. HTTPResponse returns an error from
// another source unchanged.
func HTTPResponse(err error) (*http.Response, error) {
	if err == nil {
		return success().response(), nil
	}
	if answered, ok := errors.AsType[*awshttp.ResponseError](err); ok && answered.Response != nil {
		response := *answered.Response.Response
		response.Header = maps.Clone(response.Header)
		return &response, nil
	}
	if unsent, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok {
		err = unsent.Err
		if at, ok := errors.AsType[*url.Error](err); ok {
			err = at.Err // http.Client adds its own
		}
	}
	return nil, err
}
