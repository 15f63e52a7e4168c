package sdktest

import (
	"io"
	"log"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// TestRequestBodyThatTheSDKClosesUnderTheAnswer: the SDK closes the body of a request as soon as
// the headers of the answer are there, see plainBodies. If net/http looks for more of the body only
// after that, it closes the connection. The SDK makes the call again then, although the service has
// executed it. It does so with a strategy of this module and without one.
func TestRequestBodyThatTheSDKClosesUnderTheAnswer(t *testing.T) {
	without := func(_ *testing.T, client aws.HTTPClient, _ ...awssdk.Option) aws.Config { return configFor(client) }
	for _, c := range []struct {
		name     string
		setup    setup
		hide     bool // whether the bodies have no WriteTo
		executed int
	}{
		{"without", without, false, 2},
		{"with", installed, false, 2},
		{"without, and without WriteTo", without, true, 1},
		{"with, and without WriteTo", installed, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				t.Helper()
				executed, network := 0, pipenet.New()
				server := &http.Server{ErrorLog: log.New(io.Discard, "", 0)}
				server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					executed++
					_ = http.NewResponseController(w).Flush()
					pause(2 * lookDelay)
					_, _ = io.WriteString(w, "{}")
				})
				go func() { _ = server.Serve(network) }()
				inner := network.Transport()
				transport := http.RoundTripper(inner)
				if c.hide {
					transport = plainBodies{inner}
				}
				cfg := c.setup(t, &http.Client{Transport: lateLook(transport)}, hermetic())
				err := withBody[0].make(cfg)(t.Context(), 1)
				pause(time.Minute) // until the server has ended too
				inner.CloseIdleConnections()
				require.NoError(t, server.Close())
				require.NoError(t, err)
				require.Equal(t, c.executed, executed)
			})
		})
	}
}

// lookDelay is how long net/http does nothing between the end of a body and its look for more.
const lookDelay = time.Second

// lateLook delays the look for more of the first body. Later bodies have no WriteTo.
func lateLook(next http.RoundTripper) http.RoundTripper {
	first := true
	return roundTripFunc(func(r *http.Request) (*http.Response, error) {
		if !first {
			return plainBodies{next}.RoundTrip(r)
		}
		first = false
		r = r.WithContext(r.Context())
		r.Body = &lateBody{r.Body, r.ContentLength}
		return next.RoundTrip(r)
	})
}

type lateBody struct {
	io.ReadCloser
	left int64
}

func (b *lateBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		pause(lookDelay)
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

func (b *lateBody) WriteTo(w io.Writer) (int64, error) {
	pause(lookDelay)
	return b.ReadCloser.(io.WriterTo).WriteTo(w)
}
