package lost_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/lost"
)

// TestTextsOfGo126 has the texts of net/http in Go 1.26 (h2_bundle.go, transport.go). That net/http still
// has them is what the tests of classify and httpretry with real connections show.
func TestTextsOfGo126(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]lost.Loss{
		"stream error: stream ID 1; REFUSED_STREAM; received from peer":                                                  lost.Unprocessed, // x/net/http2 has no more than the text
		"stream error: stream ID 1; INTERNAL_ERROR; received from peer":                                                  lost.Connection,
		"stream error: stream ID 1; PROTOCOL_ERROR; received from peer":                                                  lost.Blamed,
		"stream error: stream ID 1; PROTOCOL_ERROR; malformed header":                                                    lost.Nothing,
		"stream error: stream ID 1; HTTP_1_1_REQUIRED; received from peer":                                               lost.Blamed,
		"stream error: stream ID 1; CANCEL":                                                                              lost.Connection,
		"stream error: stream ID 1; unknown error code 0x20; received from peer":                                         lost.Connection,
		"http2: Transport received Server's graceful shutdown GOAWAY":                                                    lost.Unprocessed,
		"http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM":                                         lost.Unprocessed,
		"http2: client conn could not be established":                                                                    lost.Unprocessed,
		"http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR":                          lost.Connection,
		"http2: client connection lost":                                                                                  lost.Connection,
		"http: server closed idle connection":                                                                            lost.Connection,
		`malformed HTTP status code "2"`:                                                                                 lost.Connection,
		"http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM] after Request":                   lost.Unprocessed,
		"http2: Transport: cannot retry err [stream error: stream ID 1; CANCEL] after Request":                           lost.Connection,
		"http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request": lost.Unprocessed,
		"http2: response body closed":                                                                                    lost.Nothing,
		"x stream error: y; REFUSED_STREAM":                                                                              lost.Nothing,
		"http: server closed idle connection, ":                                                                          lost.Nothing,
		"":                                                                                                               lost.Nothing,
	} {
		err := errors.New(text)
		require.Equal(t, want, lost.Of(err), text)
		require.Equal(t, want, lost.Of(fmt.Errorf("wrap: %w", err)), text)
	}
	require.Equal(t, lost.Nothing, lost.Of(nil))
}

// stream is an error as that of net/http for a reset stream: it copies itself into a struct with its fields.
type stream uint32

func (stream) Error() string { return "stream error" }
func (s stream) As(target any) bool {
	is, ok := target.(interface{ Error() string })
	if ok = ok && is.Error() == "http2 stream error"; ok {
		reflect.ValueOf(target).Elem().FieldByName("Code").SetUint(uint64(s))
	}
	return ok
}

func TestStreamCountsBeforeATextAndTheFirstTextBeforeOthers(t *testing.T) {
	t.Parallel()
	closed, goAway := errors.New("http2: client connection lost"), errors.New("http2: Transport received GOAWAY from server")
	for _, c := range []struct {
		err  error
		want lost.Loss
	}{
		{stream(7), lost.Unprocessed},
		{stream(1), lost.Nothing}, // net/http does not say that the server has blamed the client
		{stream(2), lost.Connection},
		{stream(1 << 20), lost.Connection},
		{errors.Join(closed, stream(7)), lost.Unprocessed},
		{errors.Join(goAway, stream(1)), lost.Nothing},
		{errors.Join(goAway, stream(2)), lost.Connection},
		{errors.Join(io.EOF, closed, goAway), lost.Connection},
		{errors.Join(goAway, closed), lost.Unprocessed},
	} {
		require.Equal(t, c.want, lost.Of(c.err), c.err)
	}
	require.Equal(t, lost.Nothing, lost.OfStream(goAway))
	require.Equal(t, lost.Unprocessed, lost.OfStream(fmt.Errorf("wrap: %w", stream(7))))
}

func TestUnsentIsWhatHadNoConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&net.OpError{Op: "dial", Err: io.EOF}, true},
		{&net.OpError{Op: "proxyconnect", Err: io.EOF}, true},
		{&net.OpError{Op: "socks connect", Err: io.EOF}, true},
		{&net.OpError{Op: "read", Err: io.EOF}, false},
		{&net.DNSError{}, true},
		{errors.Join(io.EOF, &net.DNSError{}), true},
		{errors.New("http2: Transport received GOAWAY from server"), true},
		{errors.New("http2: client connection lost"), false},
		{nil, false},
	} {
		require.Equal(t, c.want, lost.Unsent(c.err), c.err)
	}
}

func TestTextsOfConnectionsThatWereNotOpened(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		errors.New("Bad Gateway"):                                           502,
		errors.New("GATEWAY TIME-OUT"):                                      504,
		errors.New("Forbidden"):                                             403,
		errors.New("unknown status code"):                                   0,
		errors.New("http: server gave HTTP response to HTTPS client"):       0,
		errors.New("tls: server selected unsupported protocol version 301"): 0,
		errors.New("Bad Gateway "):                                          -1,
		fmt.Errorf("%w", errors.New("Bad Gateway")):                         -1,
		&net.DNSError{Err: "Bad Gateway"}:                                   -1,
		errors.Join(errors.New("Service Unavailable")):                      -1,
		nil: -1,
	} {
		status, ok := lost.Unopened(err)
		require.Equal(t, want >= 0, ok, err)
		require.Equal(t, max(want, 0), status, err)
	}
}
