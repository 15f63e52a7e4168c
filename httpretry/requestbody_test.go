package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

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
type earlyClosedWriterTo struct{ *earlyClosed }

func (b earlyClosedWriterTo) WriteTo(io.Writer) (int64, error) {
	<-b.closed
	return 0, io.EOF
}

// TestBodyThatIsClosedUnderTheAnswer has an answer that begins before the body of the request has been sent. It is cut, its
// connection closed, where http.Transport alone does that too.
func TestBodyThatIsClosedUnderTheAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		after       error
		writerTo    bool
		length      int64 // that the request announces
		whole       bool
		wholeStream bool
	}{
		{name: "sent, then io.EOF of Read", after: io.EOF, length: 4, whole: true, wholeStream: true},
		{name: "sent, then an error of Read", after: http.ErrBodyReadAfterClose, length: 4},
		{name: "sent, then io.EOF of WriteTo", after: io.EOF, writerTo: true, length: 4, wholeStream: true},
		{name: "half sent, then io.EOF of Read", after: io.EOF, length: 8},
		{name: "in chunks, then io.EOF of Read", after: io.EOF, length: -1, whole: true, wholeStream: true},
		{name: "in chunks, then an error of Read", after: http.ErrBodyReadAfterClose, length: -1},
	} {
		for _, stream := range []bool{false, true} {
			bubble(t, fmt.Sprint(c.name, "/stream ", stream), func(t *testing.T) {
				t.Helper()
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
				body := &earlyClosed{text: strings.NewReader("body"), closed: make(chan struct{}), after: c.after}
				request, want := newRequest(t, http.MethodPut, ""), c.whole
				request.Body, request.ContentLength = body, c.length
				if c.writerTo {
					request.Body = earlyClosedWriterTo{body}
				}
				request.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("not asked for") }
				if stream {
					request.GetBody, want = nil, c.wholeStream
				}
				response, err := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: inner}).RoundTrip(request)
				require.NoError(t, err)
				defer response.Body.Close()
				require.NoError(t, request.Body.Close())
				synctest.Wait() // net/http has read the body
				close(rest)
				text, err := io.ReadAll(response.Body)
				require.Equal(t, want, err == nil && string(text) == "answer")
				require.Equal(t, 1, attempts)
				require.Equal(t, want, network.Open() == 1)
			})
		}
	}
}

func TestBodyThatCannotBeMadeAgain(t *testing.T) {
	t.Parallel()
	gone := errors.New("file is gone")
	request := newRequest(t, http.MethodPut, "body")
	request.GetBody = func() (io.ReadCloser, error) { return nil, gone }
	err := try(t, httpretry.Config{Base: always("")}, request).err
	require.ErrorIs(t, err, gone)
	require.EqualError(t, err, "httpretry: body of attempt 2: file is gone")
}

func TestBaseThatReadsTheBodyLate(t *testing.T) {
	t.Parallel()
	for _, readBeforeRetry := range []bool{true, false} {
		body, quota := newBody("body"), on(t, &clock.Fake{})
		request := newRequest(t, http.MethodPut, "body")
		request.Body, request.GetBody = body, nil
		var first io.ReadCloser
		attempts := 0
		got := try(t, httpretry.Config{Strategy: &lateReader{quota, func() {
			if readBeforeRetry {
				_, err := first.Read(make([]byte, 1))
				require.NoError(t, err)
			}
		}}, Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 1 {
				first = r.Body
				return scripted{status: 503}.RoundTrip(r)
			}
			_, err := first.Read(make([]byte, 1))
			require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
			text, err := io.ReadAll(r.Body)
			require.NoError(t, errors.Join(err, r.Body.Close()))
			return scripted{status: 200, body: string(text)}.RoundTrip(r)
		})}, request)
		if readBeforeRetry {
			require.Equal(t, 503, got.status)
		} else {
			require.Equal(t, "body", got.body)
		}
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
