package vectors

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
)

// TransportError returns the error that net/http has inside a *url.Error for a kind of failure
// without a response, or nil if it does not know the kind.
func TransportError(kind string) error {
	switch kind {
	case "connect_timeout":
		return opError("dial", os.ErrDeadlineExceeded)
	case "read_timeout":
		return opError("read", os.ErrDeadlineExceeded)
	case "attempt_deadline", "caller_deadline_exceeded": // CallerGone tells them apart
		return context.DeadlineExceeded
	case "dns_timeout":
		return opError("dial", &net.DNSError{Err: "i/o timeout", IsTimeout: true, IsTemporary: true})
	case "dns_temporary":
		return opError("dial", &net.DNSError{Err: "server misbehaving", IsTemporary: true})
	case "dns_refused":
		return opError("dial", &net.DNSError{Err: "server misbehaving", Server: "192.0.2.1:53"})
	case "dns_not_found":
		return opError("dial", &net.DNSError{Err: "no such host", IsNotFound: true})
	case "connection_reset":
		return opError("read", syscall.ECONNRESET)
	case "connection_refused":
		return opError("proxyconnect", opError("dial", syscall.ECONNREFUSED))
	case "use_of_closed_connection":
		return opError("write", net.ErrClosed)
	case "broken_pipe":
		return opError("write", syscall.EPIPE)
	case "dial_error":
		return opError("dial", errors.New("no route through the proxy"))
	case "host_unreachable":
		return opError("read", syscall.EHOSTUNREACH)
	case "network_unreachable":
		return opError("write", syscall.ENETUNREACH)
	case "temporary_network_error":
		return opError("read", temporaryError{})
	case "caller_canceled":
		return context.Canceled
	case "plain_error":
		return errors.New("plain")
	}
	return nil
}

// CallerGone reports whether a kind of failure is that of an operation whose context has ended.
func CallerGone(kind string) bool { return strings.HasPrefix(kind, "caller_") }

// opError is how the net package reports a failed system call.
func opError(op string, cause error) error {
	if _, ok := errors.AsType[syscall.Errno](cause); ok {
		cause = os.NewSyscallError(op, cause)
	}
	return &net.OpError{Op: op, Net: "tcp", Err: cause}
}

// temporaryError says nothing of itself but that it is temporary.
type temporaryError struct{}

func (temporaryError) Error() string   { return "temporary" }
func (temporaryError) Temporary() bool { return true }
func (temporaryError) Timeout() bool   { return false }
