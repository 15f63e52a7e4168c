package httpretry_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// loopback starts a server on the loopback interface, with HTTP/1.1 or HTTP/2. It returns a client that
// retries, on a clock that moves when an attempt waits, and counts of connections and attempts.
func loopback(t *testing.T, h2 bool, clk *clock.Fake, service http.HandlerFunc) (client *http.Client, url string, connections, attempts *atomic.Int64) {
	t.Helper()
	connections, attempts = new(atomic.Int64), new(atomic.Int64)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		attempts.Add(1)
		service(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.EnableHTTP2 = h2
	inner := &http.Transport{ForceAttemptHTTP2: h2}
	if h2 {
		server.StartTLS()
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		inner.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	t.Cleanup(inner.CloseIdleConnections)
	return &http.Client{Transport: newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: inner})}, server.URL, connections, attempts
}

// versions has the versions of HTTP that tests run over, and whether each is HTTP/2.
var versions = map[string]bool{"HTTP/1.1": false, "HTTP/2": true}

func TestConnectionIsUsedAgainAfterThrottles(t *testing.T) {
	t.Parallel()
	for version, h2 := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			bodies := []string{"", `{"__type":"ThrottlingException"}`, strings.Repeat(" ", 10_000) + `{"__type":"ThrottlingException"}`}
			client, url, connections, attempts := loopback(t, h2, clk, func(w http.ResponseWriter, r *http.Request) {
				n, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, bodies[len(n)])
			})
			clk.Run(func() {
				for i, want := range bodies {
					got := exchange(roundTripFunc(client.Do), newRequest(t.Context(), t, http.MethodPut, url, "xx"[:i]))
					require.NoError(t, got.err)
					require.Equal(t, 429, got.status)
					require.Equal(t, want, got.body)
				}
			})
			require.Equal(t, int64(9), attempts.Load())
			require.Equal(t, int64(1), connections.Load())
		})
	}
}

func TestTrailersSurvive(t *testing.T) {
	t.Parallel()
	for version, h2 := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			failed := false
			client, url, _, attempts := loopback(t, h2, clk, func(w http.ResponseWriter, r *http.Request) {
				text, err := io.ReadAll(r.Body)
				if err != nil || string(text) != "body" || r.Trailer.Get("Sum") != "4" {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				status := http.StatusOK
				if !failed {
					failed, status = true, http.StatusServiceUnavailable
				}
				w.Header().Set("Trailer", "Answer")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "answer")
				w.Header().Set("Answer", http.StatusText(status))
			})
			clk.Run(func() {
				request := newRequest(t.Context(), t, http.MethodPut, url, "")
				request.ContentLength = -1
				request.Trailer = http.Header{"Sum": nil}
				request.GetBody = func() (io.ReadCloser, error) {
					return &summed{Reader: strings.NewReader("body"), trailer: request.Trailer}, nil
				}
				request.Body, _ = request.GetBody()
				response, err := client.Do(request)
				require.NoError(t, err)
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.Equal(t, "answer", string(text))
				require.Equal(t, http.StatusOK, response.StatusCode)
				require.Equal(t, "OK", response.Trailer.Get("Answer"))
			})
			require.Equal(t, int64(2), attempts.Load())
		})
	}
}

// summed is a body that fills in the trailer when it ends.
type summed struct {
	io.Reader
	trailer http.Header
	length  int
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.length += n; err == io.EOF {
		s.trailer.Set("Sum", string(rune('0'+s.length)))
	}
	return n, err
}

func (*summed) Close() error { return nil }

func TestRedirectsAndCookies(t *testing.T) {
	t.Parallel()
	for version, h2 := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			failed := map[string]bool{}
			client, url, connections, attempts := loopback(t, h2, clk, func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				if !failed[r.URL.Path] {
					failed[r.URL.Path] = true
					http.SetCookie(w, &http.Cookie{Name: "dropped", Value: "with its response"})
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				if r.URL.Path == "/" {
					http.SetCookie(w, &http.Cookie{Name: "from", Value: "root"})
					http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
					return
				}
				_, _ = io.WriteString(w, string(text)+" "+r.Header.Get("Cookie"))
			})
			client.Jar, _ = cookiejar.New(nil)
			clk.Run(func() {
				got := exchange(roundTripFunc(client.Do), newRequest(t.Context(), t, http.MethodPut, url+"/", "body"))
				require.NoError(t, got.err)
				require.Equal(t, "body from=root", got.body)
			})
			require.Equal(t, int64(4), attempts.Load())
			require.Equal(t, int64(1), connections.Load())
		})
	}
}

func TestInterimResponsesPassThrough(t *testing.T) {
	t.Parallel()
	for version, h2 := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			client, url, _, _ := loopback(t, h2, clk, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			var codes []int
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { codes = append(codes, code); return nil },
			})
			clk.Run(func() {
				got := exchange(roundTripFunc(client.Do), newRequest(ctx, t, http.MethodGet, url, ""))
				require.Equal(t, 503, got.status)
			})
			require.Equal(t, []int{103, 103, 103}, codes, "the caller's own trace is told of every attempt")
		})
	}
}

// A stream of which the server has not asked for a byte can be sent again.
func TestExpectedBodyIsSentWhenItIsWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int64
		inner := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if attempts.Add(1) < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = io.Copy(w, r.Body)
		})).Transport()
		inner.ExpectContinueTimeout = time.Hour
		defer inner.CloseIdleConnections()
		transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: inner})
		request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "")
		body := &bodyReader{Reader: bytes.NewReader([]byte("body"))}
		request.Body, request.GetBody, request.ContentLength = body, nil, 4
		request.Header.Set("Expect", "100-continue")
		got := exchange(transport, request)
		require.NoError(t, got.err)
		require.Equal(t, "body", got.body)
		require.Equal(t, int64(3), attempts.Load())
		require.Equal(t, int32(1), body.closed.Load())
	})
}

func TestUpgradedConnectionCanBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "echo")
			w.WriteHeader(http.StatusSwitchingProtocols)
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			defer func() { _ = conn.Close() }()
			text := make([]byte, 5)
			_, _ = io.ReadFull(buffered, text)
			_, _ = conn.Write(text)
		}), httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: attemptTimeout}})
		request := newRequest(t.Context(), t, http.MethodGet, "http://service/", "")
		request.Header.Set("Connection", "Upgrade")
		request.Header.Set("Upgrade", "echo")
		response, err := client.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		conn, ok := response.Body.(io.ReadWriteCloser)
		require.True(t, ok)
		_, err = io.WriteString(conn, "hello")
		require.NoError(t, err)
		text, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Equal(t, "hello", string(text))
	})
}
