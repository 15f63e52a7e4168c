package classify_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// The errors here are those that net and net/http make of real connections.

// impatient is short for a test and long enough for a connection on the loopback
// interface.
const impatient = 50 * time.Millisecond

// get sends a request without a body and reads the answer to its end. It returns
// the error of either.
func get(ctx context.Context, t *testing.T, client *http.Client, address string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// newClient returns a client with connections of its own.
func newClient(t *testing.T) (*http.Client, *http.Transport) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, transport
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// silent answers nothing until the client is gone.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// stuck begins an answer and never ends it.
func stuck(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func TestTimeoutsOfTheClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		set     func(client *http.Client, transport *http.Transport)
	}{
		{"Timeout awaiting headers", silent, func(c *http.Client, _ *http.Transport) { c.Timeout = impatient }},
		{"Timeout in the body", stuck, func(c *http.Client, _ *http.Transport) { c.Timeout = impatient }},
		{"ResponseHeaderTimeout", silent, func(_ *http.Client, t *http.Transport) { t.ResponseHeaderTimeout = impatient }},
		{"Timeout of the dialer", silent, func(_ *http.Client, t *http.Transport) {
			t.DialContext = (&net.Dialer{Timeout: time.Nanosecond}).DialContext
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, transport := newClient(t)
			c.set(client, transport)
			err := get(t.Context(), t, client, serve(t, c.handler))
			require.Error(t, err)
			require.Equal(t, classify.RetryAs(classify.Timeout), verdictOf(err), err)
		})
	}
}

func TestTimeoutOfTheTLSHandshake(t *testing.T) {
	t.Parallel()
	client, transport := newClient(t)
	transport.TLSHandshakeTimeout = impatient
	err := get(t.Context(), t, client, "https://"+listen(t).Addr().String())
	require.Error(t, err)
	require.Equal(t, classify.RetryAs(classify.Timeout), verdictOf(err), err)
}

func TestServersThatCloseTheConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    error // nil where net/http only says that the answer is malformed
	}{
		{"without an answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, io.EOF},
		{"inside the status", inside("HTTP/1.1 20"), nil},
		{"after the status", inside("HTTP/1.1 200 OK\r\n"), io.ErrUnexpectedEOF},
		{"after a header line", inside("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n"), io.ErrUnexpectedEOF},
		{"inside the first header line", inside("HTTP/1.1 200 OK\r\nX-Cut"), nil},
		{"inside a header line", inside("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-C"), nil},
		{"inside the body", inside("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), io.ErrUnexpectedEOF},
		{"between chunks", inside("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), io.ErrUnexpectedEOF},
		{"with a reset", reset, syscall.ECONNRESET},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, _ := newClient(t)
			err := get(t.Context(), t, client, serve(t, c.handler))
			if require.Error(t, err); c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
			require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(err), err)
		})
	}
}

// inside closes the connection after the text.
func inside(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(connection, text)
			_ = connection.Close()
		}
	}
}

// reset throws the connection away instead of closing it.
func reset(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.(*net.TCPConn).SetLinger(0)
		_ = connection.Close()
	}
}

func TestPortOnWhichNoServerListens(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.1:1" // a port that was free a moment ago may be that of another test
	client, transport := newClient(t)
	direct := get(t.Context(), t, client, "http://"+address)
	require.ErrorIs(t, direct, syscall.ECONNREFUSED)
	require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(direct), direct)

	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: address})
	proxied := get(t.Context(), t, client, "http://service.invalid/")
	require.ErrorIs(t, proxied, syscall.ECONNREFUSED)
	require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(proxied), proxied)
}

// proxyOf is a proxy that talks.
func proxyOf(t *testing.T, scheme string, talk func(c net.Conn)) func(*http.Transport) {
	t.Helper()
	address := &url.URL{Scheme: scheme, Host: talking(t, talk)}
	return func(transport *http.Transport) { transport.Proxy = http.ProxyURL(address) }
}

// talking is the address of a server that does the same with every connection, after it has read what the client sends first.
func talking(t *testing.T, talk func(c net.Conn)) string {
	t.Helper()
	listener := listen(t)
	var served sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	served.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer func() { _ = c.Close() }()
				_, _ = c.Read(make([]byte, 1<<16))
				talk(c)
				_ = c.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, c) // a close with bytes unread would be a reset
			})
		}
	})
	return listener.Addr().String()
}

// write says the text and hangs up.
func write(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// reply is how a SOCKS proxy answers a request.
func reply(code byte) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = c.Write([]byte{5, 0})
		_, _ = c.Read(make([]byte, 1<<16))
		_, _ = c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
	}
}

// TestProxiesThatRefuseInGo126 is about what the net/http of Go 1.26 keeps of a refusal: of an answer to CONNECT the
// phrase, and of a SOCKS reply a text. If another Go version keeps something else, this test says so.
func TestProxiesThatRefuseInGo126(t *testing.T) {
	t.Parallel()
	again, final := classify.RetryAs(classify.Transient), classify.Verdict{}
	for _, c := range []struct {
		name, scheme string
		talk         func(net.Conn)
		text         string
		want         classify.Verdict
	}{
		{"500", "http", write("HTTP/1.1 500 Internal Server Error\r\n\r\n"), "Internal Server Error", again},
		{"502", "http", write("HTTP/1.1 502 Bad Gateway\r\n\r\n"), "Bad Gateway", again},
		{"503", "http", write("HTTP/1.1 503 Service Unavailable\r\n\r\n"), "Service Unavailable", again},
		{"504", "http", write("HTTP/1.0 504 Gateway Timeout\r\n\r\n"), "Gateway Timeout", again},
		{"429", "http", write("HTTP/1.1 429 Too Many Requests\r\n\r\n"), "Too Many Requests", classify.RetryAs(classify.Throttling)},
		{"502 of Apache", "http", write("HTTP/1.1 502 Proxy Error\r\n\r\n"), "Proxy Error", again},
		{"503 of nginx", "http", write("HTTP/1.1 503 Service Temporarily Unavailable\r\n\r\n"), "Service Temporarily Unavailable", again},
		{"504 of HAProxy", "http", write("HTTP/1.1 504 Gateway Time-out\r\n\r\n"), "Gateway Time-out", again},
		{"403", "http", write("HTTP/1.1 403 Forbidden\r\n\r\n"), "Forbidden", again},
		{"407", "http", write("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), "Proxy Authentication Required", again},
		{"501", "http", write("HTTP/1.1 501 Not Implemented\r\n\r\n"), "Not Implemented", again},
		{"503 in words of its own", "http", write("HTTP/1.1 503 Come again\r\n\r\n"), "Come again", final}, // see httpretry
		{"503 without words", "http", write("HTTP/1.1 503\r\n\r\n"), "unknown status code", again},
		{"hangs up", "http", write(""), "unexpected EOF", again},
		{"hangs up in the status", "http", write("HTTP/1.1 5"), "malformed HTTP status code", again},
		{"hangs up in the tunnel", "http", write("HTTP/1.1 200 OK\r\n\r\n"), "EOF", again},
		{"hangs up in the TLS handshake", "https", write(""), "proxyconnect tcp: EOF", again},
		{"SOCKS, general failure", "socks5", reply(1), "unknown error general SOCKS server failure", again},
		{"SOCKS, not allowed", "socks5", reply(2), "unknown error connection not allowed by ruleset", again},
		{"SOCKS, refused", "socks5h", reply(5), "unknown error connection refused", again},
		{"SOCKS, wants a password", "socks5", write("\x05\xff"), "no acceptable authentication methods", again},
		{"SOCKS, hangs up", "socks5", write(""), "EOF", again},
		{"SOCKS, hangs up in the reply", "socks5", write("\x05\x00"), "EOF", again},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, transport := newClient(t)
			proxyOf(t, c.scheme, c.talk)(transport)
			err := get(t.Context(), t, client, "https://127.0.0.1:1/")
			require.ErrorContains(t, err, c.text)
			require.Equal(t, c.want, verdictOf(err), err)
			require.Equal(t, c.want, verdictOf(fmt.Errorf("call: %w", err)))
			if c.scheme != "http" {
				connecting, ok := errors.AsType[*net.OpError](err)
				require.True(t, ok)
				require.Equal(t, c.want, verdictOf(connecting), "as a RoundTripper returns it")
			}
		})
	}
}

// The phrase of a status is nothing more than words where no HTTP client has said it.
func TestPhrasesOfOthersAreFinal(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.New("Bad Gateway"),
		fmt.Errorf("call: %w", errors.New("Service Unavailable")),
		&url.Error{Op: "Get", Err: fmt.Errorf("redirect: %w", errors.New("Bad Gateway"))},
		errors.New("unknown error host unreachable"),
		errors.New("tls: failed to find any PEM data in certificate input"),
		x509.UnknownAuthorityError{}, // of a signature that a program has checked
		&net.OpError{Op: "listen", Err: errors.New("address already in use")},
	} {
		require.Equal(t, classify.Verdict{}, verdictOf(err), err)
	}
}

func TestConnectionThatTheClientClosed(t *testing.T) {
	t.Parallel()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listen(t).Addr().String())
	require.NoError(t, err)
	require.NoError(t, connection.Close())
	_, err = connection.Write([]byte("late"))
	require.ErrorIs(t, err, net.ErrClosed)
	require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(err), err)
}

func TestServersThatAreOthers(t *testing.T) {
	t.Parallel()
	again := classify.RetryAs(classify.Transient)
	client, _ := newClient(t)
	encrypted := httptest.NewUnstartedServer(http.NotFoundHandler())
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	t.Cleanup(encrypted.Close)
	talks := func(text string) string { return talking(t, write(text)) }
	for name, c := range map[string]struct {
		url  string
		want classify.Verdict
	}{
		"TLS that is cut":      {"https://" + talks(""), again},
		"no TLS but HTTP":      {"https://" + talks("HTTP/1.1 400 Bad Request\r\n\r\n"), again},
		"neither":              {"https://" + talks("SSH-2.0-OpenSSH\r\n"), again},
		"TLS that refuses":     {"https://" + talks("\x15\x03\x01\x00\x02\x02\x28"), again},
		"TLS that is too old":  {"https://" + talks("\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x00"+strings.Repeat("x", 32)+"\x00\x00\x2f\x00"), again},
		"not the host":         {encrypted.URL, again},
		"no HTTP, after a GET": {"http://" + talks("SSH-2.0-OpenSSH\r\n"), classify.Verdict{}},
	} {
		err := get(t.Context(), t, client, c.url)
		require.Error(t, err, name)
		require.Equal(t, c.want, verdictOf(err), "%s: %v", name, err)
	}
}

// TestCallersThatGiveUp ends the request from the caller's side, with and
// without a timeout of the client that does not pass.
func TestCallersThatGiveUp(t *testing.T) {
	t.Parallel()
	for title, timeout := range map[string]time.Duration{"without a timeout": 0, "within a timeout": time.Hour} {
		for where, handler := range map[string]http.HandlerFunc{"awaiting headers": silent, "in the body": stuck} {
			t.Run("cancel "+where+" "+title, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				client, _ := newClient(t)
				client.Timeout = timeout
				err := get(ctx, t, client, serve(t, func(w http.ResponseWriter, r *http.Request) {
					cancel()
					handler(w, r)
				}))
				require.ErrorIs(t, err, context.Canceled)
				require.Equal(t, classify.Verdict{}, verdictOf(err), err)
			})
			t.Run("deadline "+where+" "+title, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), impatient)
				defer cancel()
				client, _ := newClient(t)
				client.Timeout = timeout
				err := get(ctx, t, client, serve(t, handler))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, classify.Verdict{}, verdictOfGone(err), err)
			})
		}
	}
}

func TestCallersThatGaveUpBefore(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	client, _ := newClient(t)
	for _, ctx := range []context.Context{canceled, late} {
		err := get(ctx, t, client, "http://127.0.0.1:1")
		require.ErrorIs(t, err, ctx.Err())
		require.Equal(t, classify.Verdict{}, verdictOfGone(err), err)
	}
}

func TestCallersThatCancelTheDial(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	client, transport := newClient(t)
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, errors.New("dial given up")
	}
	err := get(ctx, t, client, "http://127.0.0.1:1")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, classify.Verdict{}, verdictOf(err), err)
}

// Error codes of RFC 9113.
const codeNone, codeProtocol, codeInternal, codeRefused, codeTooMuch = 0, 1, 2, 7, 11

// http2Server answers each request in the same way.
func http2Server(hangsUp bool, answers ...pipenet.Frame) *pipenet.HTTP2 {
	return &pipenet.HTTP2{Answers: func(int) []pipenet.Frame { return answers }, Close: hangsUp}
}

func http2Client(t *testing.T, change func(*http.Transport)) *http.Client {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	if change != nil {
		change(transport)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestFailuresOfHTTP2InGo126 is about the errors of the net/http in Go 1.26. Those
// whose text is given have nothing else by which they could be known: if another Go
// version changes a text, this test says so.
func TestFailuresOfHTTP2InGo126(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		server *pipenet.HTTP2
		text   string
		want   classify.Verdict
	}{
		{
			name: "refused stream", server: http2Server(false, pipenet.ResetStream(codeRefused)),
			text: "http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM; received from peer] after Request.Body was written",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "graceful end without the request", server: http2Server(false, pipenet.GoAway(0, codeNone)),
			text: "http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request.Body was written",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "end with an error", server: http2Server(false, pipenet.GoAway(0, codeInternal)),
			text: "http2: Transport received GOAWAY from server ErrCode:INTERNAL_ERROR",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "end and close", server: http2Server(true, pipenet.GoAway(1, codeTooMuch)),
			text: "http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=ENHANCE_YOUR_CALM",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "closed", server: http2Server(true),
			text: io.ErrUnexpectedEOF.Error(),
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "stream with an error", server: http2Server(false, pipenet.ResetStream(codeInternal)),
			text: "stream error: stream ID 1; INTERNAL_ERROR; received from peer",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "stream with an error of the client", server: http2Server(false, pipenet.ResetStream(codeProtocol)),
			text: "http2: Transport: cannot retry err [stream error: stream ID 1; PROTOCOL_ERROR; received from peer] after Request.Body was written",
			want: classify.Verdict{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := postOnce(t, c.server)
			require.ErrorContains(t, err, c.text)
			require.Equal(t, c.want, verdictOf(err))
			require.Equal(t, c.want, verdictOf(errors.Unwrap(err)), "as a RoundTripper returns it")
		})
	}
}

// postOnce sends a request with a body that net/http cannot send again by itself, and reads the answer to its end. It
// returns the error of either.
func postOnce(t *testing.T, server *pipenet.HTTP2) error {
	t.Helper()
	var servers sync.WaitGroup
	t.Cleanup(servers.Wait)
	listener := listen(t)
	servers.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			servers.Go(func() { server.Serve(connection) })
		}
	})
	body := io.MultiReader(strings.NewReader("body"))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String(), body)
	require.NoError(t, err)
	response, err := http2Client(t, nil).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// TestStreamsThatAreReset: a reset is what HTTP/2 has for a connection that is cut, unless the server blames the client.
func TestStreamsThatAreReset(t *testing.T) {
	t.Parallel()
	again, final := classify.RetryAs(classify.Transient), classify.Verdict{}
	for code, want := range []classify.Verdict{
		0x0: again, // NO_ERROR
		0x1: final, // PROTOCOL_ERROR
		0x2: again, // INTERNAL_ERROR
		0x3: final, // FLOW_CONTROL_ERROR
		0x4: again, // SETTINGS_TIMEOUT
		0x5: final, // STREAM_CLOSED
		0x6: final, // FRAME_SIZE_ERROR
		0x7: again, // REFUSED_STREAM
		0x8: again, // CANCEL
		0x9: final, // COMPRESSION_ERROR
		0xa: again, // CONNECT_ERROR
		0xb: again, // ENHANCE_YOUR_CALM
		0xc: final, // INADEQUATE_SECURITY
		0xd: final, // HTTP_1_1_REQUIRED
		0xe: again, // unassigned
	} {
		for when, frames := range map[string][]pipenet.Frame{
			"before the headers": {pipenet.ResetStream(uint32(code))},
			"in the body":        {pipenet.Begun(), pipenet.ResetStream(uint32(code))},
		} {
			t.Run(fmt.Sprintf("code %d/%s", code, when), func(t *testing.T) {
				t.Parallel()
				err := postOnce(t, http2Server(false, frames...))
				require.ErrorContains(t, err, "stream error: stream ID 1; ")
				require.Equal(t, want, verdictOf(err), err)
				inner := err
				if around, ok := errors.AsType[*url.Error](err); ok {
					inner = around.Err
				}
				require.Equal(t, want, verdictOf(errors.New(inner.Error())), "as golang.org/x/net/http2 returns it")
				if when == "in the body" {
					require.Equal(t, want, verdictOf(errors.Join(statusError(404), err)), "of a service that has refused")
				}
			})
		}
	}
}

// TestFailuresOfHTTP2InVirtualTime has a request that net/http sends several times by
// itself, with pauses, and a connection that it gives up after a while.
func TestFailuresOfHTTP2InVirtualTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		server *pipenet.HTTP2
		text   string
	}{
		{"refused stream", http2Server(false, pipenet.ResetStream(codeRefused)), "REFUSED_STREAM"},
		{"silent peer", http2Server(false), "http2: client connection lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := http2Client(t, func(transport *http.Transport) {
					transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Minute, PingTimeout: time.Minute}
					transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
						ours, theirs := net.Pipe()
						go c.server.Serve(theirs)
						return ours, nil
					}
				})
				defer client.CloseIdleConnections()
				err := get(t.Context(), t, client, "http://service.invalid/")
				require.ErrorContains(t, err, c.text)
				require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(err), err)
			})
		})
	}
}

func TestTextsThatAreNoLostConnection(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"http2: response body closed",
		"stream error: stream ID 1; PROTOCOL_ERROR; received from peer",
		"stream error: stream ID 1; FRAME_SIZE_ERROR",
		"stream error: stream ID 1; CANCELED",
		"stream error: stream ID 1",
		"http2: Transport: cannot retry err [x; REFUSED_STREAM] after Request.Body was written",
		"my server sent GOAWAY and closed the connection",
		"x http: server closed idle connection",
		"http: server closed idle connection, perhaps",
		"",
	} {
		require.Equal(t, classify.Verdict{}, verdictOf(errors.New(text)), text)
	}
	// These are only seen if the connection ends at the very moment at which a request
	// begins to use it.
	for _, text := range []string{"http: server closed idle connection", "http2: client conn could not be established"} {
		require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(errors.New(text)), text)
	}
}

// loudError counts how often it is asked for its text.
type loudError struct{ asked *int }

func (e loudError) Error() string { *e.asked++; return "http2: client connection lost" }

func TestAnswersAreNotAskedForTheirTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		around error
		want   int
	}{
		"nothing else":    {nil, 1},
		"a code":          {codeError("NoSuchKey"), 0},
		"a final status":  {statusError(404), 0},
		"a good status":   {statusError(200), 1},
		"a known failure": {timeoutError{}, 0},
		"a caller's end":  {context.Canceled, 0},
	} {
		asked := 0
		verdictOf(errors.Join(loudError{&asked}, c.around))
		require.Equal(t, c.want, asked, name)
	}
}
