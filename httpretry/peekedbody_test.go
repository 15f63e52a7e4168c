package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// stalling answers with a status and a part of a body, and with the rest of it much later.
type stalling struct {
	status   int
	kind     string // of the content
	first    string
	after    time.Duration
	rest     string
	requests atomic.Int64
}

func (s *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	w.Header().Set("Content-Type", s.kind)
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, s.first)
	_ = http.NewResponseController(w).Flush()
	select {
	case <-time.After(s.after): //nolint:forbidigo // the bubble's
		_, _ = io.WriteString(w, s.rest)
	case <-r.Context().Done():
	}
}

func TestStalledBodyHoldsTheCallerForASecondAtMost(t *testing.T) {
	t.Parallel()
	const aWhile = time.Hour
	for _, c := range []struct {
		name     string
		server   *stalling
		attempts int64
		took     time.Duration // until the caller has the response
		code     string
	}{
		{
			name:   "nothing of a body that may have a code",
			server: &stalling{status: 404, kind: "application/json", after: aWhile, rest: `{"__type":"NotFound"}`}, attempts: 1, took: time.Second,
		},
		{
			name:   "a part of a body that may have a code",
			server: &stalling{status: 404, kind: "text/xml", first: "<Error><Co", after: aWhile, rest: "de>NotFound</Code></Error>"}, attempts: 1, took: time.Second,
		},
		{
			name:   "the rest in time",
			server: &stalling{status: 404, kind: "text/xml", first: "<Error><Co", after: time.Second - 1, rest: "de>NotFound</Code></Error>"}, attempts: 1,
			took: time.Second - 1, code: "NotFound",
		},
		{
			name:   "what comes after the code",
			server: &stalling{status: 404, kind: "application/json", first: `{"__type":"NotFound",`, after: aWhile, rest: `"message":""}`}, attempts: 1, code: "NotFound",
		},
		{
			name:   "a body without a code",
			server: &stalling{status: 404, kind: "text/html", first: "<html>", after: aWhile, rest: "</html>"}, attempts: 1,
		},
		{
			name:   "a body without a code of a failure that is retried",
			server: &stalling{status: 503, kind: "text/html", first: "<html>", after: aWhile, rest: "</html>"}, attempts: 3,
			took: 2*time.Second + 1*time.Second + 2*time.Second,
		},
		{
			name:   "a body that may have a code, of a failure that is retried",
			server: &stalling{status: 503, kind: "", first: `{"__type":`, after: aWhile, rest: `"Busy"}`}, attempts: 3,
			took: 3*time.Second + 1*time.Second + 2*time.Second,
		},
	} {
		for _, limit := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprint(c.name, "/", limit), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server := &stalling{status: c.server.status, kind: c.server.kind, first: c.server.first, after: c.server.after, rest: c.server.rest}
					client := clientOf(t, server, httpretry.Config{AttemptTimeout: within(limit)})
					start := time.Now()
					response, err := client.Do(newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
					require.NoError(t, err)
					require.Equal(t, c.took, time.Since(start))
					require.Equal(t, c.server.status, response.StatusCode)
					require.Equal(t, c.attempts, server.requests.Load())
					last, ok := lastOf(httpretry.Refusal(response))
					require.True(t, ok)
					require.Equal(t, c.code, last.Code)
					require.NoError(t, last.Err)

					text, err := io.ReadAll(response.Body)
					require.NoError(t, err)
					require.Equal(t, c.server.first+c.server.rest, string(text), "nothing is lost")
					require.NoError(t, response.Body.Close())
				})
			})
		}
	}
}

// The bubble ends only when the goroutine that reads is gone, and serve wants no connection left.
func TestStalledBodyThatIsClosedLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 503} {
		for _, how := range []string{"closed", "closed during a read", "canceled"} {
			t.Run(fmt.Sprint(status, "/", how), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					client := clientOf(t, &stalling{status: status, kind: "application/json", first: `{"`, after: time.Hour}, httpretry.Config{})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					response, err := client.Do(newRequest(ctx, t, http.MethodGet, "http://service/", ""))
					require.NoError(t, err)
					var reading sync.WaitGroup
					var text []byte
					var ended error
					if how != "closed" {
						reading.Go(func() { text, ended = io.ReadAll(response.Body) })
						synctest.Wait()
					}
					if how == "canceled" {
						cancel()
						reading.Wait()
					}
					require.NoError(t, response.Body.Close())
					reading.Wait()
					if how != "closed" {
						require.Error(t, ended)
						require.Equal(t, `{"`, string(text))
					}
				})
			})
		}
	}
}

func TestEndOfTheAttemptOrOfTheCallerComesBeforeTheSecond(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"that may have a code": "application/json", "without a code": "text/html"} {
		t.Run("attempt, body "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &stalling{status: 503, kind: kind, after: time.Hour}
				client := clientOf(t, server, httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: 500 * time.Millisecond}, MaxAttempts: 2})
				start := time.Now()
				response, err := client.Do(newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				took := 500*time.Millisecond + time.Second // the first body and the backoff
				if kind == "application/json" {
					took += 500 * time.Millisecond // and the second body
					last, ok := lastOf(httpretry.Refusal(response))
					require.True(t, ok)
					_, late := errors.AsType[*retry.AttemptTimeoutError](last.Err)
					require.True(t, late)
				}
				require.Equal(t, took, time.Since(start))
				require.Equal(t, int64(2), server.requests.Load())
			})
		})
		t.Run("caller, body "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := clientOf(t, &stalling{status: 503, kind: kind, after: time.Hour}, httpretry.Config{})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(500*time.Millisecond, cancel) //nolint:forbidigo // the bubble's
				start := time.Now()
				_, err := client.Do(newRequest(ctx, t, http.MethodGet, "http://service/", "")) //nolint:bodyclose // there is none
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, retry.ErrCanceled)
				require.Equal(t, 500*time.Millisecond, time.Since(start))
			})
		})
	}
}

// bodyFunc is a body whose Read is the function.
type bodyFunc func() (string, error)

func (f bodyFunc) Read(p []byte) (int, error) {
	text, err := f()
	return copy(p, text), err
}

func (bodyFunc) Close() error { return nil }

// notFoundWith returns a Transport over a base that answers 404 with the body.
func notFoundWith(t *testing.T, clk clock.Clock, body io.ReadCloser) *httpretry.Transport {
	t.Helper()
	return newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusNotFound, Body: body, ContentLength: -1}, nil
	})})
}

func TestSecondForABodyIsOnTheClockOfTheConfig(t *testing.T) {
	t.Parallel()
	clk, more := &clock.Fake{}, make(chan struct{})
	reads := 0
	transport := notFoundWith(t, clk, bodyFunc(func() (string, error) {
		switch reads++; reads {
		case 1:
			clk.Advance(time.Second - 1)
			return "<Error><Code>", nil
		case 2:
			clk.Advance(1)
			<-more
			return "NotFound", nil
		default:
			return "</Code></Error>", io.EOF
		}
	}))
	response, err := transport.RoundTrip(newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.NoError(t, err)
	require.EqualError(t, httpretry.Refusal(response), "httpretry: status 404 Not Found")
	close(more)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, "<Error><Code>NotFound</Code></Error>", string(text))
	require.NoError(t, response.Body.Close())
}

func TestPanicOfABodyIsThatOfTheCaller(t *testing.T) {
	t.Parallel()
	transport := notFoundWith(t, &clock.Fake{}, bodyFunc(func() (string, error) { panic("body") }))
	require.PanicsWithValue(t, "body", func() {
		exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	})
	transport = notFoundWith(t, &clock.Fake{}, bodyFunc(func() (string, error) { runtime.Goexit(); return "", nil }))
	got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.EqualError(t, got.refusal, "httpretry: status 404 Not Found: httpretry: reading the body did not return")
	require.Error(t, got.bodyErr)
}

func TestErrorsOfABodyThatPanicLeaveTheAnswer(t *testing.T) {
	t.Parallel()
	transport := notFoundWith(t, &clock.Fake{}, bodyFunc(func() (string, error) { return "", (*fielded)(nil) }))
	response, err := transport.RoundTrip(newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	require.EqualError(t, httpretry.Refusal(response), "httpretry: status 404 Not Found: <nil>")
}
