package httpretry_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// TestPOSTThatHTTP2HasNotProcessedIsSentAgain has a server that says whether it has processed a request,
// behind the net/http of Go 1.26. That sends a request whose stream was refused seven times more before it
// gives up, and one before a graceful end as often as it takes.
func TestPOSTThatHTTP2HasNotProcessedIsSentAgain(t *testing.T) {
	t.Parallel()
	const (
		noError, internalError, refusedStream = 0, 2, 7

		byItself = 8 // requests of net/http in an attempt
	)
	for _, c := range []struct {
		name   string
		answer pipenet.Frame // to the first requests; none hangs up
		hangUp bool
		stream bool // the body cannot be sent again
		bad    int  // how many requests get the answer
		want   int  // how many requests there are
	}{
		{name: "refused stream", answer: pipenet.ResetStream(refusedStream), bad: byItself, want: byItself + 1},
		{name: "refused stream, no body to send again", answer: pipenet.ResetStream(refusedStream), stream: true, bad: 1, want: 1},
		{name: "end before the request with an error", answer: pipenet.GoAway(0, internalError), bad: 1, want: 2},
		{name: "end with the request", answer: pipenet.GoAway(1, noError), hangUp: true, bad: 1, want: 1},
		{name: "broken stream", answer: pipenet.ResetStream(internalError), bad: 1, want: 1},
		{name: "broken connection", hangUp: true, bad: 1, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &pipenet.HTTP2{Close: c.hangUp}
				server.Answers = func(request int) []pipenet.Frame {
					switch {
					case request > c.bad:
						return []pipenet.Frame{pipenet.OK()}
					case c.answer == nil:
						return nil
					default:
						return []pipenet.Frame{c.answer}
					}
				}
				var protocols http.Protocols
				protocols.SetUnencryptedHTTP2(true)
				inner := &http.Transport{Protocols: &protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go server.Serve(theirs)
					return ours, nil
				}}
				defer func() {
					synctest.Wait()
					inner.CloseIdleConnections()
				}()
				r := newRequest(t.Context(), t, http.MethodPost, "http://service/", "body")
				if c.stream {
					r.Body, r.GetBody = io.NopCloser(strings.NewReader("body")), nil
				}
				start := time.Now()
				got := exchange(newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: inner}), r)
				require.Equal(t, c.want, server.Requests(), got.err)
				if c.want > c.bad {
					require.NoError(t, got.err)
					require.Equal(t, http.StatusOK, got.status)
					require.GreaterOrEqual(t, time.Since(start), time.Second, "the backoff of the strategy")
				} else {
					require.Error(t, got.err)
				}
			})
		})
	}
}
