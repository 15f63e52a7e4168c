package doors

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// failure is what the first attempt of a call meets. Later attempts succeed.
type failure struct {
	name     string
	why      string        // the doors differ; empty if they do not
	deadline time.Duration // of the caller, or none
	make     func(t *testing.T, cancel context.CancelFunc) (base http.RoundTripper, url string)
}

// Why doors differ.
const (
	mayHaveRun = "a POST may have run"
	bodyIsGone = "the body of a POST is gone"
	sdkRetries = "`awssdk` does as the SDK, which retries whatever is no answer"
	callerRead = "`httpretry` leaves the body to its caller, the SDK does not retry"
	notOfSDK   = mayHaveRun + "; no status of the SDK"
)

// impatient is short for a test and long enough for a connection on the loopback interface.
const impatient = 500 * time.Millisecond

func failures() []failure {
	return []failure{
		{name: "connection refused", make: dialing(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
		})},
		{name: "name server fails", make: dialing(lookup(2))},
		{name: "name server refuses", make: dialing(lookup(5))},
		{name: "no such name", why: "go-retryablehttp retries whatever is no answer", make: dialing(lookup(3))},
		{name: "TLS handshake cut", make: overTLS(hello(""))},
		{name: "TLS alert", make: overTLS(hello("\x15\x03\x01\x00\x02\x02\x28"))},
		{name: "HTTP in place of TLS", make: overTLS(hello("HTTP/1.1 400 Bad Request\r\n\r\n"))},
		{name: "certificate not trusted", why: "to go-retryablehttp a bad certificate is final", make: overTLS(untrusted)},
		{name: "proxy answers 502", make: throughProxy("http", "HTTP/1.1 502 Bad Gateway\r\n\r\n")},
		{name: "proxy answers 429", make: throughProxy("http", "HTTP/1.1 429 Too Many Requests\r\n\r\n")},
		{name: "proxy answers 503 in its own words", why: "`net/http` keeps the words, not the status", make: throughProxy("http", "HTTP/1.1 503 Come again\r\n\r\n")},
		{name: "proxy answers 407", make: throughProxy("http", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")},
		{name: "proxy hangs up", make: throughProxy("http", "")},
		{name: "SOCKS: not allowed", make: throughProxy("socks5", "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00")},

		{name: "connection closed", why: mayHaveRun, make: overHTTP(say(""))},
		{name: "connection reset", why: mayHaveRun, make: overHTTP(func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) })},
		{name: "network down at the write", why: mayHaveRun, make: failing(failingConn{write: syscall.ENETDOWN})},
		{name: "host down at the read", why: mayHaveRun, make: failing(failingConn{read: syscall.EHOSTDOWN})},
		{name: "TLS 1.2: record to the service spoilt", why: mayHaveRun, make: spoilt(tls.VersionTLS12, true)},
		{name: "TLS 1.2: record from it spoilt", why: mayHaveRun, make: spoilt(tls.VersionTLS12, false)},
		{name: "TLS 1.3: record to the service spoilt", why: mayHaveRun, make: spoilt(tls.VersionTLS13, true)},
		{name: "TLS 1.3: record from it spoilt", why: mayHaveRun, make: spoilt(tls.VersionTLS13, false)},
		{name: "cut in the headers", why: mayHaveRun, make: overHTTP(say("HTTP/1.1 200 OK\r\nContent-Le"))},
		{name: "not HTTP", why: mayHaveRun, make: overHTTP(say("SSH-2.0-OpenSSH\r\n\r\n"))},
		{name: "cut in the body", why: callerRead, make: overHTTP(say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"))},
		{name: "stream reset, `INTERNAL_ERROR`", why: mayHaveRun, make: overHTTP2(pipenet.ResetStream(2))},
		{name: "stream reset in the body", why: callerRead, make: overHTTP2(pipenet.Begun(), pipenet.ResetStream(2))},
		{name: "stream reset, `COMPRESSION_ERROR`", why: "the client's own fault; " + sdkRetries, make: overHTTP2(pipenet.ResetStream(9))},
		{name: "GOAWAY before the request", why: bodyIsGone, make: overHTTP2(pipenet.GoAway(0, 2))},

		{name: "500", why: mayHaveRun, make: overHTTP(answer("500 Internal Server Error"))},
		{name: "501", make: overHTTP(answer("501 Not Implemented"))},
		{name: "503", why: mayHaveRun, make: overHTTP(answer("503 Service Unavailable"))},
		{name: "503, cut in the body", why: mayHaveRun, make: overHTTP(say("HTTP/1.1 503 Unavailable\r\nContent-Length: 9\r\n\r\n{"))},
		{name: "429", why: bodyIsGone, make: overHTTP(answer("429 Too Many Requests"))},
		{name: "400 with `ThrottlingException`", why: bodyIsGone + "; go-retryablehttp knows no codes", make: overHTTP(answer("400 Bad Request", "X-Amzn-ErrorType: ThrottlingException"))},
		{name: "400 with `RequestTimeout`", why: mayHaveRun + "; go-retryablehttp knows no codes", make: overHTTP(answer("400 Bad Request", "X-Amzn-ErrorType: RequestTimeout"))},
		{name: "404", make: overHTTP(answer("404 Not Found"))},
		{name: "425", make: overHTTP(answer("425 Too Early"))},
		{name: "521", why: notOfSDK, make: overHTTP(answer("521 Web Server Is Down"))},
		{name: "525", why: "not worth a retry, says Cloudflare", make: overHTTP(answer("525 SSL Handshake Failed"))},
		{name: "529", why: notOfSDK, make: overHTTP(answer("529 Site is overloaded"))},
		{name: "503, `Retry-After: 1`", why: bodyIsGone, make: overHTTP(answer("503 Service Unavailable", "Retry-After: 1"))},
		{name: "503, `Retry-After: 3600`, a second left", why: "the hint counts in full; the SDK does not read it", deadline: time.Second, make: overHTTP(answer("503 Service Unavailable", "Retry-After: 3600"))},

		{name: "client's timeout", why: mayHaveRun, make: late(impatient)},
		{name: "caller's deadline", deadline: impatient, make: late(0)},
		{name: "caller cancels", make: func(t *testing.T, cancel context.CancelFunc) (http.RoundTripper, string) {
			t.Helper()
			return overHTTP(func(c net.Conn) { cancel(); hang(c) })(t, cancel)
		}},
	}
}

// maker makes a base and a URL for one call.
type maker = func(t *testing.T, cancel context.CancelFunc) (http.RoundTripper, string)

// say writes the text and hangs up.
func say(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

func answer(status string, headers ...string) func(net.Conn) {
	headers = append([]string{"HTTP/1.1 " + status, "Content-Type: application/x-amz-json-1.0", "Content-Length: 2"}, headers...)
	return say(strings.Join(headers, "\r\n") + "\r\n\r\n{}")
}

// hang answers nothing until the client has gone.
func hang(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// accept serves each connection, the first one with first.
func accept(t *testing.T, first, later func(c net.Conn)) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var served sync.WaitGroup
	ended, end := context.WithCancel(context.Background())
	t.Cleanup(func() { _ = listener.Close(); end(); served.Wait() })
	served.Go(func() {
		for serve := first; ; serve = later {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ended, func() { _ = c.Close() })
			served.Go(func() { serve(c); _ = c.Close() })
		}
	})
	return listener.Addr().String()
}

// baseOf returns a transport with a connection for each attempt.
func baseOf(t *testing.T, base *http.Transport) *http.Transport {
	t.Helper()
	base.DisableKeepAlives = true
	t.Cleanup(base.CloseIdleConnections)
	return base
}

// request reads a request to its end, and then serves the connection.
func request(serve func(c net.Conn)) func(c net.Conn) {
	return func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		serve(c)
	}
}

func overHTTP(first func(c net.Conn)) maker {
	return func(t *testing.T, _ context.CancelFunc) (http.RoundTripper, string) {
		t.Helper()
		return baseOf(t, &http.Transport{}), "http://" + accept(t, request(first), request(answer("200 OK")))
	}
}

// late has a service that does not answer the first attempt, and a client that waits for that long, or for ever.
func late(timeout time.Duration) maker {
	return func(t *testing.T, cancel context.CancelFunc) (http.RoundTripper, string) {
		t.Helper()
		base, url := overHTTP(hang)(t, cancel)
		base.(*http.Transport).ResponseHeaderTimeout = timeout //nolint:forcetypeassert // baseOf made it
		return base, url
	}
}

// dialing lets the first attempt dial something else.
func dialing(first func(ctx context.Context, address string) (net.Conn, error)) maker {
	return func(t *testing.T, cancel context.CancelFunc) (http.RoundTripper, string) {
		t.Helper()
		base, url := overHTTP(answer("200 OK"))(t, cancel)
		dials := atomic.Int64{}
		base.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) { //nolint:forcetypeassert // baseOf made it
			if dials.Add(1) == 1 {
				return first(ctx, address)
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		return base, url
	}
}

// lookup dials a name for which a name server has nothing but a response code (RFC 1035, section 4.1.1).
func lookup(code byte) func(ctx context.Context, _ string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		server, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = server.Close() }()
		go func() {
			for {
				query := make([]byte, 512)
				n, from, err := server.ReadFrom(query)
				if err != nil {
					return
				}
				question := 12 + strings.IndexByte(string(query[12:n]), 0) + 1 + 4
				reply := append(query[:2:2], 0x80|query[2], 0x80|code)
				reply = binary.BigEndian.AppendUint64(reply, 1<<48) // one question, and nothing else
				_, _ = server.WriteTo(append(reply, query[12:question]...), from)
			}
		}()
		resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
		}}
		return (&net.Dialer{Resolver: resolver}).DialContext(ctx, "tcp", "service.example.:80")
	}
}

// overTLS has a service behind TLS with a certificate, whose first connection is served by first.
func overTLS(first func(c net.Conn, certificate tls.Certificate)) maker {
	return func(t *testing.T, _ context.CancelFunc) (http.RoundTripper, string) {
		t.Helper()
		server := tlsServer(t)
		address := accept(t, func(c net.Conn) { first(c, server.TLS.Certificates[0]) }, tunnel(t, server.Listener.Addr().String()))
		return baseOf(t, server.Client().Transport.(*http.Transport).Clone()), "https://" + address //nolint:forcetypeassert // of httptest
	}
}

// spoilt has a service behind TLS, and changes a byte on the first connection: of the record with the request, or of those
// that come after it. The side that reads it sends an alert.
func spoilt(version uint16, request bool) maker {
	return func(t *testing.T, _ context.CancelFunc) (http.RoundTripper, string) {
		t.Helper()
		server := tlsServer(t)
		service := server.Listener.Addr().String()
		base := server.Client().Transport.(*http.Transport).Clone() //nolint:forcetypeassert // of httptest
		base.TLSClientConfig.MaxVersion = version
		data := map[uint16]int64{tls.VersionTLS12: 1, tls.VersionTLS13: 2}[version] // the request, after the end of the handshake
		address := accept(t, func(c net.Conn) {
			up, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", service)
			if err != nil {
				return
			}
			defer func() { _ = up.Close() }()
			var sent atomic.Int64
			go func() {
				passRecords(up, c, func() bool { return sent.Add(1) == data && request })
				_ = up.Close()
			}()
			passRecords(c, up, func() bool { return sent.Load() >= data && !request })
		}, tunnel(t, service))
		return baseOf(t, base), "https://" + address
	}
}

// passRecords passes on records of TLS, and changes those with data that spoil chooses.
func passRecords(to io.Writer, from io.Reader, spoil func() bool) {
	const applicationData = 23
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		record := append(head, make([]byte, binary.BigEndian.Uint16(head[3:]))...)
		if _, err := io.ReadFull(from, record[5:]); err != nil {
			return
		}
		if record[0] == applicationData && spoil() {
			record[len(record)-1]++
		}
		if _, err := to.Write(record); err != nil {
			return
		}
	}
}

// failingConn is a connection over a network that goes away. It says so with nothing but the number of the system call.
type failingConn struct {
	net.Conn

	read, write error
}

func (c failingConn) Read(b []byte) (int, error) {
	if c.read != nil {
		return 0, c.read
	}
	return c.Conn.Read(b)
}

func (c failingConn) Write(b []byte) (int, error) {
	if c.write != nil {
		return 0, c.write
	}
	return c.Conn.Write(b)
}

// failing lets the first connection fail.
func failing(first failingConn) maker {
	return dialing(func(ctx context.Context, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		return failingConn{c, first.read, first.write}, err
	})
}

// hello answers the hello of a TLS client, and hangs up.
func hello(text string) func(c net.Conn, _ tls.Certificate) {
	return func(c net.Conn, _ tls.Certificate) {
		_, _ = c.Read(make([]byte, 1<<14))
		say(text)(c)
	}
}

// untrusted shows a certificate without a signer that is trusted.
func untrusted(c net.Conn, certificate tls.Certificate) {
	der := bytes.Clone(certificate.Certificate[0])
	der[len(der)-1]++
	_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: certificate.PrivateKey}}}).Handshake() //nolint:gosec,noctx // of a test
}

func tlsServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, "{}")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// tunnel passes on what a connection says.
func tunnel(t *testing.T, address string) func(c net.Conn) {
	t.Helper()
	return func(c net.Conn) {
		up, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
		if err != nil {
			return
		}
		defer func() { _ = up.Close() }()
		go func() { _, _ = io.Copy(up, c); _ = up.Close() }()
		_, _ = io.Copy(c, up)
	}
}

// throughProxy has a service behind TLS and a proxy, which refuses the first connection so.
func throughProxy(scheme, refusal string) maker {
	return func(t *testing.T, _ context.CancelFunc) (http.RoundTripper, string) {
		t.Helper()
		server := tlsServer(t)
		granted := "HTTP/1.1 200 OK\r\n\r\n"
		read := func(c net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(c)) }
		if scheme == "socks5" {
			granted = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			read = func(c net.Conn) {
				_, _ = c.Read(make([]byte, 512))
				_, _ = c.Write([]byte{5, 0})
				_, _ = c.Read(make([]byte, 512))
			}
		}
		pass := tunnel(t, server.Listener.Addr().String())
		proxy := accept(t, func(c net.Conn) { read(c); say(refusal)(c) }, func(c net.Conn) { read(c); say(granted)(c); pass(c) })
		base := server.Client().Transport.(*http.Transport).Clone() //nolint:forcetypeassert // of httptest
		base.Proxy = http.ProxyURL(&url.URL{Scheme: scheme, Host: proxy})
		return baseOf(t, base), server.URL
	}
}

// overHTTP2 has a service that answers the first request with the frames.
func overHTTP2(first ...pipenet.Frame) maker {
	return func(t *testing.T, _ context.CancelFunc) (http.RoundTripper, string) {
		t.Helper()
		server := &pipenet.HTTP2{Answers: func(request int) []pipenet.Frame {
			if request == 1 {
				return first
			}
			return []pipenet.Frame{pipenet.OK()}
		}}
		var protocols http.Protocols
		protocols.SetUnencryptedHTTP2(true)
		address := accept(t, server.Serve, server.Serve)
		base := &http.Transport{Protocols: &protocols}
		t.Cleanup(base.CloseIdleConnections)
		return base, "http://" + address
	}
}
