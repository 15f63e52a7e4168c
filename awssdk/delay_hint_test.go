package awssdk

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

func TestHintIsWaitedForOnce(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		hint        string
		maxHint     time.Duration
		sleeps, ask time.Duration // what the loop sleeps, and what RetryDelay returns
	}{
		"none":                     {"", 0, 50 * ms, 50 * ms},
		"less than the backoff":    {"20", 0, 50 * ms, 50 * ms},
		"the backoff":              {"50", 0, 50 * ms, 0},
		"five seconds or less":     {"2000", 0, 2000 * ms, 0},
		"five seconds and a bit":   {"5020", 0, 5020 * ms, 20 * ms},
		"more":                     {"9000", 0, 5050 * ms, 50 * ms},
		"more than MaxHint":        {"9000", 2000 * ms, 2000 * ms, -3000 * ms},
		"read by the loop alone":   {"+9000", 0, 50 * ms, -4950 * ms},
		"no Duration for the loop": {"9223372036854775807", 0, 5050 * ms, 5050 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := standard.New(standard.Config{Base: 50 * ms, MaxHint: c.maxHint, Random: func() float64 { return 1 }})
			require.NoError(t, err)
			r, began := &asked{sdkRetryer: retryer(t, s)}, time.Now()
			response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{retryAfterHeader: {c.hint}}}
			_, err = inside(t, r, &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: response}, Err: errors.New("busy"),
			}, nil)
			require.NoError(t, err)
			require.Equal(t, c.sleeps, time.Since(began), name)
			require.Equal(t, c.ask, r.delay, name)
		})
	}
}

// asked is a retryer that notes the delay of the one that it wraps.
type asked struct {
	*sdkRetryer
	delay time.Duration
}

func (r *asked) RetryDelay(attempt int, err error) (delay time.Duration, askErr error) {
	r.delay, askErr = r.sdkRetryer.RetryDelay(attempt, err)
	return r.delay, askErr
}
