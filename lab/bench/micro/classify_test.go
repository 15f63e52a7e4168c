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
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/lab/bench/internal/failure"
)

// Failures, wrapped as clients of aws-sdk-go-v2 return them, and one as net/http
// returns it.
var (
	errThrottle = failure.Throttle()
	errServer   = failure.Timeout()
	errHTTP     = failure.Answered(http.StatusServiceUnavailable, errors.New("no error in the body"))
	errBareDial = &url.Error{Op: "Post", URL: "http://127.0.0.1", Err: &net.OpError{
		Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}}
	errDial = failure.Operation(&smithyhttp.RequestSendError{Err: errBareDial})
)

// classifyGroups is whether a failure may be retried. go-retryablehttp judges what
// net/http has returned, without anything around it.
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

func judgeOurs(err error) func(testing.TB) round {
	chain := classify.Default()
	return ready(func(context.Context) error {
		if !chain.Classify(classify.Outcome{Err: err, Attempt: 1}).Retryable() {
			return errMisjudged
		}
		return nil
	})
}

func judgeSDK(err error) func(testing.TB) round {
	retryer := awsretryer.NewStandard()
	return ready(func(context.Context) error {
		if !retryer.IsErrorRetryable(err) {
			return errMisjudged
		}
		return nil
	})
}

func judgeHashicorp(response *http.Response, err error) func(testing.TB) round {
	return ready(func(ctx context.Context) error {
		if again, _ := retryablehttp.DefaultRetryPolicy(ctx, response, err); !again {
			return errMisjudged
		}
		return nil
	})
}

// walk is the least for a classification: to go down the wrapped errors and ask each
// for a code and a status, until the one that is expected.
func walk(whole error, code string, status int) func(testing.TB) round {
	return ready(func(context.Context) error {
		for err := whole; err != nil; {
			if e, ok := err.(interface{ ErrorCode() string }); ok && e.ErrorCode() == code {
				return nil
			}
			if e, ok := err.(interface{ HTTPStatusCode() int }); ok && status != 0 && e.HTTPStatusCode() == status {
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
