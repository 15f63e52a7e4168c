package pipenet

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// Frame types and flags of RFC 9113.
const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway = 0, 1, 3, 4, 7

	flagAck, flagEndStream, flagEndHeaders = 1, 1, 4
)

// HTTP2 is a server that speaks enough HTTP/2, in the clear, to do wrong. Once it has read a
// request to its end, it answers with the frames that Answers returns for it; the first request is
// 1. It closes a connection after an answer if Close is set. It is safe for concurrent use.
type HTTP2 struct {
	Answers func(request int) []Frame
	Close   bool

	requests atomic.Int64
}

// Frame is a frame of HTTP/2. The server puts it on the stream of the request.
type Frame []byte

// OK is an answer with status 200.
func OK() Frame {
	return frame(frameHeaders, flagEndStream|flagEndHeaders, []byte{0x88}) // RFC 7541, appendix A: ":status: 200"
}

// Begun is the beginning of an answer with status 200: its headers and some of its body.
func Begun() Frame {
	return append(frame(frameHeaders, flagEndHeaders, []byte{0x88}), frame(frameData, 0, []byte("{"))...)
}

// ResetStream ends the stream of the request with an error code.
func ResetStream(code uint32) Frame {
	return frame(frameReset, 0, binary.BigEndian.AppendUint32(nil, code))
}

// GoAway says that the server has not processed the streams after the last one.
func GoAway(last, code uint32) Frame {
	return frame(frameGoAway, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code))
}

func frame(kind, flags byte, payload []byte) Frame {
	return append([]byte{0, 0, byte(len(payload)), kind, flags, 0, 0, 0, 0}, payload...)
}

// on returns the frame, or each of several, on a stream. GOAWAY and SETTINGS are about the connection.
func (f Frame) on(stream []byte) Frame {
	f = slices.Clone(f)
	for next := f; len(next) > 0; next = next[9+next[2]:] {
		if kind := next[3]; kind != frameGoAway && kind != frameSettings {
			copy(next[5:9], stream)
		}
	}
	return f
}

// Requests returns how many requests have been read.
func (s *HTTP2) Requests() int { return int(s.requests.Load()) }

// Serve answers the requests of a connection until it ends.
func (s *HTTP2) Serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	if _, err := io.CopyN(io.Discard, c, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	frames := make(chan Frame, 100) // a pipe has no room: the client writes before it reads
	var writer sync.WaitGroup
	writer.Go(func() {
		for f := range frames {
			_, _ = c.Write(f)
		}
	})
	defer func() {
		close(frames)
		var reader sync.WaitGroup
		reader.Go(func() { _, _ = io.Copy(io.Discard, c) }) // a client that writes would not read
		writer.Wait()
		if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			reader.Wait() // so that what was written arrives
		}
	}()
	frames <- frame(frameSettings, 0, nil)
	var head [9]byte
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, size); err != nil {
			return
		}
		switch kind, flags := head[3], head[4]; {
		case kind == frameSettings && flags&flagAck == 0:
			frames <- frame(frameSettings, flagAck, nil)
		case (kind == frameHeaders || kind == frameData) && flags&flagEndStream != 0:
			for _, f := range s.Answers(int(s.requests.Add(1))) {
				frames <- f.on(head[5:9])
			}
			if s.Close {
				return
			}
		}
	}
}
