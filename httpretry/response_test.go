package httpretry_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
)

// FuzzRetryAfter reads any two header values. A hint must not be negative, must come from
// digits or a date, and must be as long as the date is away.
func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT", "")
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT", "100")
	f.Add("soon", "2500")
	now := time.Date(1994, time.November, 6, 8, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value, millis string) {
		header := http.Header{"Retry-After": {value}, "X-Amz-Retry-After": {millis}}
		got := try(t, httpretry.Config{
			Strategy: on(t, clock.NewFake(now)), MaxAttempts: 1,
			Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: header}, nil
			}),
		}, newRequest(t, http.MethodGet, ""))
		after, hinted := lastOf(t, got.refusal).RetryAfter()
		require.GreaterOrEqual(t, after, time.Duration(0))
		if date, err := http.ParseTime(value); err == nil && millis == "" {
			require.True(t, hinted)
			require.Equal(t, max(date.Sub(now), 0), after)
		}
		if !hinted {
			require.Zero(t, after)
			require.NotRegexp(t, `^[0-9]+$`, value)
			require.NotRegexp(t, `^0*[0-9]{1,18}$`, millis)
		}
	})
}
