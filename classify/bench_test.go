package classify_test

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"testing"

	"github.com/awsretry/awsretry/classify"
)

// answer is an HTTP error with a status, a code and room for a hint.
type answer struct {
	hintError
	code codeError
}

func (a *answer) ErrorCode() string { return a.code.ErrorCode() }

func BenchmarkDefaultChain(b *testing.B) {
	call := func(status int, code string) error {
		return fmt.Errorf("operation error S3: GetObject: %w", &answer{hintError{status: status}, codeError(code)})
	}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"server", call(503, "ServiceUnavailable")},
		{"throttled", call(400, "ThrottlingException")},
		{"final", call(404, "NoSuchKey")},
		{"timeout", &url.Error{Op: "Get", Err: opError("read", os.ErrDeadlineExceeded)}},
		{"closed", &url.Error{Op: "Get", Err: io.EOF}},
		{"plain", errors.New("plain")},
	} {
		b.Run("case="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			chain := classify.Default()
			for b.Loop() {
				chain.Classify(classify.Outcome{Err: c.err, Attempt: 1})
			}
		})
	}
}
