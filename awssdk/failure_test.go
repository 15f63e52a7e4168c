package awssdk

import (
	"errors"
	"net/http"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// skewed is an error as the loop of the SDK wraps it where the clocks differ.
type skewed struct{ error }

func (s skewed) Unwrap() error { return s.error }

func (skewed) RetryableError() bool { return true }

func TestThrottleByStatusStaysOneThoughTheClocksDiffer(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]classify.Kind{403: classify.ClockSkew, 429: classify.Throttling} {
		raw := &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
			Err:      errors.New("refused"),
		}
		failure := failureOf(skewed{raw}, time.Now)
		require.Equal(t, want, classify.Default().Classify(classify.Outcome{Err: failure}).Kind(), status)
	}
}

func TestRetryAfterIsAHintOfThrottlesOnly(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		status  int
		seconds string
		millis  string
		want    time.Duration
		none    bool
	}{
		{"throttle", 429, "2", "", 2 * time.Second, false},
		{"throttle with a date", 429, "Sun, 01 Nov 2026 12:00:09 GMT", "", 9 * time.Second, false},
		{"throttle with both", 429, "2", "150", 150 * time.Millisecond, false},
		{"throttle with neither", 429, "", "", 0, true},
		{"server", 503, "2", "", 0, true},
		{"server with milliseconds", 503, "2", "150", 150 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: &http.Response{
					StatusCode: c.status, Header: http.Header{"Retry-After": {c.seconds}, retryAfterHeader: {c.millis}},
				}},
				Err: errors.New("refused"),
			}
			verdict := classify.Default().Classify(classify.Outcome{Err: failureOf(err, func() time.Time { return now })})
			after, hinted := verdict.Hint()
			require.Equal(t, !c.none, hinted)
			require.Equal(t, c.want, after)
		})
	}
}
