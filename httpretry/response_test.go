package httpretry_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// FuzzRetryAfter reads any two header values. A hint must not be negative, must come from
// digits or a date, and must be as long as the date is away.
func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT", "100")
	now := time.Date(1994, time.November, 6, 8, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value, millis string) {
		header := http.Header{"Retry-After": {value}, "X-Amz-Retry-After": {millis}}
		clk := clock.NewFake(now)
		transport, err := httpretry.New(httpretry.Config{
			Strategy: on(t, clk), MaxAttempts: 1,
			Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: header}, nil
			}),
		})
		require.NoError(t, err)
		got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
		said, ok := lastOf(got.refusal)
		require.True(t, ok)
		after, hinted := said.RetryAfter()
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
	for _, c := range []struct {
		name   string
		header []string
		want   time.Duration // before the first retry, 1s more than Retry-After asks for; 0 if there is none
	}{
		{"seconds", []string{"Retry-After", "5"}, 6 * time.Second},
		{"a date to come", []string{"Retry-After", "Sun, 23 Aug 2026 12:00:06 GMT"}, 7 * time.Second},
		{"far away", []string{"Retry-After", "Sun, 23 Aug 2099 12:00:00 GMT"}, 0},
		{"no number", []string{"Retry-After", "soon"}, time.Second},
		{"milliseconds", []string{"X-Amz-Retry-After", "2500"}, 2500 * time.Millisecond},
		{"both", []string{"X-Amz-Retry-After", "2500", "Retry-After", "5"}, 2500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewFake(start)
			transport := newTransport(t, httpretry.Config{
				Strategy: modes(t, standard.Config{Clock: clk})["standard"], MaxAttempts: 2,
				Base: scripted{status: 503, header: c.header},
			})
			clk.Run(func() {
				exchange(transport, newRequest(context.Background(), t, http.MethodGet, "http://service/", ""))
			})
			var waits []time.Duration
			if c.want > 0 {
				waits = []time.Duration{c.want}
			}
			require.Equal(t, waits, clk.Waits())
		})
	}
}

// A body that was closed before the backoff was kept whole.
func TestBodyThatWasKept(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]http.Header{
		"looked at":     {"Content-Type": {"text/xml"}},
		"not looked at": {"X-Amzn-Errortype": {"Throttling"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := adaptive.New(adaptive.Config{NoSendWait: true, Standard: standard.Config{
				Clock: &clock.Fake{}, Random: func() float64 { return 0 },
			}})
			require.NoError(t, err)
			const text = `<Error><Code>Throttling</Code></Error>`
			body := &strictBody{Reader: strings.NewReader(text)}
			transport := newTransport(t, httpretry.Config{Strategy: s, Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusBadRequest, Body: body, ContentLength: -1, Header: header}, nil
			})})
			got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
			require.ErrorIs(t, got.refusal, retry.ErrSendRateLimited)
			require.NoError(t, got.bodyErr)
			require.Equal(t, text, got.body)
			require.Equal(t, 1, body.closed)
		})
	}
}
