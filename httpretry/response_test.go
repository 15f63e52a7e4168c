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
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT", "100")
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

func TestDatesAreReadOnTheClock(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 8, 23, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		header []string
		want   time.Duration // before the first retry, 1s more than Retry-After asks for; 0 if there is none
	}{
		"seconds":        {[]string{"Retry-After", "5"}, 6 * time.Second},
		"a date to come": {[]string{"Retry-After", "Sun, 23 Aug 2026 12:00:06 GMT"}, 7 * time.Second},
		"far away":       {[]string{"Retry-After", "Sun, 23 Aug 2099 12:00:00 GMT"}, 0},
		"no number":      {[]string{"Retry-After", "soon"}, time.Second},
		"milliseconds":   {[]string{"X-Amz-Retry-After", "2500"}, 2500 * time.Millisecond},
		"both":           {[]string{"X-Amz-Retry-After", "2500", "Retry-After", "5"}, 2500 * time.Millisecond},
	} {
		got := try(t, httpretry.Config{
			Strategy: on(t, clock.NewFake(start)), MaxAttempts: 2, Base: scripted{status: 503, header: c.header},
		}, newRequest(t, http.MethodGet, ""))
		require.Equal(t, c.want, got.took, name)
	}
}
