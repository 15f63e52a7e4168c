package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
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

// A body that was closed before the backoff was kept whole, whether or not it was looked at for a code.
func TestLastResponseComesBackWhole(t *testing.T) {
	t.Parallel()
	const code = `<Error><Code>Throttling</Code></Error>`
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20} {
		for name, c := range map[string]struct {
			want   error
			config adaptive.Config
		}{
			"attempts used up": {retry.ErrAttemptsExhausted, adaptive.Config{}},
			"elapsed time of the strategy": {
				retry.ErrMaxElapsed, adaptive.Config{Standard: standard.Config{MaxElapsed: time.Second, MinDelay: 600 * time.Millisecond}},
			},
			"quota empty":                      {retry.ErrQuotaExhausted, adaptive.Config{Standard: standard.Config{QuotaInitial: new(7)}}},
			"send rate, after a retry granted": {retry.ErrSendRateLimited, adaptive.Config{NoSendWait: true}},
		} {
			for text, header := range map[string]http.Header{
				"":   {"X-Amzn-Errortype": {"Throttling"}},
				code: {"Content-Type": {"text/xml"}},
			} {
				t.Run(fmt.Sprintf("%s/%d bytes/%v", name, size, header), func(t *testing.T) {
					t.Parallel()
					text, config := text+strings.Repeat("x", size), c.config
					config.Standard.Clock, config.Standard.Random = &clock.Fake{}, func() float64 { return 0 }
					s, err := adaptive.New(config)
					require.NoError(t, err)
					var body *bodyReader
					got := try(t, httpretry.Config{Strategy: s, Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
						body = newBody(text)
						return &http.Response{StatusCode: http.StatusBadRequest, Body: body, ContentLength: -1, Header: header}, nil
					})}, newRequest(t, http.MethodGet, ""))
					require.ErrorIs(t, got.refusal, c.want)
					requireThrottle(t, got.refusal)
					require.NoError(t, got.bodyErr)
					require.Equal(t, text, got.body)
					require.EqualValues(t, 1, body.closed.Load())
				})
			}
		}
	}
}

func TestWaitThatWouldPassTheDeadline(t *testing.T) {
	t.Parallel()
	const left = 150 * time.Millisecond
	for _, ofClient := range []bool{false, true} {
		for _, mode := range []string{"standard", "adaptive"} {
			for _, asError := range []bool{false, true} {
				bubble(t, fmt.Sprintf("%s/of the client %t/as an error %t", mode, ofClient, asError), func(t *testing.T) {
					t.Helper()
					client := &http.Client{Transport: newTransport(t, httpretry.Config{
						Strategy: modes(t, standard.Config{})[mode], Base: always("slow down", "Retry-After", "10"), RefusalAsError: asError,
					})}
					request, start := newRequest(t, http.MethodGet, ""), time.Now()
					if ofClient {
						client.Timeout = left
					} else {
						ctx, cancel := context.WithTimeout(t.Context(), left)
						defer cancel()
						request = request.WithContext(ctx)
					}
					got := exchange(roundTripFunc(client.Do), request)
					require.Zero(t, time.Since(start), "it returns at once")
					err := got.refusal
					if asError {
						err = got.err
						require.True(t, err.(*url.Error).Timeout()) //nolint:errorlint,forcetypeassert // http.Client returns no other
					} else {
						require.Equal(t, "slow down", got.body)
					}
					require.ErrorIs(t, err, retry.ErrDeadline)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					requireThrottle(t, err)
					refusal, _ := errors.AsType[*retry.Error](err)
					require.Equal(t, 10*time.Second, refusal.Wait)
					require.Equal(t, 10*time.Second, refusal.Hint)
				})
			}
		}
	}
}

func TestErrorsOfTheBaseComeBackAsTheyAre(t *testing.T) {
	t.Parallel()
	broken, body := errors.New("broken"), newBody("")
	for _, second := range []struct {
		response *http.Response
		err      error
		want     string
	}{
		{nil, broken, "broken"},
		{&http.Response{Body: body}, broken, "broken"},
		{nil, nil, "httpretry: Base returned neither a response nor an error"},
	} {
		attempts := 0
		got := try(t, httpretry.Config{Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 1 {
				return scripted{status: 503, body: "gone when the next attempt is made"}.RoundTrip(r)
			}
			return second.response, second.err
		})}, newRequest(t, http.MethodGet, ""))
		require.EqualError(t, got.err, second.want)
		require.True(t, second.err == nil || got.err == second.err, "it is not retryable, so nothing is around it") //nolint:errorlint // as said
		require.Equal(t, 2, got.attempts)
	}
	require.EqualValues(t, 1, body.closed.Load())
}

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBodiesOfResponsesAreClosedOnce(t *testing.T) {
	t.Parallel()
	short := func() io.Reader { return strings.NewReader(`{"a":"b"}`) }
	long := func() io.Reader { return endless{} }
	for _, c := range []struct {
		name     string
		body     func() io.Reader
		asError  bool
		canceled bool
		want     int
	}{
		{name: "short, retried", body: short, want: 3},
		{name: "long, retried", body: long, want: 3},
		{name: "short, as an error", body: short, asError: true, want: 3},
		{name: "long, as an error", body: long, asError: true, want: 3},
		{name: "long, canceled", body: long, canceled: true, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var bodies []*bodyReader
			clk := &clock.Fake{}
			transport := newTransport(t, httpretry.Config{Strategy: on(t, clk), RefusalAsError: c.asError, Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
				if c.canceled {
					cancel()
				}
				bodies = append(bodies, &bodyReader{Reader: c.body()})
				return &http.Response{
					StatusCode: http.StatusServiceUnavailable, ContentLength: -1, Body: bodies[len(bodies)-1],
					Header: http.Header{"Content-Type": {"application/json"}},
				}, nil
			})})
			clk.Run(func() {
				if response, err := transport.RoundTrip(newRequest(t, http.MethodGet, "").WithContext(ctx)); err == nil {
					require.NoError(t, response.Body.Close())
				}
			})
			require.Len(t, bodies, c.want)
			for _, body := range bodies {
				require.EqualValues(t, 1, body.closed.Load())
				require.Less(t, body.read.Load(), int32(200<<10))
			}
		})
	}
}

// A panic passes through. No body stays open, and the strategy hears of the attempt.
func TestPanics(t *testing.T) {
	t.Parallel()
	for _, leave := range []func(){func() { panic(http.ErrAbortHandler) }, runtime.Goexit} {
		for _, inPolicy := range []bool{false, true} {
			clk, sent, received := &clock.Fake{}, newBody("x"), newBody("y")
			s, attempts := on(t, clk), 0
			transport := newTransport(t, httpretry.Config{
				Strategy: s, Operation: func(*http.Request) retry.Operation { return retry.Operation{} },
				Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
					if attempts++; attempts == 2 && !inPolicy {
						leave()
					}
					return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: received}, nil
				}),
				Policy: func(_ *http.Response, err error) error {
					if attempts == 2 {
						leave()
					}
					return err
				},
			})
			request := newRequest(t, http.MethodPut, "x")
			request.Body = sent
			request.GetBody = func() (io.ReadCloser, error) { return http.NoBody, nil }
			clk.Run(func() {
				left := make(chan struct{})
				go func() { // which is the one that ends
					defer close(left)
					defer func() { _ = recover() }()
					exchange(transport, request)
				}()
				<-left
			})
			require.Equal(t, 2, attempts)
			require.Positive(t, sent.closed.Load())
			require.Equal(t, map[bool]int32{false: 1, true: 2}[inPolicy], received.closed.Load())
			require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
		}
	}
}
