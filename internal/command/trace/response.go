package trace

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// kinds are the kinds that a response may have.
func kinds() []string {
	return []string{"success", "transient", "timeout", "connect", "throttling", "clock_skew", "server", "client"}
}

// Judged returns the error of a response with the verdict of its kind, regardless of status and
// code; nil for success. Without a kind the classifiers judge status and code.
func (r Response) Judged() error {
	err := &ServiceError{r}
	switch r.Kind {
	case "success":
		return nil
	case "transient", "connect":
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.Transient), Err: err}
	case "timeout":
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.Timeout), Err: err}
	case "throttling":
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.Throttling), Err: err}
	case "clock_skew":
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.ClockSkew), Err: err}
	case "server", "client":
		return &classify.JudgedError{Err: err}
	}
	if r.ErrorCode == "" && r.Status/100 == 2 {
		return nil
	}
	return err
}

// Err returns the error that a client makes from a response, for the classifiers to judge; nil for
// success. The tests of the rules use it, so they test the classifiers too.
func (r Response) Err() error {
	switch r.Kind {
	case "success":
		return nil
	case "timeout":
		return &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case "connect":
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case "clock_skew":
		return r.Judged()
	default:
		return &ServiceError{r}
	}
}

// ServiceError is a response that is not a success.
type ServiceError struct{ Response Response }

// Error describes the response.
func (e *ServiceError) Error() string {
	return fmt.Sprintf("status %d %s", e.Response.Status, e.Response.ErrorCode)
}

// HTTPStatusCode returns the status.
func (e *ServiceError) HTTPStatusCode() int { return e.Response.Status }

// ErrorCode returns the error code.
func (e *ServiceError) ErrorCode() string { return e.Response.ErrorCode }

// ThrottledBy returns what a throttle was about.
func (e *ServiceError) ThrottledBy() []classify.Reason {
	reasons := make([]classify.Reason, len(e.Response.ThrottledBy))
	for i, r := range e.Response.ThrottledBy {
		reasons[i] = classify.Reason{Reach: reaches()[r.Reach], Word: r.Word, Quota: r.Quota}
	}
	return reasons
}

// RetryAfter returns the server hint.
func (e *ServiceError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.Response.Headers.retryAfter())
}
