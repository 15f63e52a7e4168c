package proptest_test

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
)

// failureKind is what the rules tell apart.
type failureKind string

const (
	ordinary  failureKind = "ordinary"
	timeout   failureKind = "timeout"
	throttle  failureKind = "throttle"
	clockSkew failureKind = "clock skew"
	final     failureKind = "final"
)

// failure is how an attempt ends without success. It is the error of the attempt,
// in a form that the default classifiers have to judge.
type failure struct {
	kind   failureKind
	status int
	code   string
	hint   time.Duration
	hinted bool
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s, status %d %s, hint %v %v", f.kind, f.status, f.code, f.hint, f.hinted)
}

func (f *failure) ErrorCode() string                 { return f.code }
func (f *failure) HTTPStatusCode() int               { return f.status }
func (f *failure) Timeout() bool                     { return f.kind == timeout }
func (f *failure) RetryAfter() (time.Duration, bool) { return f.hint, f.hinted }

// hintOf returns the hint that counts: a negative one does not.
func (f *failure) hintOf() (time.Duration, bool) { return f.hint, f.hinted && f.hint >= 0 }

// err is the failure as it is, or with its verdict where only that can say so.
func (f *failure) err() error {
	if f.kind == clockSkew {
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.ClockSkew), Err: f}
	}
	return f
}

func drawFailure(t *rapid.T) *failure {
	f := &failure{kind: drawFrom(t, "failure", ordinary, timeout, throttle, clockSkew, final)}
	switch f.kind {
	case ordinary:
		f.status = drawFrom(t, "status", 500, 502, 503, 504)
	case throttle:
		f.status = drawFrom(t, "status", 429, 400, 503)
		f.code = drawFrom(t, "code", "ThrottlingException", "SlowDown")
	case final:
		f.status, f.code = 400, "ValidationException"
	case timeout, clockSkew:
	}
	if f.hinted = drawBool(t, "hinted"); f.hinted {
		f.hint = time.Duration(rapid.OneOf(
			rapid.Int64Range(-1, int64(30*time.Second)),
			rapid.SampledFrom([]int64{math.MinInt64, int64(time.Hour), math.MaxInt64}),
		).Draw(t, "hint"))
	}
	return f
}
