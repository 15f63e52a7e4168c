package httpretry_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// slow answers after some time, and ends its body after some more.
func slow(headers, body time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pause(r.Context(), headers)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		pause(r.Context(), body)
		_, _ = io.WriteString(w, "answer")
	}
}

// TestAttemptTimeoutLeavesTheBodyAlone, unlike the timeout of the client, for which http.Client gives every request a
// channel in Cancel.
func TestAttemptTimeoutLeavesTheBodyAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ofClient, took time.Duration
		want           error
	}{
		{0, time.Second - 1 + time.Hour, nil},
		{3 * time.Second, 3 * time.Second, context.DeadlineExceeded},
	} {
		bubble(t, c.ofClient.String(), func(t *testing.T) {
			t.Helper()
			client := clientOf(t, slow(time.Second-1, time.Hour), httpretry.Config{AttemptTimeout: within(time.Second)})
			client.Timeout = c.ofClient
			start := time.Now()
			got := get(t, client)
			require.NoError(t, got.err)
			require.ErrorIs(t, got.bodyErr, c.want)
			require.Equal(t, c.took, time.Since(start))
		})
	}
}

func TestAttemptTimeoutGrowsAndIsRetriedAsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen events
		start := time.Now()
		err := get(t, clientOf(t, slow(time.Hour, 0), httpretry.Config{
			AttemptTimeout: retry.FixedTimeout{First: time.Second, Factor: 2},
			Strategy:       modes(t, standard.Config{Observer: &seen})["standard"],
		})).err
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		late, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok)
		require.Equal(t, 4*time.Second, late.After)
		requireTimeouts(t, seen)
		require.Equal(t, (1+2+4)*time.Second+1*time.Second+2*time.Second, time.Since(start))
	})
}

// requireTimeouts checks that two retries came after timeouts.
func requireTimeouts(t *testing.T, seen events) {
	t.Helper()
	scheduled := seen.of(retry.RetryScheduled)
	require.Len(t, scheduled, 2)
	for _, e := range scheduled {
		require.Equal(t, classify.Timeout, e.Verdict.Kind())
	}
}

// TestALimitOfTheBaseIsRetriedAsATimeout has answers that stop before their headers, or in the body of
// a failure, which is read for a code.
func TestALimitOfTheBaseIsRetriedAsATimeout(t *testing.T) {
	t.Parallel()
	const most = 900 * time.Millisecond // less than the time for which the body of a failure is looked into
	for name, limit := range map[string]func(base http.RoundTripper) roundTripFunc{
		"a context for each attempt": func(base http.RoundTripper) roundTripFunc {
			return func(r *http.Request) (*http.Response, error) {
				ctx, cancel := context.WithTimeout(r.Context(), most)
				context.AfterFunc(ctx, cancel)
				return base.RoundTrip(r.WithContext(ctx))
			}
		},
		"a client with a timeout": func(base http.RoundTripper) roundTripFunc {
			return (&http.Client{Timeout: most, Transport: roundTripFunc(base.RoundTrip)}).Do
		},
	} {
		for where, status := range map[string]int{"before the headers": 0, "in the body": http.StatusBadRequest} {
			bubble(t, name+"/"+where, func(t *testing.T) {
				t.Helper()
				var seen events
				var attempts atomic.Int64
				inner := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if attempts.Add(1) == 3 {
						return
					}
					if status > 0 {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(status)
						_ = http.NewResponseController(w).Flush()
					}
					<-r.Context().Done()
				})).Transport()
				defer inner.CloseIdleConnections()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				got := try(t, httpretry.Config{
					Base: limit(inner), Strategy: modes(t, standard.Config{Observer: &seen})["adaptive"],
				}, newRequest(t, http.MethodGet, "").WithContext(ctx))
				require.Equal(t, http.StatusOK, got.status)
				requireTimeouts(t, seen)
				require.Equal(t, 2*most+1*time.Second+2*time.Second, got.took)
			})
		}
	}
}

// TestCallerEndsARequest: that is not the timeout of an attempt, and no attempt follows.
func TestCallerEndsARequest(t *testing.T) {
	t.Parallel()
	const left = 500 * time.Millisecond
	services := map[string]http.HandlerFunc{
		"before the answer":    slow(time.Hour, 0),
		"in a body for a code": (&stalling{status: 503, kind: "application/json", after: time.Hour}).ServeHTTP,
		"in a body":            (&stalling{status: 503, kind: "text/html", after: time.Hour}).ServeHTTP,
		"in the backoff":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
	}
	for _, c := range []struct {
		name string
		want error
		end  func(client *http.Client, r *http.Request) (*http.Request, func())
	}{
		{"by a deadline", context.DeadlineExceeded, func(_ *http.Client, r *http.Request) (*http.Request, func()) {
			ctx, cancel := context.WithTimeout(r.Context(), left)
			return r.WithContext(ctx), cancel
		}},
		{"by a timeout of the client", context.DeadlineExceeded, func(client *http.Client, r *http.Request) (*http.Request, func()) {
			client.Timeout = left
			return r, func() {}
		}},
		{"by a cancel", context.Canceled, func(_ *http.Client, r *http.Request) (*http.Request, func()) {
			ctx, cancel := context.WithCancel(r.Context())
			time.AfterFunc(left, cancel) //nolint:forbidigo // the bubble's
			return r.WithContext(ctx), cancel
		}},
		{"by the legacy channel, for which net/http has an error of its own", nil, func(_ *http.Client, r *http.Request) (*http.Request, func()) {
			canceled := make(chan struct{})
			time.AfterFunc(left, func() { close(canceled) }) //nolint:forbidigo // the bubble's
			r.Cancel = canceled                              //nolint:staticcheck // it is still there
			return r, func() {}
		}},
	} {
		for where, service := range services {
			if strings.HasPrefix(where, "in ") && c.want == context.DeadlineExceeded { //nolint:errorlint // of the table
				continue // the wait for the next attempt is refused at once
			}
			for _, limit := range []time.Duration{0, left, time.Minute} {
				bubble(t, c.name+" "+where+" within "+limit.String(), func(t *testing.T) {
					t.Helper()
					var attempts atomic.Int64
					client := clientOf(t, func(w http.ResponseWriter, r *http.Request) { attempts.Add(1); service(w, r) },
						httpretry.Config{AttemptTimeout: within(limit)})
					start := time.Now()
					r, release := c.end(client, newRequest(t, http.MethodGet, ""))
					defer release()
					err := exchange(roundTripFunc(client.Do), r).err
					if require.Error(t, err); c.want != nil {
						require.ErrorIs(t, err, c.want)
					}
					if _, limited := errors.AsType[*retry.AttemptTimeoutError](err); limit > left {
						require.False(t, limited, err)
					}
					if strings.HasPrefix(where, "in ") {
						require.ErrorIs(t, err, retry.ErrCanceled)
						require.NotZero(t, lastOf(t, err).Status)
					}
					require.Equal(t, left, time.Since(start))
					require.Equal(t, int64(1), attempts.Load())
				})
			}
		}
	}
}

// An answer that comes at the very end of the attempt is too late: its context has ended, so
// that its body cannot be read.
func TestAnswerAtTheLastInstant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		got := try(t, httpretry.Config{
			Strategy: on(t, nil), AttemptTimeout: within(time.Second),
			Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
				if attempts++; attempts == 1 {
					<-r.Context().Done()
				}
				return scripted{status: 200, body: "answer"}.RoundTrip(r)
			}),
		}, newRequest(t, http.MethodGet, ""))
		require.Equal(t, "answer", got.body)
		require.Equal(t, 2, got.attempts)
	})
}

// TestTimeOfAnUpload: it begins anew with each part that is read, and has the time that the whole body needs to get out
// of the kernel, which may take it at once.
func TestTimeOfAnUpload(t *testing.T) {
	t.Parallel()
	const second, never = time.Second, 24 * time.Hour
	once := func(r *http.Request) { r.GetBody = nil }
	for name, c := range map[string]struct {
		size, part    int
		pause, answer time.Duration // after each part, and after the last one
		change        func(r *http.Request)
		want          time.Duration
	}{
		"it gets on":         {size: 3, part: 1, pause: 900 * time.Millisecond, answer: 900 * time.Millisecond, want: 3600 * time.Millisecond},
		"the answer is late": {size: 3, part: 1, pause: 900 * time.Millisecond, answer: never, want: 3700 * time.Millisecond},
		"none":               {size: 0, part: 1, answer: never, want: second},
		"of one byte":        {size: 1, part: 1, answer: never, want: second},
		"small":              {size: 64 << 10, part: 64 << 10, answer: never, want: second},
		"large":              {size: 1 << 20, part: 1 << 20, answer: never, want: 9 * second},
		"of no size":         {size: 1 << 20, part: 1 << 20, answer: never, change: func(r *http.Request) { r.ContentLength = 0 }, want: time.Hour},
		"of any size":        {size: 1, part: 1, answer: never, change: func(r *http.Request) { r.ContentLength = -1 }, want: time.Hour},
		"not replayable":     {size: 1 << 20, part: 1 << 20, answer: never, change: once, want: 9 * second},
	} {
		bubble(t, name, func(t *testing.T) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			request := newRequest(t, http.MethodPut, strings.Repeat("x", c.size)).WithContext(ctx)
			if c.change != nil {
				c.change(request)
			}
			got := try(t, httpretry.Config{
				Strategy: on(t, nil), MaxAttempts: 1, AttemptTimeout: within(second),
				Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
					if r.Body != nil {
						part := make([]byte, c.part)
						for _, err := r.Body.Read(part); err == nil; _, err = r.Body.Read(part) {
							pause(r.Context(), c.pause)
						}
					}
					if !pause(r.Context(), c.answer) {
						return nil, r.Context().Err()
					}
					return scripted{status: http.StatusOK}.RoundTrip(r)
				}),
			}, request)
			_, late := errors.AsType[*retry.AttemptTimeoutError](got.err)
			require.Equal(t, c.answer == never && c.want < time.Hour, late, "%v", got.err)
			require.Equal(t, c.want, got.took)
		})
	}
}

// TestLearnedTimeoutLeavesRequestsThatAreNotSentAgain: a POST could only fail.
func TestLearnedTimeoutLeavesRequestsThatAreNotSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		timeout, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: 1, Ceiling: time.Minute})
		require.NoError(t, err)
		takes, status := time.Duration(0), http.StatusServiceUnavailable
		config := httpretry.Config{
			Strategy: on(t, nil), AttemptTimeout: timeout,
			Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, r.Body)
				d := takes
				takes = 10 * time.Millisecond
				if !pause(r.Context(), d) {
					return nil, r.Context().Err()
				}
				return scripted{status: status}.RoundTrip(r)
			}),
			Policy: func(response *http.Response, err error) error {
				if response != nil {
					return nil // whatever its status
				}
				return err
			},
		}
		send := func(method string, first time.Duration, change ...func(r *http.Request)) (attempts int) {
			takes = first
			r := newRequest(t, method, "abc")
			for _, change := range change {
				change(r)
			}
			got := try(t, config, r)
			require.NoError(t, got.err)
			return got.attempts
		}
		for range 100 {
			send(http.MethodPut, 10*time.Millisecond)
		}
		require.Equal(t, 1, send(http.MethodPut, 9*time.Second), "nothing is learned from failures")
		status = http.StatusOK
		for range 100 {
			send(http.MethodPut, 10*time.Millisecond)
			send(http.MethodPost, 10*time.Millisecond)
		}
		require.Equal(t, 2, send(http.MethodPut, 9*time.Second))
		require.Equal(t, 1, send(http.MethodPost, 9*time.Second))
		require.Equal(t, 1, send(http.MethodPut, 9*time.Second, func(r *http.Request) { r.GetBody = nil }), "its body is read")
	})
}

// The sleep after a refused long poll is not part of an attempt.
func TestLimitOfAnAttemptEndsWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &stalling{status: http.StatusTooManyRequests, kind: "text/plain", after: time.Minute, rest: "at last"}
		start := time.Now()
		got := get(t, clientOf(t, server.ServeHTTP, httpretry.Config{
			AttemptTimeout: within(500 * time.Millisecond),
			Strategy:       modes(t, standard.Config{Behavior: retry.V21, QuotaCapacity: new(0)})["standard"],
			Operation:      func(*http.Request) retry.Operation { return retry.Operation{LongPolling: true} },
		}))
		require.ErrorIs(t, got.refusal, retry.ErrQuotaExhausted)
		require.NoError(t, got.bodyErr)
		require.Equal(t, "at last", got.body)
		require.Equal(t, time.Minute, time.Since(start), "the sleep of one second is within")
	})
}

// The bubble ends only when the goroutines of a response are gone. The context of the request
// does not end them here.
func TestBodyThatIsDoneWithReleasesItsContext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body io.ReadCloser
		use  func(body io.ReadCloser) error
	}{
		"read to its end": {newBody("answer"), func(body io.ReadCloser) error { _, err := io.Copy(io.Discard, body); return err }},
		"closed":          {newBody("answer"), io.ReadCloser.Close},
		"there is none":   {http.NoBody, nil},
	} {
		bubble(t, name, func(t *testing.T) {
			t.Helper()
			var attempt *http.Request
			transport := newTransport(t, httpretry.Config{
				Strategy: on(t, nil), AttemptTimeout: within(time.Second),
				Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
					attempt = r
					return &http.Response{StatusCode: http.StatusOK, Body: c.body}, nil
				}),
			})
			r := newRequest(t, http.MethodGet, "").WithContext(context.Background())
			r.Cancel = make(chan struct{})          //nolint:staticcheck // it is still there
			response, err := transport.RoundTrip(r) //nolint:bodyclose // use may
			require.NoError(t, err)
			if c.use != nil {
				require.NoError(t, attempt.Context().Err())
				require.NoError(t, c.use(response.Body))
			} else {
				require.Equal(t, http.NoBody, response.Body)
			}
			require.ErrorIs(t, attempt.Context().Err(), context.Canceled)
		})
	}
}
