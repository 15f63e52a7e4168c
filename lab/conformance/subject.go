package conformance

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/retry"
)

// Do runs one operation. It calls attempt, calls it again as the retryer decides, and returns nil after
// a success, else the last error, wrapped or not. It calls attempt in its own goroutine, one call after
// another, and never after it has returned. The context that it passes must come from ctx and must not
// add a time limit, because an answer can take an hour. It returns soon after ctx has ended, with any
// error. The suite calls Do in several goroutines at once.
//
// attempt returns the errors of clients of aws-sdk-go-v2: [smithy.APIError], and
// [*awshttp.ResponseError] with status and headers, or [*smithyhttp.RequestSendError] around an error of
// net/http.
type Do func(ctx context.Context, attempt func(context.Context) error) error

// Subject is a retryer to test against the rules.
type Subject struct {
	// Name is the name in the report.
	Name string
	// New returns a fresh retryer with a full quota. The suite calls it for each case, in the bubble of
	// the case, with the settings of the case. New must read every setting that the retryer supports, at
	// each call. The suite treats a setting that New does not read as fixed, and leaves out the cases
	// that need another value. An error, or a nil Do, ends the test.
	New func(*Settings) (Do, error)
	// Behavior is the generation of the rules; empty means [retry.V21].
	Behavior retry.Behavior
	// Adaptive says that the retryer has a send rate, so that the rules of adaptive mode apply.
	Adaptive bool
	// NotMeant has the rules that the retryer is not meant to keep, with the reason for each. The
	// report counts those that belong to Behavior and the mode. A rule that does not exist is an
	// error, and so is an empty reason.
	NotMeant map[string]string
}

// Settings are the settings that a case needs in a retryer.
type Settings struct {
	behavior      retry.Behavior
	maxAttempts   int
	quotaCapacity int
	maxBackoff    time.Duration
	jitter        float64
	service       string
	longPolling   bool

	read setting
}

// setting is a set of settings.
type setting uint8

const (
	attemptsSetting setting = 1 << iota
	quotaSetting
	backoffSetting
	jitterSetting
	serviceSetting
	pollingSetting
)

// String names the settings.
func (s setting) String() string {
	switch s {
	case attemptsSetting:
		return "MaxAttempts"
	case quotaSetting:
		return "QuotaCapacity"
	case backoffSetting:
		return "MaxBackoff"
	case jitterSetting:
		return "Random"
	case serviceSetting:
		return "Service"
	default:
		return "LongPolling"
	}
}

// The defaults of the rules.
const (
	defaultCapacity   = 500
	defaultMaxBackoff = 20 * time.Second
)

// Behavior returns the generation of the rules, as in the [Subject].
func (s *Settings) Behavior() retry.Behavior { return s.behavior }

// MaxAttempts returns how many attempts an operation has at most, the first included; 0 means the
// default of the retryer, which should be 3, and 4 for DynamoDB in v2.1.
func (s *Settings) MaxAttempts() int { s.read |= attemptsSetting; return s.maxAttempts }

// QuotaCapacity returns the size of the retry quota in tokens, 0 or more; 0 means that the quota is always
// empty. The quota starts full. A retryer that cannot set it should have 500 tokens.
func (s *Settings) QuotaCapacity() int { s.read |= quotaSetting; return s.quotaCapacity }

// MaxBackoff returns the longest backoff. A retryer that cannot set it should use 20 s.
func (s *Settings) MaxBackoff() time.Duration { s.read |= backoffSetting; return s.maxBackoff }

// Random returns the source of the jitter, with numbers from 0 to 1 inclusive. The suite plays a
// retryer that cannot set it a hundred times, and compares its delays as a range.
func (s *Settings) Random() func() float64 {
	s.read |= jitterSetting
	return func() float64 { return s.jitter }
}

// Service returns the id of the service, such as "dynamodb"; empty means any.
func (s *Settings) Service() string { s.read |= serviceSetting; return s.service }

// LongPolling reports whether the operations are long polls.
func (s *Settings) LongPolling() bool { s.read |= pollingSetting; return s.longPolling }
