package httpretry_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// proxyTo is a proxy that answers the first CONNECT with the refusal, and others with a tunnel to the address.
func proxyTo(t *testing.T, address, refusal string) *url.URL {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var served sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	served.Go(func() {
		for n := 1; ; n++ {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer func() { _ = c.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
					return
				}
				if n == 1 {
					_, _ = io.WriteString(c, refusal)
					return
				}
				up, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
				if err != nil {
					return
				}
				defer func() { _ = up.Close() }()
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
				go func() { _, _ = io.Copy(up, c); _ = up.Close() }()
				_, _ = io.Copy(c, up)
			})
		}
	})
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}
}

// TestPOSTThatAProxyRefusedIsSentAgain: the server has got nothing, whatever the proxy said.
func TestPOSTThatAProxyRefusedIsSentAgain(t *testing.T) {
	t.Parallel()
	for refusal, status := range map[string]int{
		"HTTP/1.1 502 Bad Gateway\r\n\r\n":                   502,
		"HTTP/1.1 429 Too Many Requests\r\n\r\n":             429,
		"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n": 407,
		"HTTP/1.1 503 Come again\r\n\r\n":                    0,
		"HTTP/1.1 503\r\n\r\n":                               0,
		"HTTP/1.1 5":                                         0,
		"":                                                   0,
	} {
		t.Run(refusal, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
			t.Cleanup(server.Close)
			proxy := proxyTo(t, server.Listener.Addr().String(), refusal)
			base := server.Client().Transport.(*http.Transport).Clone()
			base.Proxy = http.ProxyURL(proxy)
			t.Cleanup(base.CloseIdleConnections)
			clk := &clock.Fake{}
			clk.Run(func() {
				var failure error
				strategy := modes(t, standard.Config{Clock: clk, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					failure = cmp.Or(failure, e.Err)
				})})["standard"]
				transport := newTransport(t, httpretry.Config{Strategy: strategy, Base: base})
				got := exchange(transport, newRequest(t.Context(), t, http.MethodPost, server.URL, "body"))
				require.NoError(t, got.err)
				require.Equal(t, "body", got.body)
				var said interface{ HTTPStatusCode() int }
				require.ErrorAs(t, failure, &said)
				require.Equal(t, status, said.HTTPStatusCode())
			})
		})
	}
}

// TestPOSTIsSentAgainIfThereWasNoConnection: Base says so through a trace, and the error may say anything.
func TestPOSTIsSentAgainIfThereWasNoConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		refused error
		want    int64
	}{
		{"words", errors.New("vpn: no way today"), 3},
		{"no trust", &tls.CertificateVerificationError{Err: errors.New("expired")}, 3},
		{"no such host", &net.DNSError{IsNotFound: true}, 1},
		{"canceled", context.Canceled, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk, dials := &clock.Fake{}, atomic.Int64{}
			base := &http.Transport{DialTLS: func(string, string) (net.Conn, error) { dials.Add(1); return nil, c.refused }} //nolint:staticcheck // no OpError around the error
			clk.Run(func() {
				got := exchange(newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: base}),
					newRequest(t.Context(), t, http.MethodPost, "https://service/", "body"))
				require.ErrorIs(t, got.err, c.refused)
			})
			require.Equal(t, c.want, dials.Load())
		})
	}
}
