package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"syscall"
)

// transports returns the transport failures by name, each with the error that net/http wraps in its
// own.
func transports() []struct {
	kind  string
	cause error
} {
	return []struct {
		kind  string
		cause error
	}{
		{"connect_timeout", opError("dial", os.ErrDeadlineExceeded)},
		{"read_timeout", opError("read", os.ErrDeadlineExceeded)},
		{"attempt_deadline", context.DeadlineExceeded},
		{"dns_timeout", opError("dial", &net.DNSError{Err: "i/o timeout", Name: host, IsTimeout: true, IsTemporary: true})},
		{"dns_temporary", opError("dial", &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true})},
		// REFUSED, FORMERR or NOTIMP, as net reports them
		{"dns_refused", opError("dial", &net.DNSError{Err: "server misbehaving", Name: host, Server: "192.0.2.1:53"})},
		{"dns_not_found", opError("dial", &net.DNSError{Err: "no such host", Name: host, IsNotFound: true})},
		{"connection_refused", opError("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED))},
		{"connection_reset", opError("read", os.NewSyscallError("read", syscall.ECONNRESET))},
		{"broken_pipe", opError("write", os.NewSyscallError("write", syscall.EPIPE))},
		{"use_of_closed_connection", opError("write", net.ErrClosed)},
		{"dial_error", opError("dial", errors.New("dial failed"))},
		{"host_unreachable", opError("read", os.NewSyscallError("read", syscall.EHOSTUNREACH))},
		{"network_unreachable", opError("write", os.NewSyscallError("write", syscall.ENETUNREACH))},
		{"http2_refused_stream", errRefusedStream},
		{"temporary_network_error", opError("read", temporaryError{})},
		{"caller_canceled", context.Canceled},
		{"caller_deadline_exceeded", context.DeadlineExceeded}, // the name distinguishes it from attempt_deadline
		{"plain_error", errors.New("plain error")},
	}
}

const host = "service.example"

// transportKinds returns the names of the transport failures.
func transportKinds() (kinds []string) {
	for _, t := range transports() {
		kinds = append(kinds, t.kind)
	}
	return kinds
}

// transportFailure returns the error that net/http returns for a failure, or nil for an unknown one.
func transportFailure(kind string) error {
	for _, t := range transports() {
		if t.kind == kind {
			return &url.Error{Op: "Post", URL: "https://" + host + "/", Err: t.cause}
		}
	}
	return nil
}

func opError(op string, cause error) error { return &net.OpError{Op: op, Net: "tcp", Err: cause} }

// errRefusedStream has the text of the error that net/http returns if the server refused the stream
// of a request whose body cannot be sent again.
var errRefusedStream = errors.New("http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM] " +
	"after Request.Body was written; define Request.GetBody to avoid this error")

// temporaryError is a network error whose only true method is Temporary.
type temporaryError struct{}

func (temporaryError) Error() string   { return "temporary network error" }
func (temporaryError) Temporary() bool { return true }
func (temporaryError) Timeout() bool   { return false }
