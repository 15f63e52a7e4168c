package httpretry_test

import (
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
)

// TestNothingOfHTTPIsLost has a service that fails first, and then sends the client to another path, where it fails first.
// Requests have a trailer until then, and answers an interim response, a cookie and a trailer. All share a connection.
func TestNothingOfHTTPIsLost(t *testing.T) {
	t.Parallel()
	for version, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			var attempts, connections atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := attempts.Add(1)
				text, err := io.ReadAll(r.Body)
				if err != nil || string(text) != "body" || n < 3 && r.Trailer.Get("Sum") != "4" {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				w.WriteHeader(http.StatusEarlyHints)
				http.SetCookie(w, &http.Cookie{Name: "last", Value: string(rune('0' + n))})
				w.Header().Set("Trailer", "Answer")
				switch n {
				case 1, 3:
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusTooManyRequests)
					_, _ = io.WriteString(w, strings.Repeat(" ", 10_000*int(n-1))+`{"__type":"ThrottlingException"}`)
				case 2:
					http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
				case 4:
					_, _ = io.WriteString(w, r.URL.Path+" "+r.Header.Get("Cookie"))
				}
				w.Header().Set("Answer", string(rune('0'+n)))
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

			var codes []int
			request := newRequest(t, http.MethodPut, "").WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { codes = append(codes, code); return nil },
			}))
			request.URL.Scheme, request.URL.Host, _ = strings.Cut(server.URL, "://")
			request.Host = request.URL.Host
			request.ContentLength, request.Trailer = -1, http.Header{"Sum": nil}
			request.GetBody = func() (io.ReadCloser, error) {
				return &summed{Reader: strings.NewReader("body"), trailer: request.Trailer}, nil
			}
			request.Body, _ = request.GetBody()
			clk := &clock.Fake{}
			client := &http.Client{Transport: newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: inner})}
			client.Jar, _ = cookiejar.New(nil)
			clk.Run(func() {
				response, err := client.Do(request)
				require.NoError(t, err)
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.Equal(t, "/there last=2", string(text), "the cookie of a failure went with it")
				require.Equal(t, "4", response.Trailer.Get("Answer"))
			})
			require.Equal(t, []int{103, 103, 103, 103}, codes, "the caller's own trace is told of every attempt")
			require.Equal(t, int64(4), attempts.Load())
			require.Equal(t, int64(1), connections.Load())
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

func TestUpgradedConnectionCanBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		upgrade := func(header http.Header) { header.Set("Connection", "Upgrade"); header.Set("Upgrade", "echo") }
		client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			upgrade(w.Header())
			w.WriteHeader(http.StatusSwitchingProtocols)
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			defer func() { _ = conn.Close() }()
			text := make([]byte, 5)
			_, _ = io.ReadFull(buffered, text)
			_, _ = conn.Write(text)
		}, httpretry.Config{AttemptTimeout: within(time.Second)})
		request := newRequest(t, http.MethodGet, "")
		upgrade(request.Header)
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
