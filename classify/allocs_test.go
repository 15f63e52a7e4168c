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
	strategy := classify.Default().With(classify.Code(classify.Codes{"Odd": classify.Transient}))
	operation := classify.Add(classify.Status(404))
	for name, err := range map[string]error{
		"server error":     call(503, "ServiceUnavailable"),
		"throttle":         call(400, "ThrottlingException"),
		"final":            call(404, "NoSuchKey"),
		"modeled":          call(409, "RetryableConflictException"),
		"wire":             call(400, "com.amazon#Throttling:http://x"),
		"smithy":           errors.Join(statusError(400), smithyError{"ConditionalCheckFailedException", 2}),
		"safe":             fmt.Errorf("%w, %w", yes, statusError(404)),
		"unsafe":           no,
		"skew":             &classify.SkewedError{Observed: time.Hour, Err: codeError("AuthFailure")},
		"timeout":          &url.Error{Op: "Get", Err: opError("read", os.ErrDeadlineExceeded)},
		"closed":           &url.Error{Op: "Get", Err: io.EOF},
		"plain":            errors.New("plain"),
		"judged":           &classify.JudgedError{Verdict: classify.RetryAs(classify.Server), Err: call(404, "X")},
		"end of an answer": errors.Join(io.ErrUnexpectedEOF, statusError(200)),
	} {
		o := classify.Outcome{Err: err, Service: "Bedrock AgentCore"}
		require.Zero(t, testing.AllocsPerRun(100, func() { strategy.Classify(o) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { classify.Layered(strategy, operation, o) }), name)
	}
}
