package wire_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/wire"
)

// TestTextsOfGo126 has the texts of net/http in Go 1.26 (h2_bundle.go, transport.go). That net/http still
// has them is what the tests of classify and httpretry with real connections show.
func TestTextsOfGo126(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]wire.Loss{
		"stream error: stream ID 1; REFUSED_STREAM; received from peer":                                                  wire.LossUnprocessed, // x/net/http2 has no more than the text
		"stream error: stream ID 1; INTERNAL_ERROR; received from peer":                                                  wire.LossConnection,
		"stream error: stream ID 1; PROTOCOL_ERROR; received from peer":                                                  wire.LossBlamed,
		"stream error: stream ID 1; PROTOCOL_ERROR; malformed header":                                                    wire.LossNone,
		"stream error: stream ID 1; HTTP_1_1_REQUIRED; received from peer":                                               wire.LossBlamed,
		"stream error: stream ID 1; CANCEL":                                                                              wire.LossConnection,
		"stream error: stream ID 1; unknown error code 0x20; received from peer":                                         wire.LossConnection,
		"http2: Transport received Server's graceful shutdown GOAWAY":                                                    wire.LossUnprocessed,
		"http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM":                                         wire.LossUnprocessed,
		"http2: client conn could not be established":                                                                    wire.LossUnprocessed,
		"http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR":                          wire.LossConnection,
		"http2: client connection lost":                                                                                  wire.LossConnection,
		"invalid connection":                                                                                             wire.LossConnection,
		"http: server closed idle connection":                                                                            wire.LossConnection,
		`malformed HTTP status code "2"`:                                                                                 wire.LossConnection,
		"http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM] after Request":                   wire.LossUnprocessed,
		"http2: Transport: cannot retry err [stream error: stream ID 1; CANCEL] after Request":                           wire.LossConnection,
		"http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request": wire.LossUnprocessed,
		"http2: response body closed":                                                                                    wire.LossNone,
		"x stream error: y; REFUSED_STREAM":                                                                              wire.LossNone,
		"http: server closed idle connection, ":                                                                          wire.LossNone,
		"":                                                                                                               wire.LossNone,
	} {
		err := errors.New(text)
		require.Equal(t, want, wire.LossOf(err), text)
		require.Equal(t, want, wire.LossOf(fmt.Errorf("wrap: %w", err)), text)
	}
	require.Equal(t, wire.LossNone, wire.LossOf(nil))
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
		want wire.Loss
	}{
		{stream(7), wire.LossUnprocessed},
		{stream(1), wire.LossNone}, // net/http does not say that the server has blamed the client
		{stream(2), wire.LossConnection},
		{stream(1 << 20), wire.LossConnection},
		{errors.Join(closed, stream(7)), wire.LossUnprocessed},
		{errors.Join(goAway, stream(1)), wire.LossNone},
		{errors.Join(goAway, stream(2)), wire.LossConnection},
		{errors.Join(io.EOF, closed, goAway), wire.LossConnection},
		{errors.Join(goAway, closed), wire.LossUnprocessed},
	} {
		require.Equal(t, c.want, wire.LossOf(c.err), c.err)
	}
	require.Equal(t, wire.LossNone, wire.StreamLossOf(goAway))
	require.Equal(t, wire.LossUnprocessed, wire.StreamLossOf(fmt.Errorf("wrap: %w", stream(7))))
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
		require.Equal(t, c.want, wire.Unsent(c.err), c.err)
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
		status, ok := wire.Unopened(err)
		require.Equal(t, want >= 0, ok, err)
		require.Equal(t, max(want, 0), status, err)
	}
}
