package micro

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"

	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/awsretry/awsretry/classify"
)

// Failures, wrapped as clients of aws-sdk-go-v2 return them.
var (
	errThrottle = answered(http.StatusBadRequest, &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down"})
	errServer   = answered(http.StatusBadRequest, &smithy.GenericAPIError{Code: "RequestTimeout", Message: "slow"})
	errHTTP     = answered(http.StatusServiceUnavailable, errors.New("no error in the body"))
	errBareDial = &url.Error{Op: "Post", URL: "http://127.0.0.1", Err: &net.OpError{
		Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}}
	errDial = operation(&smithyhttp.RequestSendError{Err: errBareDial})
)

func operation(err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "GetItem", Err: err}
}

func answered(status int, err error) error {
	response := &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: http.Header{}}}
	return operation(&awshttp.ResponseError{
		RequestID:     "of-the-request",
		ResponseError: &smithyhttp.ResponseError{Response: response, Err: err},
	})
}

// classifyGroups is whether a failure may be retried. go-retryablehttp judges what
// net/http has returned, which nobody has wrapped.
func classifyGroups() []group {
	return []group{
		{"failure=api", []subject{
			{ours, judgeOurs(errThrottle)},
			{sdk, judgeSDK(errThrottle)},
			{limit, walk(errThrottle, "ThrottlingException", 0)},
		}},
		{"failure=http", []subject{
			{ours, judgeOurs(errHTTP)},
			{sdk, judgeSDK(errHTTP)},
			{"go-retryablehttp", judgeHashicorp(&http.Response{StatusCode: http.StatusServiceUnavailable}, nil)},
			{limit, walk(errHTTP, "", http.StatusServiceUnavailable)},
		}},
		{"failure=dial", []subject{
			{ours, judgeOurs(errDial)},
			{sdk, judgeSDK(errDial)},
			{"go-retryablehttp", judgeHashicorp(nil, errBareDial)},
			{limit, walk(errDial, "", 0)},
		}},
	}
}

func BenchmarkClassify(b *testing.B) { measure(b, classifyGroups()) }

var errMisjudged = errors.New("a failure that may be retried was judged otherwise")

func judgeOurs(failure error) func(testing.TB) round {
	chain := classify.Default()
	return ready(func(context.Context) error {
		if chain.Classify(classify.Outcome{Err: failure, Attempt: 1}).Action() != classify.Retry {
			return errMisjudged
		}
		return nil
	})
}

func judgeSDK(failure error) func(testing.TB) round {
	retryer := awsretryer.NewStandard()
	return ready(func(context.Context) error {
		if !retryer.IsErrorRetryable(failure) {
			return errMisjudged
		}
		return nil
	})
}

func judgeHashicorp(response *http.Response, failure error) func(testing.TB) round {
	return ready(func(ctx context.Context) error {
		if again, _ := retryablehttp.DefaultRetryPolicy(ctx, response, failure); !again {
			return errMisjudged
		}
		return nil
	})
}

// walk is the least for a classification: to go down the wrapped errors and ask each
// for a code and a status, until the one that is expected.
func walk(failure error, code string, status int) func(testing.TB) round {
	return ready(func(context.Context) error {
		for err := failure; err != nil; {
			if e, ok := err.(classify.CodeError); ok && e.ErrorCode() == code { //nolint:errorlint // this is the walk itself
				return nil
			}
			if e, ok := err.(classify.StatusError); ok && status != 0 && e.HTTPStatusCode() == status { //nolint:errorlint // this is the walk itself
				return nil
			}
			wrapper, ok := err.(interface{ Unwrap() error })
			if !ok {
				break
			}
			err = wrapper.Unwrap()
		}
		if code != "" || status != 0 {
			return errMisjudged
		}
		return nil
	})
}
