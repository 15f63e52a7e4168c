package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// transportKinds returns the names of the failures of the transport.
func transportKinds() []string {
	return []string{
		"connect_timeout", "read_timeout", "attempt_deadline", "dns_timeout", "dns_temporary", "dns_refused", "dns_not_found",
		"connection_refused", "connection_reset", "broken_pipe", "use_of_closed_connection", "dial_error",
		"host_unreachable", "network_unreachable", "http2_refused_stream", "temporary_network_error",
		"caller_canceled", "caller_deadline_exceeded", "plain_error",
	}
}

// transportFailure returns the error that net/http returns for a failure.
func transportFailure(kind string) (error, error) {
	cause := causeOf(kind)
	if cause == nil {
		return nil, fmt.Errorf("must be one of %s", strings.Join(transportKinds(), ", "))
	}
	return &url.Error{Op: "Post", URL: "https://service.example/", Err: cause}, nil
}

func causeOf(kind string) error {
	switch kind {
	case "connect_timeout":
		return opError("dial", os.ErrDeadlineExceeded)
	case "read_timeout":
		return opError("read", os.ErrDeadlineExceeded)
	case "attempt_deadline", "caller_deadline_exceeded": // signs.gone tells them apart
		return context.DeadlineExceeded
	case "dns_timeout":
		return opError("dial", &net.DNSError{Err: "i/o timeout", Name: "service.example", IsTimeout: true, IsTemporary: true})
	case "dns_temporary":
		return opError("dial", &net.DNSError{Err: "server misbehaving", Name: "service.example", IsTemporary: true})
	case "dns_refused": // REFUSED, FORMERR or NOTIMP, as net reports them
		return opError("dial", &net.DNSError{Err: "server misbehaving", Name: "service.example", Server: "192.0.2.1:53"})
	case "dns_not_found":
		return opError("dial", &net.DNSError{Err: "no such host", Name: "service.example", IsNotFound: true})
	case "connection_refused":
		return opError("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case "connection_reset":
		return opError("read", os.NewSyscallError("read", syscall.ECONNRESET))
	case "broken_pipe":
		return opError("write", os.NewSyscallError("write", syscall.EPIPE))
	case "use_of_closed_connection":
		return opError("write", net.ErrClosed)
	case "dial_error":
		return opError("dial", errors.New("dial failed"))
	case "host_unreachable":
		return opError("read", os.NewSyscallError("read", syscall.EHOSTUNREACH))
	case "network_unreachable":
		return opError("write", os.NewSyscallError("write", syscall.ENETUNREACH))
	case "http2_refused_stream":
		return errRefusedStream
	case "temporary_network_error":
		return opError("read", temporaryError{})
	case "caller_canceled":
		return context.Canceled
	case "plain_error":
		return errors.New("plain error")
	default:
		return nil
	}
}

func opError(op string, cause error) error { return &net.OpError{Op: op, Net: "tcp", Err: cause} }

// errRefusedStream has the text of the error that net/http returns if the server refused the
// stream of a request, and its body cannot be sent again.
var errRefusedStream = errors.New("http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM] " +
	"after Request.Body was written; define Request.GetBody to avoid this error")

// temporaryError is a network error of which only Temporary is true.
type temporaryError struct{}

func (temporaryError) Error() string   { return "temporary network error" }
func (temporaryError) Temporary() bool { return true }
func (temporaryError) Timeout() bool   { return false }
