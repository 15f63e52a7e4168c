package httpretry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

const short, long = 100 << 10, 1 << 20 // the server closes the connection of a long body

// early answers when it has read a byte of the body, and reads the rest of a short one then.
func early(status int, attempts *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		attempts.Add(1)
		_, _ = r.Body.Read(make([]byte, 1))
		if r.ContentLength <= short {
			_ = http.NewResponseController(w).EnableFullDuplex() // else the server reads it before it answers
		}
		w.Header().Set("Content-Length", "6")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "answer")
		_ = http.NewResponseController(w).Flush()
		if r.ContentLength <= short {
			_, _ = io.Copy(io.Discard, r.Body)
		}
	}
}

// TestAnswerBeforeTheBodyIsSentComesBack compares http.Transport alone with a Transport around it.
func TestAnswerBeforeTheBodyIsSentComesBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, size, attempts, connections int
		stream                              bool
	}{
		{status: 200, size: short, attempts: 1, connections: 1},
		{status: 413, size: short, attempts: 1, connections: 1},
		{status: 503, size: short, attempts: 3, connections: 1},
		{status: 503, size: short, attempts: 1, connections: 1, stream: true},
		{status: 200, size: long, attempts: 1, connections: 1},
		{status: 413, size: long, attempts: 1, connections: 1},
		{status: 503, size: long, attempts: 3, connections: 3},
		{status: 503, size: long, attempts: 1, connections: 1, stream: true},
	} {
		for _, with := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%d bytes/stream %t/with %t", c.status, c.size, c.stream, with), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var attempts atomic.Int64
					network := serve(t, early(c.status, &attempts))
					inner := network.Transport()
					t.Cleanup(inner.CloseIdleConnections)
					request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://service/", bytes.NewReader(make([]byte, c.size)))
					require.NoError(t, err)
					if c.stream {
						request.GetBody = nil
					}
					wantAttempts, wantConnections := 1, 1
					var client http.RoundTripper = inner
					if with {
						client = newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: inner})
						wantAttempts, wantConnections = c.attempts, c.connections
					}
					got := exchange(client, request)
					require.NoError(t, got.err)
					require.NoError(t, got.bodyErr)
					require.Equal(t, c.status, got.status)
					require.Equal(t, "answer", got.body)
					require.EqualValues(t, wantAttempts, attempts.Load())
					require.EqualValues(t, wantConnections, network.Dials())
					// The server closes a connection half a second late, in the time of the bubble.
					require.NoError(t, clock.System{}.Sleep(t.Context(), time.Second))
				})
			})
		}
	}
}

// earlyClosed is a body that its caller closes before net/http has read it to its end. After the
// text, Read waits for Close.
type earlyClosed struct {
	text   io.Reader
	once   sync.Once
	closed chan struct{}
	after  error // of Read after Close
}

func (b *earlyClosed) Read(p []byte) (int, error) {
	if n, _ := b.text.Read(p); n > 0 {
		return n, nil
	}
	<-b.closed
	return 0, b.after
}

func (b *earlyClosed) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// earlyClosedWriterTo is a body like those of smithy-go v1.28: after Close, WriteTo has io.EOF for
// an error.
type earlyClosedWriterTo struct{ earlyClosed }

func (b *earlyClosedWriterTo) WriteTo(io.Writer) (int64, error) {
	<-b.closed
	return 0, io.EOF
}

// TestBodyThatIsClosedUnderTheAnswer compares http.Transport alone, "without", with a Transport around it,
// "with". The answer begins before the body of the request has been sent.
func TestBodyThatIsClosedUnderTheAnswer(t *testing.T) {
	t.Parallel()
	type outcome struct{ without, with, withStream string }
	const whole, cut = "whole", "cut"
	plain := func(after error) func() io.ReadCloser {
		return func() io.ReadCloser {
			return &earlyClosed{text: strings.NewReader("body"), closed: make(chan struct{}), after: after}
		}
	}
	for _, c := range []struct {
		name   string
		body   func() io.ReadCloser
		length int64 // that the request announces
		want   outcome
	}{
		{"sent, then io.EOF of Read", plain(io.EOF), 4, outcome{whole, whole, whole}},
		{"sent, then an error of Read", plain(http.ErrBodyReadAfterClose), 4, outcome{cut, cut, cut}},
		{"sent, then io.EOF of WriteTo", func() io.ReadCloser {
			return &earlyClosedWriterTo{earlyClosed{text: strings.NewReader("body"), closed: make(chan struct{}), after: io.EOF}}
		}, 4, outcome{cut, cut, whole}},
		{"half sent, then io.EOF of Read", plain(io.EOF), 8, outcome{cut, cut, cut}},
		{"in chunks, then io.EOF of Read", plain(io.EOF), -1, outcome{whole, whole, whole}},
		{"in chunks, then an error of Read", plain(http.ErrBodyReadAfterClose), -1, outcome{cut, cut, cut}},
	} {
		for name, want := range map[string]string{"without": c.want.without, "with": c.want.with, "with, stream": c.want.withStream} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					attempts, rest := 0, make(chan struct{})
					network := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						attempts++
						_, _ = io.ReadFull(r.Body, make([]byte, 4))
						control := http.NewResponseController(w)
						_ = control.EnableFullDuplex()
						_ = control.Flush()
						<-rest
						_, _ = io.WriteString(w, "answer")
						_, _ = io.Copy(io.Discard, r.Body)
					}))
					inner := network.Transport()
					t.Cleanup(inner.CloseIdleConnections)
					request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "")
					request.Body, request.ContentLength = c.body(), c.length
					request.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("not asked for") }
					var client http.RoundTripper = inner
					if name != "without" {
						client = newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: inner})
					}
					if name == "with, stream" {
						request.GetBody = nil
					}
					response, err := client.RoundTrip(request)
					require.NoError(t, err)
					defer response.Body.Close()
					require.NoError(t, request.Body.Close())
					synctest.Wait() // net/http has read the body
					close(rest)
					text, err := io.ReadAll(response.Body)
					if want == whole {
						require.NoError(t, err)
						require.Equal(t, "answer", string(text))
					} else {
						require.Error(t, err)
					}
					require.Equal(t, 1, attempts)
					require.Equal(t, want == whole, network.Open() == 1, "a cut answer is one whose connection is closed")
				})
			})
		}
	}
}

func TestBodyIsClosedWhereThereIsNoAttempt(t *testing.T) {
	t.Parallel()
	for _, replayable := range []bool{false, true} {
		for name, change := range map[string]func(r *http.Request) *http.Request{
			"a caller that is gone": func(r *http.Request) *http.Request { return r.WithContext(gone(r.Context())) },
			"a bad edit": func(r *http.Request) *http.Request {
				return r.WithContext(httpretry.With(r.Context(), func(c *httpretry.Config) { c.MaxAttempts = -1 }))
			},
			"an operation that has ended": func(r *http.Request) *http.Request {
				return r.WithContext(httpretry.With(r.Context(), func(c *httpretry.Config) {
					c.Operation = func(*http.Request) retry.Operation { return retry.Operation{NotAfter: time.Unix(1, 0)} }
				}))
			},
			"an operation out of range": func(r *http.Request) *http.Request {
				return r.WithContext(httpretry.With(r.Context(), func(c *httpretry.Config) {
					c.Operation = func(*http.Request) retry.Operation { return retry.Operation{MaxAttempts: -1} }
				}))
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				body := &bodyReader{Reader: strings.NewReader("body")}
				request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
				request.Body = body
				if !replayable {
					request.GetBody = nil
				}
				transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: always("")})
				require.Error(t, exchange(transport, change(request)).err)
				require.Equal(t, int32(1), body.closed.Load())
			})
		}
	}
}

func TestBodyThatCannotBeMadeAgain(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	gone := errors.New("file is gone")
	request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
	request.GetBody = func() (io.ReadCloser, error) { return nil, gone }
	transport := newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: always("")})
	clk.Run(func() {
		err := exchange(transport, request).err
		require.ErrorIs(t, err, gone)
		require.EqualError(t, err, "httpretry: body of attempt 2: file is gone")
	})
}

func TestBaseThatReadsTheBodyLate(t *testing.T) {
	t.Parallel()
	for _, readBeforeRetry := range []bool{true, false} {
		clk := &clock.Fake{}
		body := &bodyReader{Reader: strings.NewReader("body")}
		request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
		request.Body, request.GetBody = body, nil
		quota := modes(t, standard.Config{Clock: clk})["standard"]
		var first io.ReadCloser
		attempts := 0
		s := &lateReader{Strategy: quota, read: func() {
			if readBeforeRetry {
				_, err := first.Read(make([]byte, 1))
				require.NoError(t, err)
			}
		}}
		transport := newTransport(t, httpretry.Config{Strategy: s, Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 1 {
				first = r.Body
				return scripted{status: 503}.RoundTrip(r)
			}
			_, err := first.Read(make([]byte, 1))
			require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
			text, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.NoError(t, r.Body.Close())
			return scripted{status: 200, body: string(text)}.RoundTrip(r)
		})})
		clk.Run(func() {
			got := exchange(transport, request)
			require.NoError(t, got.err)
			if readBeforeRetry {
				require.Equal(t, 503, got.status)
			} else {
				require.Equal(t, "body", got.body)
			}
		})
		require.NoError(t, first.Close())
		require.Equal(t, int32(1), body.closed.Load())
		require.Equal(t, 500, quota.Snapshot().Scopes[1].Quota, "what the retry took is given back")
	}
}

// lateReader calls read while the strategy decides.
type lateReader struct {
	retry.Strategy
	read func()
}

func (s *lateReader) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	s.read()
	return s.Strategy.RefreshRetryToken(ctx, t, failure)
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
