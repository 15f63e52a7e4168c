package classify_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// connectionError is what the SDK makes of every request that it could not send.
type connectionError struct{ error }

func (connectionError) ConnectionError() bool { return true }
func (e connectionError) Unwrap() error       { return e.error }

func TestLostConnectionIsOneThatWasEstablished(t *testing.T) {
	t.Parallel()
	over := func(op string, err error) error {
		return connectionError{&url.Error{Op: "Post", Err: &net.OpError{Op: op, Net: "tcp", Err: err}}}
	}
	said := func(text string) error { return connectionError{&url.Error{Op: "Post", Err: errors.New(text)}} }
	answered := func(r vectors.Response, err error) error { return fmt.Errorf("%w: %w", r.Err(), err) }
	for want, errs := range map[bool][]error{
		true: {
			over("read", os.NewSyscallError("read", syscall.ECONNRESET)),
			over("write", os.NewSyscallError("write", syscall.EPIPE)),
			over("read", net.ErrClosed),
			connectionError{&url.Error{Op: "Get", Err: io.EOF}},
			connectionError{io.EOF},
			io.ErrUnexpectedEOF,
			answered(vectors.Response{Status: 200}, io.ErrUnexpectedEOF),
			said("http2: client connection lost"),
			said(`http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=""`),
			said("http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request.Body was written"),
			said("stream error: stream ID 1; INTERNAL_ERROR; received from peer"),
			said("http: server closed idle connection"),
		},
		false: {
			nil,
			io.EOF,
			context.Canceled,
			errors.New("connection lost"),
			said("unsupported protocol scheme"),
			said("tls: handshake failure"),
			said("Bad Gateway"), // of a proxy
			over("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)),
			over("proxyconnect", os.NewSyscallError("read", syscall.ECONNRESET)),
			over("read", os.ErrDeadlineExceeded),
			over("read", &tls.CertificateVerificationError{Err: errors.New("expired")}),
			connectionError{&url.Error{Op: "Get", Err: &net.DNSError{Err: "server misbehaving", IsTemporary: true}}},
			answered(vectors.Response{Status: 503}, io.ErrUnexpectedEOF),
			answered(vectors.Response{Status: 400, ErrorCode: "SlowDown"}, net.ErrClosed),
		},
	} {
		for _, err := range errs {
			require.Equal(t, want, classify.LostConnection(err), "%v", err)
		}
	}
}
