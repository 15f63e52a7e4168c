package classify_test

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// TestVerdictsAllocateNothing runs alone: other tests allocate too.
func TestVerdictsAllocateNothing(t *testing.T) {
	call := func(status int, code string) error {
		return fmt.Errorf("operation: %w", &answer{hintError{status, time.Second, true}, codeError(code)})
	}
	strategy := classify.NewChain(classify.Default(), classify.Code(classify.Codes{"Odd": classify.Transient}))
	mixed := classify.NewChain(constant{}, strategy, constant{})
	also := classify.Also(classify.Status(404), constant{})
	for name, err := range map[string]error{
		"server error":     call(503, "ServiceUnavailable"),
		"throttle":         call(400, "ThrottlingException"),
		"final":            call(404, "NoSuchKey"),
		"modeled":          call(409, "RetryableConflictException"),
		"wire":             call(400, "com.amazon#Throttling:http://x"),
		"smithy":           errors.Join(statusError(400), smithyError{"ConditionalCheckFailedException", 2}),
		"safe":             fmt.Errorf("%w, %w", yes, statusError(404)),
		"unsafe":           no,
		"skew":             &skewedError{observed: time.Hour, err: codeError("AuthFailure")},
		"timeout":          &url.Error{Op: "Get", Err: opError("read", os.ErrDeadlineExceeded)},
		"closed":           &url.Error{Op: "Get", Err: io.EOF},
		"plain":            errors.New("plain"),
		"judged below":     fmt.Errorf("call: %w", &classify.JudgedError{Verdict: classify.Forbidden(), Err: call(503, "X")}),
		"judged":           &classify.JudgedError{Verdict: classify.RetryAs(classify.Server), Err: call(404, "X")},
		"end of an answer": errors.Join(io.ErrUnexpectedEOF, statusError(200)),
	} {
		o := classify.Outcome{Err: err, Service: "Bedrock AgentCore"}
		require.Zero(t, testing.AllocsPerRun(100, func() { strategy.Classify(o) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { mixed.Classify(o) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { also.Classify(o) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(strategy, also) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(constant{}, also) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(strategy, constant{}) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(nil, nil) }), name)
	}
}
