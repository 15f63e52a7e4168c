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
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

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
						require.Equal(t, 10*time.Second, refusal.Wait)
						require.Equal(t, 10*time.Second, refusal.Hint)
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

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBodiesOfResponsesAreClosedOnce(t *testing.T) {
	t.Parallel()
	short := func() io.Reader { return strings.NewReader(`{"a":"b"}`) }
	long := func() io.Reader { return endless{} }
	canceled, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		name   string
		body   func() io.Reader
		config httpretry.Config
		cancel func()
		want   int
	}{
		{"short, retried", short, httpretry.Config{}, nil, 3},
		{"long, retried", long, httpretry.Config{}, nil, 3},
		{"short, as an error", short, httpretry.Config{RefusalAsError: true}, nil, 3},
		{"long, as an error", long, httpretry.Config{RefusalAsError: true}, nil, 3},
		{"long, canceled", long, httpretry.Config{}, cancel, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			clk := &clock.Fake{}
			var bodies []*strictBody
			c.config.Strategy = on(t, clk)
			c.config.Base = roundTripFunc(func(*http.Request) (*http.Response, error) {
				if c.cancel != nil {
					c.cancel()
				}
				bodies = append(bodies, &strictBody{Reader: c.body()})
				return &http.Response{
					StatusCode: http.StatusServiceUnavailable, ContentLength: -1, Body: bodies[len(bodies)-1],
					Header: http.Header{"Content-Type": {"application/json"}},
				}, nil
			})
			transport := newTransport(t, c.config)
			clk.Run(func() {
				ctx := t.Context()
				if c.cancel != nil {
					ctx = canceled
				}
				response, err := transport.RoundTrip(newRequest(ctx, t, http.MethodGet, "http://service/", ""))
				if err == nil {
					require.NoError(t, response.Body.Close())
				}
			})
			require.Len(t, bodies, c.want)
			for _, body := range bodies {
				require.Equal(t, 1, body.closed)
				require.Less(t, body.read, 200<<10)
			}
		})
	}
}

func TestBaseThatReturnsNothing(t *testing.T) {
	t.Parallel()
	transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return nil, nil //nolint:nilnil // that is the point
	})})
	got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.EqualError(t, got.err, "httpretry: Base returned neither a response nor an error")
}

func TestBaseThatReturnsBoth(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	body := &bodyReader{Reader: strings.NewReader("")}
	transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: body}, broken
	})})
	got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.Equal(t, broken, got.err)
	require.Equal(t, int32(1), body.closed.Load())
}

// A panic passes through. No body stays open, and the strategy hears of the attempt.
func TestPanics(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(){
		"panic":  func() { panic(http.ErrAbortHandler) },
		"Goexit": runtime.Goexit,
	} {
		for _, inPolicy := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := modes(t, standard.Config{Clock: clk})["standard"]
				sent, received := &bodyReader{Reader: strings.NewReader("x")}, &bodyReader{Reader: strings.NewReader("y")}
				attempts := 0
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
				request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "x")
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
			})
		}
	}
}

func TestPanicBeforeTheFirstAttemptLeavesNoBodyOpen(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *httpretry.Config){
		"With":      func(*httpretry.Config) { panic("on purpose") },
		"Operation": func(c *httpretry.Config) { c.Operation = func(*http.Request) retry.Operation { panic("on purpose") } },
		"AttemptTimeout": func(c *httpretry.Config) {
			c.AttemptTimeout = retry.TimeoutFunc(func(retry.Operation) retry.AttemptTimeout { panic("on purpose") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := &bodyReader{Reader: strings.NewReader("x")}
			transport := newTransport(t, httpretry.Config{Strategy: on(t, nil)})
			request := newRequest(httpretry.With(t.Context(), change), t, http.MethodPut, "http://service/", "x")
			request.Body = body
			require.PanicsWithValue(t, "on purpose", func() { exchange(transport, request) })
			require.EqualValues(t, 1, body.closed.Load())
		})
	}
}
