package classify

import "errors"

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

func isRefusedStream(err error) bool {
	stream, ok := errors.AsType[streamError](err)
	return ok && stream.Code == refusedStream
}
