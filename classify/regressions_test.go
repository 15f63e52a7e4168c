package classify_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestATransientCodeLeavesAThrottlingStatusAThrottle(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"RequestTimeout", "RequestTimeoutException"} {
		err := errors.Join(statusError(http.StatusTooManyRequests), codeError(code))
		require.Equal(t, classify.RetryAs(classify.Throttling), verdictOf(err), code)
	}
}

func TestTemporaryNetworkErrorsAreTransient(t *testing.T) {
	t.Parallel()
	require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(opError("read", temporaryError{})))
}

func TestCanceledDial(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, classify.None(), verdictOf(err), err)
}

func TestCanceledLookup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	}}
	_, err := resolver.LookupHost(ctx, "service.invalid")
	require.Error(t, err)
	require.Equal(t, classify.None(), verdictOf(err), "%v, is canceled: %t", err, errors.Is(err, context.Canceled))
}

func TestTimeoutsBelowAnErrorThatSaysItIsNone(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("middleware: %w", opError("read", os.ErrDeadlineExceeded))
	for name, err := range map[string]error{
		"in a request":   &url.Error{Op: "Get", Err: wrapped},
		"in an op":       opError("read", wrapped),
		"beside another": errors.Join(&url.Error{Op: "Get", Err: errors.New("other")}, timeoutError{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, classify.RetryAs(classify.Timeout), verdictOf(err))
		})
	}
}

func TestGarbageAfterTooManyDigitsIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"184467440737095516160x", "99999999999999999999999 ms", "99999999999999999999999-"} {
		after, ok := classify.ParseRetryAfterMillis(value)
		require.False(t, ok, value)
		require.Zero(t, after, value)
	}
}

func TestForbiddenBeforeTheChainStays(t *testing.T) {
	t.Parallel()
	o := classify.Outcome{Err: statusError(503), Previous: classify.Forbidden()}
	require.Equal(t, classify.Forbidden(), classify.Default().Classify(o))
}

func TestRefusedHTTP2Stream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var protocols http.Protocols
		protocols.SetUnencryptedHTTP2(true)
		transport := &http.Transport{Protocols: &protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go refuseStreams(theirs)
			return ours, nil
		}}
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://service.invalid/", http.NoBody)
		require.NoError(t, err)
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err == nil {
			response.Body.Close()
		}
		require.Error(t, err)
		require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(err), "%v", err)
	})
}

func refuseStreams(c net.Conn) {
	defer func() { _ = c.Close() }()
	if _, err := io.CopyN(io.Discard, c, 24); err != nil {
		return
	}
	answers := make(chan []byte, 100) // the client writes before it reads
	defer close(answers)
	go func() {
		for answer := range answers {
			_, _ = c.Write(answer)
		}
	}()
	answers <- []byte{0, 0, 0, 4, 0, 0, 0, 0, 0}
	var head [9]byte
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, size); err != nil {
			return
		}
		switch {
		case head[3] == 4 && head[4]&1 == 0:
			answers <- []byte{0, 0, 0, 4, 1, 0, 0, 0, 0}
		case head[3] == 1:
			answers <- binary.BigEndian.AppendUint32([]byte{0, 0, 4, 3, 0, head[5], head[6], head[7], head[8]}, 7)
		}
	}
}
