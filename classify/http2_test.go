package classify_test

import (
	"context"
	"encoding/binary"
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
)

// Frame types, flags and codes of RFC 9113.
const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway = 0, 1, 3, 4, 7

	flagAck, flagEndStream = 1, 1

	codeNone, codeInternal, codeRefused, codeTooMuch = 0, 2, 7, 11
)

// http2Server speaks enough HTTP/2 to do wrong, in the clear: once it has read a
// request to its end, it answers with what the test says, and closes the connection
// if the test wants it.
type http2Server struct {
	answers [][]byte
	close   bool
}

func (s http2Server) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	if _, err := io.CopyN(io.Discard, c, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	frames := make(chan []byte, 100) // a pipe has no room: the client writes before it reads
	var writer sync.WaitGroup
	writer.Go(func() {
		for frame := range frames {
			_, _ = c.Write(frame)
		}
	})
	defer func() {
		close(frames)
		writer.Wait()
		hangUp(c)
	}()
	frames <- http2Frame(frameSettings, 0, 0, nil)
	var head [9]byte
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, size); err != nil {
			return
		}
		switch kind, flags := head[3], head[4]; {
		case kind == frameSettings && flags&flagAck == 0:
			frames <- http2Frame(frameSettings, flagAck, 0, nil)
		case (kind == frameHeaders || kind == frameData) && flags&flagEndStream != 0:
			for _, answer := range s.answers {
				copy(answer[5:9], streamOf(answer, head[5:9]))
				frames <- answer
			}
			if s.close {
				return
			}
		}
	}
}

// hangUp closes a connection in such a way that what was written arrives.
func hangUp(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, c)
	}
}

// streamOf puts an answer to a stream on the stream of the request; GOAWAY is about
// the connection.
func streamOf(answer, stream []byte) []byte {
	if answer[3] == frameGoAway {
		return []byte{0, 0, 0, 0}
	}
	return stream
}

func http2Frame(kind, flags byte, stream uint32, payload []byte) []byte {
	frame := []byte{0, 0, byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(frame, stream), payload...)
}

func resetStream(code uint32) []byte {
	return http2Frame(frameReset, 0, 1, binary.BigEndian.AppendUint32(nil, code))
}

func goAway(last, code uint32) []byte {
	return http2Frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code))
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
		server http2Server
		text   string
		want   classify.Verdict
	}{
		{
			name: "refused stream", server: http2Server{answers: [][]byte{resetStream(codeRefused)}},
			text: "http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM; received from peer] after Request.Body was written",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "graceful end without the request", server: http2Server{answers: [][]byte{goAway(0, codeNone)}},
			text: "http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request.Body was written",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "end with an error", server: http2Server{answers: [][]byte{goAway(0, codeInternal)}},
			text: "http2: Transport received GOAWAY from server ErrCode:INTERNAL_ERROR",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "end and close", server: http2Server{answers: [][]byte{goAway(1, codeTooMuch)}, close: true},
			text: "http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=ENHANCE_YOUR_CALM",
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "closed", server: http2Server{close: true},
			text: io.ErrUnexpectedEOF.Error(),
			want: classify.RetryAs(classify.Transient),
		},
		{
			name: "stream with an error", server: http2Server{answers: [][]byte{resetStream(codeInternal)}},
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
					servers.Go(func() { c.server.serve(connection) })
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
		server http2Server
		text   string
	}{
		{"refused stream", http2Server{answers: [][]byte{resetStream(codeRefused)}}, "REFUSED_STREAM"},
		{"silent peer", http2Server{}, "http2: client connection lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := http2Client(t, func(transport *http.Transport) {
					transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Minute, PingTimeout: time.Minute}
					transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
						ours, theirs := net.Pipe()
						go c.server.serve(theirs)
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
