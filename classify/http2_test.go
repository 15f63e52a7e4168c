package classify_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// Error codes of RFC 9113.
const codeNone, codeInternal, codeRefused, codeTooMuch = 0, 2, 7, 11

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
			text: "stream error: stream ID 1; INTERNAL_ERROR",
			want: classify.Verdict{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var servers sync.WaitGroup
			t.Cleanup(servers.Wait)
			listener := listen(t)
			servers.Go(func() {
				for {
					connection, err := listener.Accept()
					if err != nil {
						return
					}
					servers.Go(func() { c.server.Serve(connection) })
				}
			})
			// A body without GetBody, so that net/http cannot try again by itself.
			body := io.MultiReader(strings.NewReader("body"))
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String(), body)
			require.NoError(t, err)
			response, err := http2Client(t, nil).Do(request)
			if err == nil {
				response.Body.Close()
			}
			require.ErrorContains(t, err, c.text)
			require.Equal(t, c.want, verdictOf(err))
			require.Equal(t, c.want, verdictOf(errors.Unwrap(err)), "as a RoundTripper returns it")
		})
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
		"http2: Transport: cannot retry err [stream error: stream ID 1; CANCEL] after Request.Body was written",
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
