package vectors

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// Response is what an attempt got.
type Response struct {
	Status    int               `json:"status"`
	ErrorCode string            `json:"error_code"`
	Kind      string            `json:"kind"`
	Headers   map[string]string `json:"headers"`
}

// Err returns the error that a client makes of the response; nil for success.
func (r Response) Err() error {
	switch r.Kind {
	case "success":
		return nil
	case "timeout":
		return &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case "connect":
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case "clock_skew":
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.ClockSkew), Err: &ServiceError{r}}
	default:
		return &ServiceError{r}
	}
}

// ServiceError is a response that is not a success.
type ServiceError struct{ Response Response }

// Error says what the response was.
func (e *ServiceError) Error() string {
	return fmt.Sprintf("status %d %s", e.Response.Status, e.Response.ErrorCode)
}

// HTTPStatusCode returns the status.
func (e *ServiceError) HTTPStatusCode() int { return e.Response.Status }

// ErrorCode returns the error code.
func (e *ServiceError) ErrorCode() string { return e.Response.ErrorCode }

// RetryAfter returns the server hint.
func (e *ServiceError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.Response.Headers["x-amz-retry-after"])
}
