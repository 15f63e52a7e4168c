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
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// slow answers after some time, and ends its body after some more.
func slow(headers, body time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wait := func(d time.Duration) {
			select {
			case <-time.After(d): //nolint:forbidigo // the bubble's
			case <-r.Context().Done():
			}
		}
		wait(headers)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		wait(body)
		_, _ = io.WriteString(w, "answer")
	})
}

func TestAttemptTimeoutLeavesTheBodyAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, slow(900*time.Millisecond, time.Hour), httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: time.Second}})
		got := get(t.Context(), t, client)
		require.NoError(t, got.err)
		require.NoError(t, got.bodyErr)
		require.Equal(t, "answer", got.body)
	})
}

func TestAttemptTimeoutGrowsAndIsRetriedAsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var kinds []classify.Kind
		start := time.Now()
		client := clientOf(t, slow(time.Hour, 0), httpretry.Config{
			AttemptTimeout: retry.FixedTimeout{First: time.Second, Factor: 2},
			Strategy: modes(t, standard.Config{Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.RetryScheduled {
					kinds = append(kinds, e.Verdict.Kind())
				}
			})})["standard"],
		})
		err := get(t.Context(), t, client).err
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		late, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok)
		require.Equal(t, 4*time.Second, late.After)
		require.Equal(t, []classify.Kind{classify.Timeout, classify.Timeout}, kinds)
		require.Equal(t, (1+2+4)*time.Second+1*time.Second+2*time.Second, time.Since(start))
	})
}

// TestALimitOfTheBaseIsRetriedAsATimeout has answers that stop before their headers, or in the body of
// a failure, which is read for a code.
func TestALimitOfTheBaseIsRetriedAsATimeout(t *testing.T) {
	t.Parallel()
	const most = 900 * time.Millisecond // less than the time for which the body of a failure is looked into
	stops := map[string]http.HandlerFunc{
		"before the headers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"in the body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	}
	for base, limit := range map[string]func(base http.RoundTripper) http.RoundTripper{
		"a context for each attempt": func(base http.RoundTripper) http.RoundTripper {
			return roundTripFunc(func(r *http.Request) (*http.Response, error) {
				ctx, cancel := context.WithTimeout(r.Context(), most)
				context.AfterFunc(ctx, cancel)
				return base.RoundTrip(r.WithContext(ctx))
			})
		},
		"a client with a timeout": func(base http.RoundTripper) http.RoundTripper {
			return roundTripFunc((&http.Client{Timeout: most, Transport: roundTripFunc(base.RoundTrip)}).Do)
		},
	} {
		for where, stop := range stops {
			for deadline, left := range map[string]time.Duration{"no deadline": 0, "a later deadline": time.Hour} {
				t.Run(base+"/"+where+"/"+deadline, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var kinds []classify.Kind
						var attempts atomic.Int64
						inner := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
							if attempts.Add(1) < 3 {
								stop(w, r)
							}
						})).Transport()
						defer inner.CloseIdleConnections()
						client := &http.Client{Transport: newTransport(t, httpretry.Config{
							Base: limit(inner),
							Strategy: modes(t, standard.Config{Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
								if e.Kind == retry.RetryScheduled {
									kinds = append(kinds, e.Verdict.Kind())
								}
							})})["adaptive"],
						})}
						ctx := t.Context()
						if left > 0 {
							var cancel context.CancelFunc
							ctx, cancel = context.WithTimeout(ctx, left)
							defer cancel()
						}
						start := time.Now()
						got := get(ctx, t, client)
						require.NoError(t, got.err)
						require.Equal(t, http.StatusOK, got.status)
						require.Equal(t, []classify.Kind{classify.Timeout, classify.Timeout}, kinds)
						require.Equal(t, 2*most+1*time.Second+2*time.Second, time.Since(start))
					})
				})
			}
		}
	}
}

func TestTimeoutOutOfRangeOfAFunctionTakesNothing(t *testing.T) {
	t.Parallel()
	strategy, body := modes(t, standard.Config{})["adaptive"], &bodyReader{Reader: strings.NewReader("text")}
	transport := newTransport(t, httpretry.Config{
		Strategy: strategy, Base: scripted{status: http.StatusOK},
		AttemptTimeout: retry.TimeoutFunc(func(retry.Operation) retry.AttemptTimeout { return retry.FixedTimeout{First: -1} }),
	})
	request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "")
	request.Body = body
	before := strategy.Snapshot()
	_, err := transport.RoundTrip(request) //nolint:bodyclose // there is none
	require.EqualError(t, err,
		`httpretry: AttemptTimeout: retry: TimeoutFunc for "PUT" in scope "//service": FixedTimeout.First -1ns: must be more than zero`)
	require.Equal(t, before, strategy.Snapshot(), "not even a scope was made")
	require.EqualValues(t, 1, body.closed.Load())
}

// The end of the caller's context is not the timeout of an attempt.
func TestCallerEndsAnAttempt(t *testing.T) {
	t.Parallel()
	const left = 500 * time.Millisecond
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
		for _, attemptTimeout := range []time.Duration{0, left, time.Minute} {
			t.Run(c.name+" within "+attemptTimeout.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var attempts atomic.Int64
					service := slow(time.Hour, 0)
					client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						attempts.Add(1)
						service.ServeHTTP(w, r)
					}), httpretry.Config{AttemptTimeout: within(attemptTimeout)})
					start := time.Now()
					r, release := c.end(client, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
					defer release()
					err := exchange(roundTripFunc(client.Do), r).err
					if require.Error(t, err); c.want != nil {
						require.ErrorIs(t, err, c.want)
					}
					if _, limited := errors.AsType[*retry.AttemptTimeoutError](err); attemptTimeout > left {
						require.False(t, limited, err)
					}
					require.Equal(t, left, time.Since(start))
					require.Equal(t, int64(1), attempts.Load())
				})
			})
		}
	}
}

// http.Client with a Timeout gives every request a channel in Cancel.
func TestTimeoutOfTheClientReachesTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, slow(time.Second, time.Hour), httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: 2 * time.Second}})
		client.Timeout = 3 * time.Second
		start := time.Now()
		got := get(t.Context(), t, client)
		require.NoError(t, got.err)
		require.ErrorIs(t, got.bodyErr, context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

// The bubble ends only when the goroutines of a response are gone.
func TestResponseWithoutABodyNeedsNoClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, slow(0, 0), httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: time.Second}})
		r := newRequest(t.Context(), t, http.MethodHead, "http://service/", "")
		r.Cancel = make(chan struct{}) //nolint:staticcheck // it is still there
		response, err := client.Do(r)  //nolint:bodyclose // that is the point
		require.NoError(t, err)
		require.Equal(t, http.NoBody, response.Body)
	})
}

// An answer that comes at the very end of the attempt is too late: its context has ended, so
// that its body cannot be read.
func TestAnswerAtTheLastInstant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		transport := newTransport(t, httpretry.Config{
			Strategy: on(t, nil), AttemptTimeout: retry.FixedTimeout{First: time.Second},
			Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
				if attempts++; attempts == 1 {
					<-r.Context().Done()
				}
				return scripted{status: 200, body: "answer"}.RoundTrip(r)
			}),
		})
		got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
		require.Equal(t, "answer", got.body)
		require.Equal(t, 2, attempts)
	})
}

// TestTimeOfAnUploadBeginsAnewWithEachPart has a server that reads three parts slowly, and then answers or not.
func TestTimeOfAnUploadBeginsAnewWithEachPart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer time.Duration
		late   bool
	}{"it gets on": {900 * time.Millisecond, false}, "the answer is late": {1100 * time.Millisecond, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
					part := make([]byte, 1)
					for _, err := r.Body.Read(part); err == nil; _, err = r.Body.Read(part) {
						if err := (clock.System{}).Sleep(r.Context(), 900*time.Millisecond); err != nil {
							return nil, err
						}
					}
					if err := (clock.System{}).Sleep(r.Context(), c.answer); err != nil {
						return nil, err
					}
					return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
				})
				transport := newTransport(t, httpretry.Config{
					Strategy: on(t, nil), Base: base, MaxAttempts: 1, AttemptTimeout: retry.FixedTimeout{First: time.Second},
				})
				began := time.Now()
				response, err := transport.RoundTrip(newRequest(t.Context(), t, http.MethodPut, "http://service/", "abc"))
				_, late := errors.AsType[*retry.AttemptTimeoutError](err)
				require.Equal(t, c.late, late, "%v", err)
				require.Equal(t, 2700*time.Millisecond+min(c.answer, time.Second), time.Since(began))
				if !c.late {
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
				}
			})
		})
	}
}

// TestTimeoutOfAnUploadHasTheTimeThatItsBodyNeeds has a base that takes a body at once, as the kernel does, and does
// not answer.
func TestTimeoutOfAnUploadHasTheTimeThatItsBodyNeeds(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, c := range map[string]struct {
		size   int
		change func(r *http.Request)
		want   time.Duration
	}{
		"none":           {0, func(*http.Request) {}, second},
		"small":          {64 << 10, func(*http.Request) {}, second},
		"large":          {1 << 20, func(*http.Request) {}, 9 * second},
		"of no size":     {1 << 20, func(r *http.Request) { r.ContentLength = 0 }, time.Hour},
		"of any size":    {1, func(r *http.Request) { r.ContentLength = -1 }, time.Hour},
		"not replayable": {1 << 20, func(r *http.Request) { r.GetBody = nil }, 9 * second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
					if r.Body != nil {
						_, _ = io.Copy(io.Discard, r.Body)
					}
					<-r.Context().Done()
					return nil, r.Context().Err()
				})
				transport := newTransport(t, httpretry.Config{
					Strategy: on(t, nil), Base: base, MaxAttempts: 1, AttemptTimeout: retry.FixedTimeout{First: second},
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				request := newRequest(ctx, t, http.MethodPut, "http://service/", strings.Repeat("x", c.size))
				c.change(request)
				began := time.Now()
				_, err := transport.RoundTrip(request) //nolint:bodyclose // there is none
				require.Error(t, err)
				require.Equal(t, c.want, time.Since(began))
			})
		})
	}
}

// TestLearnedTimeoutLeavesRequestsThatAreNotSentAgain: a POST could only fail.
func TestLearnedTimeoutLeavesRequestsThatAreNotSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		timeout, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: 1, Ceiling: time.Minute})
		require.NoError(t, err)
		takes, requests := 10*time.Millisecond, 0
		base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
			requests++
			_, _ = io.Copy(io.Discard, r.Body)
			d := takes
			takes = 10 * time.Millisecond
			if err := (clock.System{}).Sleep(r.Context(), d); err != nil {
				return nil, err
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		})
		transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: base, AttemptTimeout: timeout})
		change := func(*http.Request) {}
		send := func(method string, d time.Duration) (n int) {
			takes, requests = d, 0
			request := newRequest(t.Context(), t, method, "http://service/", "abc")
			change(request)
			response, err := transport.RoundTrip(request)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return requests
		}
		for range 100 {
			send(http.MethodPut, 10*time.Millisecond)
			send(http.MethodPost, 10*time.Millisecond)
		}
		require.Equal(t, 2, send(http.MethodPut, 9*time.Second))
		require.Equal(t, 1, send(http.MethodPost, 9*time.Second))
		change = func(r *http.Request) { r.GetBody = nil }
		require.Equal(t, 1, send(http.MethodPut, 9*time.Second), "its body is read")
	})
}

// The sleep after a refused long poll is not part of an attempt.
func TestLimitOfAnAttemptEndsWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusTooManyRequests)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(time.Minute): //nolint:forbidigo // the bubble's
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(w, "at last")
		}), httpretry.Config{
			AttemptTimeout: retry.FixedTimeout{First: 500 * time.Millisecond},
			Strategy:       modes(t, standard.Config{Behavior: retry.V21, QuotaCapacity: new(0)})["standard"],
			Operation:      func(*http.Request) retry.Operation { return retry.Operation{LongPolling: true} },
		})
		start := time.Now()
		got := get(t.Context(), t, client)
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
	for name, use := range map[string]func(body io.ReadCloser) error{
		"read to its end": func(body io.ReadCloser) error { _, err := io.Copy(io.Discard, body); return err },
		"closed":          func(body io.ReadCloser) error { return body.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var attempt *http.Request
				transport := newTransport(t, httpretry.Config{
					Strategy: on(t, nil), AttemptTimeout: retry.FixedTimeout{First: time.Second},
					Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
						attempt = r
						return scripted{status: 200, body: "answer"}.RoundTrip(r)
					}),
				})
				r := newRequest(context.Background(), t, http.MethodGet, "http://service/", "")
				r.Cancel = make(chan struct{})          //nolint:staticcheck // it is still there
				response, err := transport.RoundTrip(r) //nolint:bodyclose // use may
				require.NoError(t, err)
				require.NoError(t, attempt.Context().Err())
				require.NoError(t, use(response.Body))
				require.ErrorIs(t, attempt.Context().Err(), context.Canceled)
			})
		})
	}
}
