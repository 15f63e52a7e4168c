package classify_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
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

// send sends a request and reads the answer to its end. It returns the error of either.
func send(ctx context.Context, t *testing.T, client *http.Client, method, address string, body io.Reader) error {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, address, body)
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

// listen is the address of a server that serves each connection.
func listen(t *testing.T, serve func(c net.Conn)) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var served sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	served.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(t.Context(), func() { _ = c.Close() }) // before the cleanups
			served.Go(func() { serve(c); _ = c.Close() })
		}
	})
	return listener.Addr().String()
}

// after reads what the client sends first, and then talks and hangs up.
func after(talk func(c net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1<<16))
		talk(c)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c) // a close with bytes unread would be a reset
	}
}

// write says the text.
func write(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// until says the text and no more, and the client goes.
func until(text string) func(net.Conn) {
	return func(c net.Conn) { write(text)(c); _, _ = io.Copy(io.Discard, c) }
}

const begun = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"

// TestFailuresOfHTTPInGo126: where net/http only says that an answer is malformed, the text is all that there is.
func TestFailuresOfHTTPInGo126(t *testing.T) {
	t.Parallel()
	type change func(client *http.Client, transport *http.Transport)
	limited := func(c *http.Client, _ *http.Transport) { c.Timeout = impatient }
	hello := "\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x00" + strings.Repeat("x", 32) + "\x00\x00\x2f\x00" // of TLS 1.0
	for _, c := range []struct {
		name, scheme string
		talk         func(net.Conn)
		change       change
		text         string
		want         classify.Verdict
	}{
		{"Timeout awaiting headers", "http", until(""), limited, "Client.Timeout exceeded while awaiting headers", timeout},
		{"Timeout in the body", "http", until(begun), limited, "Client.Timeout", timeout},
		{"ResponseHeaderTimeout", "http", until(""), func(_ *http.Client, t *http.Transport) {
			t.ResponseHeaderTimeout = impatient
		}, "timeout awaiting response headers", timeout},
		{"Timeout of the dialer", "http", until(""), func(_ *http.Client, t *http.Transport) {
			t.DialContext = (&net.Dialer{Timeout: time.Nanosecond}).DialContext
		}, "i/o timeout", timeout},
		{"Timeout of the TLS handshake", "https", until(""), func(_ *http.Client, t *http.Transport) {
			t.TLSHandshakeTimeout = impatient
		}, "TLS handshake timeout", timeout},

		{"closed without an answer", "http", write(""), nil, "EOF", transient},
		{"inside the status", "http", write("HTTP/1.1 20"), nil, "malformed HTTP status code", transient},
		{"after the status", "http", write("HTTP/1.1 200 OK\r\n"), nil, "unexpected EOF", transient},
		{"after a header line", "http", write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n"), nil, "unexpected EOF", transient},
		{"inside the first header line", "http", write("HTTP/1.1 200 OK\r\nX-Cut"), nil, "malformed MIME header", transient},
		{"inside a header line", "http", write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-C"), nil, "malformed MIME header", transient},
		{"inside the body", "http", write(begun), nil, "unexpected EOF", transient},
		{"between chunks", "http", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), nil, "unexpected EOF", transient},
		{"with a reset", "http", func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); _ = c.Close() }, nil, "reset by peer", transient},
		{"no HTTP, after a GET", "http", write("SSH-2.0-OpenSSH\r\n"), nil, "malformed HTTP response", none},

		{"TLS that is cut", "https", write(""), nil, "EOF", transient},
		{"no TLS but HTTP", "https", write("HTTP/1.1 400 Bad Request\r\n\r\n"), nil, "HTTP response to HTTPS client", transient},
		{"neither", "https", write("SSH-2.0-OpenSSH\r\n"), nil, "does not look like a TLS handshake", transient},
		{"TLS that refuses", "https", write("\x15\x03\x01\x00\x02\x02\x28"), nil, "handshake failure", transient},
		{"TLS that is too old", "https", write(hello), nil, "unsupported protocol version", transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, transport := newClient(t)
			if c.change != nil {
				c.change(client, transport)
			}
			err := send(t.Context(), t, client, http.MethodGet, c.scheme+"://"+listen(t, after(c.talk)), nil)
			require.ErrorContains(t, err, c.text)
			require.Equal(t, c.want, verdictOf(err), err)
		})
	}
}

// TestProxiesThatRefuseInGo126 is about what the net/http of Go 1.26 keeps of a refusal: of an answer to CONNECT the
// phrase, and of a SOCKS reply a text. If another Go version keeps something else, this test says so.
func TestProxiesThatRefuseInGo126(t *testing.T) {
	t.Parallel()
	answer := func(status string) func(net.Conn) { return write("HTTP/1.1 " + status + "\r\n\r\n") }
	reply := func(code byte) func(net.Conn) { // how a SOCKS proxy answers a request
		return func(c net.Conn) {
			_, _ = c.Write([]byte{5, 0})
			_, _ = c.Read(make([]byte, 1<<16))
			_, _ = c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
		}
	}
	for _, c := range []struct {
		name, scheme string
		talk         func(net.Conn)
		text         string
		want         classify.Verdict
	}{
		{"500", "http", answer("500 Internal Server Error"), "Internal Server Error", transient},
		{"502", "http", answer("502 Bad Gateway"), "Bad Gateway", transient},
		{"429", "http", answer("429 Too Many Requests"), "Too Many Requests", throttle},
		{"502 of Apache", "http", answer("502 Proxy Error"), "Proxy Error", transient},
		{"503 of nginx", "http", answer("503 Service Temporarily Unavailable"), "Service Temporarily Unavailable", transient},
		{"504 of HAProxy", "http", answer("504 Gateway Time-out"), "Gateway Time-out", transient},
		{"403", "http", answer("403 Forbidden"), "Forbidden", transient},
		{"407", "http", answer("407 Proxy Authentication Required"), "Proxy Authentication Required", transient},
		{"503 in words of its own", "http", answer("503 Come again"), "Come again", none}, // see httpretry
		{"503 without words", "http", answer("503"), "unknown status code", transient},
		{"hangs up", "http", write(""), "unexpected EOF", transient},
		{"hangs up in the status", "http", write("HTTP/1.1 5"), "malformed HTTP status code", transient},
		{"hangs up in the tunnel", "http", answer("200 OK"), "EOF", transient},
		{"hangs up in the TLS handshake", "https", write(""), "proxyconnect tcp: EOF", transient},
		{"SOCKS, general failure", "socks5", reply(1), "unknown error general SOCKS server failure", transient},
		{"SOCKS, not allowed", "socks5", reply(2), "unknown error connection not allowed by ruleset", transient},
		{"SOCKS, refused", "socks5h", reply(5), "unknown error connection refused", transient},
		{"SOCKS, wants a password", "socks5", write("\x05\xff"), "no acceptable authentication methods", transient},
		{"SOCKS, hangs up", "socks5", write(""), "EOF", transient},
		{"SOCKS, hangs up in the reply", "socks5", write("\x05\x00"), "EOF", transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, transport := newClient(t)
			transport.Proxy = http.ProxyURL(&url.URL{Scheme: c.scheme, Host: listen(t, after(c.talk))})
			err := send(t.Context(), t, client, http.MethodGet, "https://127.0.0.1:1/", nil)
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

// What says so in these words but is no failure of an HTTP client, or of HTTP/2, is final.
func TestTextsOfOthersAreFinal(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.New("Bad Gateway"),
		fmt.Errorf("call: %w", errors.New("Service Unavailable")),
		&url.Error{Op: "Get", Err: fmt.Errorf("redirect: %w", errors.New("Bad Gateway"))},
		errors.New("unknown error host unreachable"),
		errors.New("tls: failed to find any PEM data in certificate input"),
		x509.UnknownAuthorityError{}, // of a signature that a program has checked
		&net.OpError{Op: "listen", Err: errors.New("address already in use")},
		errors.New("http2: response body closed"),
		errors.New("my server sent GOAWAY and closed the connection"),
	} {
		require.Equal(t, none, verdictOf(err), err)
	}
	// These are only seen if the connection ends at the very moment at which a request
	// begins to use it.
	for _, text := range []string{"http: server closed idle connection", "http2: client conn could not be established"} {
		require.Equal(t, transient, verdictOf(errors.New(text)), text)
	}
}

// Error codes of RFC 9113.
const codeNone, codeProtocol, codeInternal, codeRefused, codeTooMuch = 0, 1, 2, 7, 11

// http2Server answers each request in the same way.
func http2Server(hangsUp bool, answers ...pipenet.Frame) *pipenet.HTTP2 {
	return &pipenet.HTTP2{Answers: func(int) []pipenet.Frame { return answers }, Close: hangsUp}
}

func http2Client(t *testing.T) (*http.Client, *http.Transport) {
	t.Helper()
	client, transport := newClient(t)
	transport.Protocols = &http.Protocols{}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return client, transport
}

// postOnce sends a request with a body that net/http cannot send again by itself.
func postOnce(t *testing.T, server *pipenet.HTTP2) error {
	t.Helper()
	client, _ := http2Client(t)
	return send(t.Context(), t, client, http.MethodPost, "http://"+listen(t, server.Serve), io.MultiReader(strings.NewReader("body")))
}

// TestFailuresOfHTTP2InGo126 is about the errors of the net/http in Go 1.26. Those
// whose text is given have nothing else by which they could be known: if another Go
// version changes a text, this test says so.
func TestFailuresOfHTTP2InGo126(t *testing.T) {
	t.Parallel()
	const again = "http2: Transport: cannot retry err [%s] after Request.Body was written"
	for _, c := range []struct {
		name   string
		server *pipenet.HTTP2
		text   string
		want   classify.Verdict
	}{
		{
			"refused stream", http2Server(false, pipenet.ResetStream(codeRefused)),
			fmt.Sprintf(again, "stream error: stream ID 1; REFUSED_STREAM; received from peer"), transient,
		},
		{
			"graceful end without the request", http2Server(false, pipenet.GoAway(0, codeNone)),
			fmt.Sprintf(again, "http2: Transport received Server's graceful shutdown GOAWAY"), transient,
		},
		{
			"end with an error", http2Server(false, pipenet.GoAway(0, codeInternal)),
			"http2: Transport received GOAWAY from server ErrCode:INTERNAL_ERROR", transient,
		},
		{
			"end and close", http2Server(true, pipenet.GoAway(1, codeTooMuch)),
			"http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=ENHANCE_YOUR_CALM", transient,
		},
		{"closed", http2Server(true), io.ErrUnexpectedEOF.Error(), transient},
		{
			"stream with an error of the client", http2Server(false, pipenet.ResetStream(codeProtocol)),
			fmt.Sprintf(again, "stream error: stream ID 1; PROTOCOL_ERROR; received from peer"), none,
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

// TestStreamsThatAreReset: a reset is what HTTP/2 has for a connection that is cut, unless the server blames the client.
func TestStreamsThatAreReset(t *testing.T) {
	t.Parallel()
	// PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR, COMPRESSION_ERROR, INADEQUATE_SECURITY, HTTP_1_1_REQUIRED
	blames := []int{0x1, 0x3, 0x5, 0x6, 0x9, 0xc, 0xd}
	for code := range 0xf { // the last one is unassigned
		want := transient
		if slices.Contains(blames, code) {
			want = none
		}
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

// TestPeerOfHTTP2ThatIsSilent has a connection that net/http gives up after a while.
func TestPeerOfHTTP2ThatIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, transport := http2Client(t)
		transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Minute, PingTimeout: time.Minute}
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go http2Server(false).Serve(theirs)
			return ours, nil
		}
		defer client.CloseIdleConnections()
		err := send(t.Context(), t, client, http.MethodGet, "http://service.invalid/", nil)
		require.ErrorContains(t, err, "http2: client connection lost")
		require.Equal(t, transient, verdictOf(err), err)
	})
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
		"a redirect":      {statusError(300), 0},
		"a known failure": {timeoutError{}, 0},
		"a caller's end":  {context.Canceled, 0},
	} {
		asked := 0
		verdictOf(errors.Join(loudError{&asked}, c.around))
		require.Equal(t, c.want, asked, name)
	}
}

func TestWhatTheCallerEndsBeforeAConnectionIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(ctx context.Context) error{
		"lookup": func(ctx context.Context) error {
			_, err := (&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}).LookupHost(ctx, "service.example.")
			return err
		},
		"dial": func(ctx context.Context) error {
			_, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
			return err
		},
		"request": func(ctx context.Context) error {
			client, _ := newClient(t)
			return send(ctx, t, client, http.MethodGet, "http://127.0.0.1:1", nil)
		},
		"dial of a request": func(ctx context.Context) error {
			client, transport := newClient(t)
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, errors.New("dial given up")
			}
			return send(ctx, t, client, http.MethodGet, "http://127.0.0.1:1", nil)
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := wait(ctx)
		require.Error(t, err, name)
		require.Equal(t, none, verdictOf(err), "%s: %v", name, err)
	}
}
