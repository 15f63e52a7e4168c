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
	status int
	kind   string // of the content
	first  string
	after  time.Duration
	rest   string
}

func (s *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", s.kind)
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, s.first)
	_ = http.NewResponseController(w).Flush()
	if pause(r.Context(), s.after) {
		_, _ = io.WriteString(w, s.rest)
	}
}

func TestStalledBodyHoldsTheCallerForASecondAtMost(t *testing.T) {
	t.Parallel()
	const aWhile, second, inXML = time.Hour, time.Second, "text/xml"
	for _, c := range []struct {
		name     string
		server   stalling
		attempts int64
		took     time.Duration // until the caller has the response
		code     string
	}{
		{"nothing of a body that may have a code", stalling{404, "application/json", "", aWhile, `{"__type":"NotFound"}`}, 1, second, ""},
		{"a part of such a body", stalling{404, inXML, "<Error><Co", aWhile, "de>NotFound</Code></Error>"}, 1, second, ""},
		{"the rest in time", stalling{404, inXML, "<Error><Co", second - 1, "de>NotFound</Code></Error>"}, 1, second - 1, "NotFound"},
		{"what comes after a code in JSON", stalling{404, "application/json", `{"__type":"NotFound",`, aWhile, `"message":""}`}, 1, 0, "NotFound"},
		{"what comes after a code in XML", stalling{404, inXML, "<Error><Code>NotFound</Code>", aWhile, "</Error>"}, 1, 0, "NotFound"},
		{"a body without a code", stalling{404, "text/html", "<html>", aWhile, "</html>"}, 1, 0, ""},
		{"a body without a code, retried", stalling{503, "text/html", "<html>", aWhile, "</html>"}, 3, (2 + 1 + 2) * second, ""},
		{"a body that may have a code, retried", stalling{503, "", `{"__type":`, aWhile, `"Busy"}`}, 3, (3 + 1 + 2) * second, ""},
	} {
		for _, limit := range []time.Duration{0, time.Minute} {
			bubble(t, fmt.Sprint(c.name, "/", limit), func(t *testing.T) {
				t.Helper()
				var attempts atomic.Int64
				client := clientOf(t, func(w http.ResponseWriter, r *http.Request) { attempts.Add(1); c.server.ServeHTTP(w, r) },
					httpretry.Config{AttemptTimeout: within(limit)})
				start := time.Now()
				response, err := client.Do(newRequest(t, http.MethodGet, ""))
				require.NoError(t, err)
				require.Equal(t, c.took, time.Since(start))
				require.Equal(t, c.server.status, response.StatusCode)
				require.Equal(t, c.attempts, attempts.Load())
				last := lastOf(t, httpretry.Refusal(response))
				require.Equal(t, c.code, last.Code)
				require.NoError(t, last.Err)
				text, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.Equal(t, c.server.first+c.server.rest, string(text), "nothing is lost")
				require.NoError(t, response.Body.Close())
			})
		}
	}
}

// The bubble ends only when the goroutine that reads is gone, and serve wants no connection left.
func TestStalledBodyThatIsClosedLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 503} {
		for _, how := range []string{"closed", "closed during a read", "canceled"} {
			bubble(t, fmt.Sprint(status, "/", how), func(t *testing.T) {
				t.Helper()
				client := clientOf(t, (&stalling{status: status, kind: "application/json", first: `{"`, after: time.Hour}).ServeHTTP, httpretry.Config{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				response, err := client.Do(newRequest(t, http.MethodGet, "").WithContext(ctx))
				require.NoError(t, err)
				var reading sync.WaitGroup
				if how != "closed" {
					reading.Go(func() {
						text, err := io.ReadAll(response.Body)
						require.Error(t, err)
						require.Equal(t, `{"`, string(text))
					})
					synctest.Wait()
				}
				if how == "canceled" {
					cancel()
					reading.Wait()
				}
				require.NoError(t, response.Body.Close())
				reading.Wait()
			})
		}
	}
}

func TestEndOfTheAttemptComesBeforeTheSecond(t *testing.T) {
	t.Parallel()
	for kind, more := range map[string]time.Duration{"application/json": 500 * time.Millisecond, "text/html": 0} {
		bubble(t, kind, func(t *testing.T) {
			t.Helper()
			client := clientOf(t, (&stalling{status: 503, kind: kind, after: time.Hour}).ServeHTTP,
				httpretry.Config{AttemptTimeout: within(500 * time.Millisecond), MaxAttempts: 2})
			start := time.Now()
			response, err := client.Do(newRequest(t, http.MethodGet, ""))
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, 500*time.Millisecond+time.Second+more, time.Since(start), "the first body, the backoff, and a code in the second body")
			_, late := errors.AsType[*retry.AttemptTimeoutError](lastOf(t, httpretry.Refusal(response)).Err)
			require.Equal(t, more > 0, late)
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

// notFoundWith sends a request to a base that answers 404 with the body.
func notFoundWith(t *testing.T, clk clock.Clock, body bodyFunc) (*http.Response, error) {
	t.Helper()
	return newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusNotFound, Body: body, ContentLength: -1}, nil
	})}).RoundTrip(newRequest(t, http.MethodGet, ""))
}

func TestSecondForABodyIsOnTheClockOfTheConfig(t *testing.T) {
	t.Parallel()
	clk, more := &clock.Fake{}, make(chan struct{})
	reads := 0
	response, err := notFoundWith(t, clk, func() (string, error) {
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
	})
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
	require.PanicsWithValue(t, "body", func() {
		_, _ = notFoundWith(t, &clock.Fake{}, func() (string, error) { panic("body") }) //nolint:bodyclose // there is none
	})
	for want, body := range map[string]bodyFunc{
		"httpretry: reading the body did not return": func() (string, error) { runtime.Goexit(); return "", nil },
		"<nil>": func() (string, error) { return "", (*fielded)(nil) }, // whose methods panic
	} {
		response, err := notFoundWith(t, &clock.Fake{}, body)
		require.NoError(t, err)
		require.EqualError(t, httpretry.Refusal(response), "httpretry: status 404 Not Found: "+want)
		_, err = response.Body.Read(make([]byte, 1))
		require.True(t, err != nil) //nolint:testifylint // its methods may panic
		require.NoError(t, response.Body.Close())
	}
}
