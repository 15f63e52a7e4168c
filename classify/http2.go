package classify

import (
	"strings"

	"github.com/awsretry/awsretry/internal/errtree"
)

// streamError has the fields of the error with which net/http reports a reset
// HTTP/2 stream: that error copies itself into such a struct for errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "http2 stream error" }

// refusedStream is REFUSED_STREAM of RFC 9113, section 7: the server has not
// processed the request.
const refusedStream = 0x7

// isLostConnection recognizes failures of connections that net/http reports by
// errors of which nothing but the text can be told from outside.
func isLostConnection(err error) (lost bool) {
	for e := range errtree.All(err) {
		if stream, ok := asStream(e); ok {
			return stream.Code == refusedStream
		}
		switch e.(type) { //nolint:errorlint // an error that wraps is not asked for its text
		case wrapper, joined:
		default:
			lost = lost || saysLostConnection(e.Error())
		}
	}
	return lost
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

// saysLostConnection is the one place where a text decides: the server said GOAWAY,
// or refused a stream whose body net/http cannot send again, or the connection was
// lost, perhaps in the middle of a status line. In Go 1.26 these errors have types that are not exported, no methods and
// no sentinels. Those of golang.org/x/net/http2 have the same texts.
func saysLostConnection(text string) bool {
	if text == "http: server closed idle connection" || strings.HasPrefix(text, "malformed HTTP status code ") {
		return true
	}
	rest, ok := strings.CutPrefix(text, "http2: ")
	if !ok {
		return false
	}
	if inner, ok := strings.CutPrefix(rest, "Transport: cannot retry err ["); ok {
		return strings.HasPrefix(inner, "stream error: ") && strings.Contains(inner, "; REFUSED_STREAM") ||
			saysLostConnection(inner)
	}
	for _, start := range [...]string{
		"server sent GOAWAY and closed the connection",
		"Transport received Server's graceful shutdown GOAWAY",
		"Transport received GOAWAY from server",
		"client connection lost",
		"client conn could not be established",
	} {
		if strings.HasPrefix(rest, start) {
			return true
		}
	}
	return false
}
