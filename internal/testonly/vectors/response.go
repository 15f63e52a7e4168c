package vectors

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// Given is the configuration of the strategy of a case. Nil and zero mean its defaults, except for
// the jitter.
type Given struct {
	MaxAttempts   *int         `json:"max_attempts"`
	InitialQuota  *int         `json:"initial_quota"`
	QuotaCapacity *int         `json:"quota_capacity"`
	Jitter        float64      `json:"jitter"` // multiplies all delays
	MaxBackoff    ExactSeconds `json:"max_backoff_s"`
	Service       string       `json:"service"`
	LongPolling   bool         `json:"long_polling"`
}

// Attempts returns the limit of attempts, or 0 for the default of the strategy.
func (g Given) Attempts() int {
	if g.MaxAttempts == nil {
		return 0
	}
	return *g.MaxAttempts
}

// Capacity returns the capacity of the quota, or else the initial quota. It returns nil for the
// default of the strategy.
func (g Given) Capacity() *int {
	if g.QuotaCapacity == nil {
		return g.InitialQuota
	}
	return g.QuotaCapacity
}

// Response is what an attempt got.
type Response struct {
	Status    int               `json:"status"`
	ErrorCode string            `json:"error_code"`
	Kind      string            `json:"kind"`
	Headers   map[string]string `json:"headers"`

	ThrottledBy []struct {
		Reach string `json:"reach"`
		Word  string `json:"word"`
		Quota string `json:"quota"`
	} `json:"throttled_by"`
}

// Err returns the error that a client makes from a response, for the classifiers to judge; nil for
// success. A clock skew is judged already.
func (r Response) Err() error {
	switch r.Kind {
	case "success":
		return nil
	case "timeout":
		return &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case "lost":
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
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
	for i, given := range e.Response.ThrottledBy {
		reasons[i] = classify.Reason{Word: given.Word, Quota: given.Quota}
		for r := classify.ReachUnknown; r <= classify.ReachOther; r++ {
			if r.String() == given.Reach {
				reasons[i].Reach = r
			}
		}
	}
	return reasons
}

// RetryAfter returns the server hint.
func (e *ServiceError) RetryAfter() (time.Duration, bool) {
	for name, value := range e.Response.Headers {
		if strings.EqualFold(name, "x-amz-retry-after") {
			return classify.ParseRetryAfterMillis(value)
		}
	}
	return 0, false
}
