package wire

// This file recognizes failures of connections that net/http reports with nothing but a text, or with
// nothing but the fields of an error that is not exported. It was written for the net/http of Go 1.26.

import (
	"crypto/tls"
	"io"
	"net"
	"reflect"
	"strings"
)

// Loss is what an error says of a connection and of the request that was sent over it.
type Loss uint8

// The losses.
const (
	LossNone        Loss = iota // the error says nothing of either
	LossConnection              // the connection was lost, perhaps after the server had processed the request
	LossUnprocessed             // the server has not processed the request
	LossBlamed                  // the server blames the client: what it has sent, or the protocol that it speaks
)

// LossOf returns what an error and the errors that it wraps say. The first that says something
// counts, but that of an HTTP/2 stream counts before any text.
func LossOf(err error) Loss { return lossOf(err, true) }

// StreamLossOf is [LossOf] for an error whose texts may be those of a service.
func StreamLossOf(err error) Loss { return lossOf(err, false) }

func lossOf(err error, texts bool) (loss Loss) {
	Find(err, func(e error) bool {
		if stream, ok := asStream(e); ok {
			loss = ofCode(stream.Code, stream.Cause != nil && stream.Cause.Error() == fromPeer)
			return true
		}
		if !texts {
			return false
		}
		switch e := e.(type) { //nolint:errorlint // an error that wraps is not asked for its text
		case interface{ Unwrap() error }, interface{ Unwrap() []error }:
		default:
			if loss == LossNone {
				loss = ofText(e.Error())
			}
		}
		return false
	})
	return loss
}

// Unsent reports whether an error says that no byte of the request has reached a server: there was no
// connection, or the server has not processed the request.
func Unsent(err error) bool { return unreached(err) || LossOf(err) == LossUnprocessed }

// unreached reports whether an error says that there was no connection, or none through a proxy.
func unreached(err error) bool {
	if op, ok := As[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect") {
		return true
	}
	_, nameless := As[*net.DNSError](err)
	return nameless
}

// Unconnected reports whether an error says that there was no connection over which a request could be sent, TLS included.
func Unconnected(err error) bool {
	return unreached(err) || Find(err, func(err error) bool {
		switch err.(type) { //nolint:errorlint // one error of the walk
		case *tls.CertificateVerificationError, tls.RecordHeaderError, *tls.ECHRejectionError:
			return true
		default:
			_, unopened := Unopened(err)
			return unopened
		}
	})
}

// Unopened reports whether net/http says with err, and with nothing but its text, that it could not open a connection: the TLS
// handshake has failed, or a proxy has refused the tunnel. LossOf the proxy's answer to CONNECT it keeps only the text after the
// status. LossOf a usual text Unopened returns the status again. Besides the phrases of RFC 9110 and RFC 6585 it knows those of nginx,
// HAProxy and Apache httpd. A proxy's own words could be those of any error.
func Unopened(err error) (status int, ok bool) {
	if reflect.TypeOf(err) != reflect.TypeOf(io.EOF) { // not made by errors.New
		return 0, false
	}
	text := err.Error()
	for _, known := range [...]struct {
		phrase string
		status int
	}{
		{"http: server gave HTTP response to HTTPS client", 0},
		{"unknown status code", 0}, // and no text after it
		{"Bad Request", 400},
		{"Unauthorized", 401},
		{"Forbidden", 403},
		{"Not Found", 404},
		{"Method Not Allowed", 405},
		{"Proxy Authentication Required", 407},
		{"Request Timeout", 408},
		{"Too Many Requests", 429},
		{"Internal Server Error", 500},
		{"Not Implemented", 501},
		{"Bad Gateway", 502},
		{"Proxy Error", 502}, // Apache httpd
		{"Service Unavailable", 503},
		{"Service Temporarily Unavailable", 503}, // nginx
		{"Gateway Timeout", 504},
		{"Gateway Time-out", 504}, // nginx, HAProxy
		{"Network Authentication Required", 511},
	} {
		if strings.EqualFold(known.phrase, text) {
			return known.status, true
		}
	}
	return 0, strings.HasPrefix(text, "tls: ")
}

// streamError has the fields of the error with which net/http reports a reset
// HTTP/2 stream: that error copies itself into such a struct for errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "http2 stream error" }

// fromPeer is the cause of a reset that the server has sent. net/http has others for what it does not understand.
const fromPeer = "received from peer"

// codeNames are the error codes of RFC 9113, section 7, by number.
func codeNames() [14]string {
	return [...]string{
		"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
		"FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
		"INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
	}
}

// ofCode returns what the code of a stream that was reset says. A code without a name is one of the server's
// faults (RFC 9113, section 7).
func ofCode(code uint32, byPeer bool) Loss {
	switch code {
	case 0x7: // REFUSED_STREAM
		return LossUnprocessed
	case 0x1, 0x3, 0x5, 0x6, 0x9, 0xc, 0xd:
		// PROTOCOL_ERROR, which may also be a limit on streams, so that net/http itself tries again; FLOW_CONTROL_ERROR,
		// STREAM_CLOSED, FRAME_SIZE_ERROR, COMPRESSION_ERROR, INADEQUATE_SECURITY, HTTP_1_1_REQUIRED.
		if byPeer {
			return LossBlamed
		}
		return LossNone // it is not HTTP/2 what the server speaks
	default:
		return LossConnection // where HTTP/1.1 would cut the connection
	}
}

// asStream is errors.AsType without what the error wraps.
func asStream(err error) (stream streamError, ok bool) {
	switch e := err.(type) { //nolint:errorlint // one error of the walk
	case streamError:
		return e, true
	case interface{ As(target any) bool }:
		target := new(streamError)
		ok = e.As(target)
		return *target, ok
	default:
		return stream, false
	}
}

// ofText is the one place where a text of HTTP/2, of a reused connection or of MySQL's driver decides. In Go 1.26 these errors have
// types that are not exported, no methods and no sentinels. The errors of golang.org/x/net/http2 have the same texts.
func ofText(text string) Loss {
	// A GOAWAY ends only requests with "received" after the last stream that the server has
	// processed. The others end with "closed the connection", and may have been processed.
	for _, known := range [...]struct {
		start string
		loss  Loss
	}{
		{"http2: Transport received Server's graceful shutdown GOAWAY", LossUnprocessed},
		{"http2: Transport received GOAWAY from server", LossUnprocessed},
		{"http2: client conn could not be established", LossUnprocessed},
		{"http2: server sent GOAWAY and closed the connection", LossConnection},
		{"http2: client connection lost", LossConnection},
		{"malformed HTTP status code ", LossConnection}, // in the middle of a status line
	} {
		if strings.HasPrefix(text, known.start) {
			return known.loss
		}
	}
	switch text {
	case "http: server closed idle connection",
		"invalid connection": // ErrInvalidConn of MySQL's driver: the connection ended under a statement
		return LossConnection
	}
	if stream, ok := strings.CutPrefix(text, "stream error: "); ok {
		return ofStreamText(stream)
	}
	if around, ok := strings.CutPrefix(text, "http2: Transport: cannot retry err ["); ok {
		return ofText(around) // of a body that net/http cannot send again
	}
	return LossNone
}

// ofStreamText returns what the rest of a text about a stream that was reset says, such as
// "stream ID 1; CANCEL; received from peer".
func ofStreamText(text string) Loss {
	_, text, _ = strings.Cut(text, "; ")
	byPeer := strings.Contains(text, "; "+fromPeer)
	for code, name := range codeNames() {
		if rest, ok := strings.CutPrefix(text, name); ok && (rest == "" || strings.HasPrefix(rest, ";") || strings.HasPrefix(rest, "]")) {
			return ofCode(uint32(code), byPeer)
		}
	}
	if strings.HasPrefix(text, "unknown error code ") {
		return LossConnection
	}
	return LossNone
}
