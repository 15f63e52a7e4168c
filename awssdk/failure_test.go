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

func (s skewed) Unwrap() error      { return s.error }
func (skewed) RetryableError() bool { return true }

func TestThrottleByStatusStaysOneThoughTheClocksDiffer(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]classify.Kind{403: classify.ClockSkew, 429: classify.Throttling} {
		raw := &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
			Err:      errors.New("refused"),
		}
		failure := failureOf(skewed{raw}, raw, time.Now)
		require.Equal(t, want, classify.Default().Classify(classify.Outcome{Err: failure}).Kind(), status)
	}
}
