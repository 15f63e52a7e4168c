package httpretry_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
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

// strictBody is a body that cannot be read after its end or after Close, and that counts.
type strictBody struct {
	io.Reader
	read, closed int
	ended        bool
}

func (b *strictBody) Read(p []byte) (int, error) {
	if b.closed > 0 || b.ended {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.Reader.Read(p)
	b.read += n
	b.ended = err != nil
	return n, err
}

func (b *strictBody) Close() error { b.closed++; return nil }

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

func TestUnreadBodyThatTheBaseClosesLate(t *testing.T) {
	t.Parallel()
	body := &bodyReader{Reader: strings.NewReader("body")}
	var lent io.ReadCloser
	transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
		lent = r.Body
		return scripted{status: 200}.RoundTrip(r)
	})})
	request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
	request.Body, request.GetBody = body, nil
	require.Equal(t, 200, exchange(transport, request).status)
	require.Zero(t, body.closed.Load())
	require.NoError(t, lent.Close())
	require.Equal(t, int32(1), body.closed.Load())
}

// The error of net/http for the legacy channel says nothing about itself.
func TestErrorOfTheLegacyChannelIsFinal(t *testing.T) {
	t.Parallel()
	canceled, ended := make(chan struct{}), errors.New("net/http: request canceled")
	transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
		close(canceled)
		return nil, ended
	})})
	request := newRequest(t.Context(), t, http.MethodGet, "http://service/", "")
	request.Cancel = canceled //nolint:staticcheck // it is still there
	require.Equal(t, ended, exchange(transport, request).err)
}

func TestErrorsOfConnectionsSayWhetherTheyAreTimeouts(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]bool{os.ErrDeadlineExceeded: true, io.ErrUnexpectedEOF: false} {
		transport := newTransport(t, httpretry.Config{
			Strategy: on(t, nil), MaxAttempts: 1,
			Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
				return nil, cause
			}),
		})
		err := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", "")).err
		refusal, ok := errors.AsType[*retry.Error](err)
		require.True(t, ok)
		require.ErrorIs(t, err, cause)
		require.Equal(t, want, refusal.Timeout())
	}
}
