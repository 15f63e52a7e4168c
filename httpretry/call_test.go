package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

const slowDown = "Throttling"

// always answers every attempt with the same throttle.
func always(body string, header ...string) http.RoundTripper {
	return scripted{status: 400, body: body, header: append(header, "X-Amzn-Errortype", slowDown)}
}

// requireThrottle checks that an error holds what the service said.
func requireThrottle(t *testing.T, err error) {
	t.Helper()
	said, ok := errors.AsType[*httpretry.ResponseError](err)
	require.True(t, ok, err)
	require.Equal(t, 400, said.Status)
	require.Equal(t, slowDown, said.Code)
}

func TestLastResponseComesBackWhole(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20} {
		for _, c := range []struct {
			name   string
			want   error
			config adaptive.Config
		}{
			{"attempts used up", retry.ErrAttemptsExhausted, adaptive.Config{}},
			{
				"elapsed time of the strategy", retry.ErrMaxElapsed,
				adaptive.Config{Standard: standard.Config{MaxElapsed: time.Second, MinDelay: 600 * time.Millisecond}},
			},
			{"quota empty", retry.ErrQuotaExhausted, adaptive.Config{Standard: standard.Config{QuotaInitial: new(7)}}},
			{"send rate, after a retry was granted", retry.ErrSendRateLimited, adaptive.Config{NoSendWait: true}},
		} {
			t.Run(fmt.Sprintf("%s/%d bytes", c.name, size), func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				c.config.Standard.Clock = clk
				c.config.Standard.Random = func() float64 { return 0 }
				s, err := adaptive.New(c.config)
				require.NoError(t, err)
				transport := newTransport(t, httpretry.Config{Strategy: s, Base: always(strings.Repeat("x", size))})
				clk.Run(func() {
					got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
					require.NoError(t, got.err)
					require.ErrorIs(t, got.refusal, c.want)
					requireThrottle(t, got.refusal)
					require.NoError(t, got.bodyErr)
					require.Len(t, got.body, size)
				})
			})
		}
	}
}

func TestWaitThatWouldPassTheDeadline(t *testing.T) {
	t.Parallel()
	const left = 150 * time.Millisecond
	hint := []string{"Retry-After", "10"}
	for _, ofClient := range []bool{false, true} {
		for _, mode := range []string{"standard", "adaptive"} {
			for _, asError := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/of the client %t/as an error %t", mode, ofClient, asError), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						client := &http.Client{Transport: newTransport(t, httpretry.Config{
							Strategy: modes(t, standard.Config{})[mode], Base: always("slow down", hint...), RefusalAsError: asError,
						})}
						ctx, start := t.Context(), time.Now()
						if ofClient {
							client.Timeout = left
						} else {
							limited, cancel := context.WithTimeout(ctx, left)
							defer cancel()
							ctx = limited
						}
						got := exchange(roundTripFunc(client.Do), newRequest(ctx, t, http.MethodGet, "http://service/", ""))
						require.Zero(t, time.Since(start), "it returns at once")
						err := got.refusal
						if asError {
							err = got.err
							require.True(t, err.(*url.Error).Timeout()) //nolint:errorlint,forcetypeassert // http.Client returns no other
						} else {
							require.NoError(t, got.err)
							require.Equal(t, "slow down", got.body)
						}
						require.ErrorIs(t, err, retry.ErrDeadline)
						require.ErrorIs(t, err, context.DeadlineExceeded)
						requireThrottle(t, err)
						refusal, _ := errors.AsType[*retry.Error](err)
						want := map[string]time.Duration{"standard": time.Second, "adaptive": 2 * time.Second}[mode]
						require.Equal(t, want, refusal.Wait, "the backoff or the send rate, because a hint fails no call")
					})
				})
			}
		}
	}
}

func TestEndOfTheContextDuringTheBackoffIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		leave func(r *http.Request) (*http.Request, func())
	}{
		{"by the context", func(r *http.Request) (*http.Request, func()) {
			ctx, cancel := context.WithCancel(r.Context())
			return r.WithContext(ctx), cancel
		}},
		{"by the legacy channel", func(r *http.Request) (*http.Request, func()) {
			canceled := make(chan struct{})
			r.Cancel = canceled //nolint:staticcheck // it is still there
			return r, func() { close(canceled) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: always("")})
				request, leave := c.leave(newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
				time.AfterFunc(500*time.Millisecond, leave) //nolint:forbidigo // the bubble's
				start := time.Now()
				err := exchange(transport, request).err
				require.Equal(t, 500*time.Millisecond, time.Since(start))
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, retry.ErrCanceled)
				requireThrottle(t, err)
			})
		})
	}
}

func TestErrorOfTheLastAttemptIsTheClients(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	broken := errors.New("broken")
	attempts := 0
	transport := newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
		if attempts++; attempts == 1 {
			return scripted{status: 503, body: "gone when the next attempt is made"}.RoundTrip(r)
		}
		return nil, broken
	})})
	clk.Run(func() {
		got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
		require.Equal(t, broken, got.err, "it is not retryable, so it comes back as it is")
	})
	require.Equal(t, 2, attempts)
}
