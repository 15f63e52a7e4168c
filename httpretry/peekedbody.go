package httpretry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// peekTime is how long the body of a failed response may hold up an attempt.
const peekTime = time.Second

// peekedBody is a body that the Transport peeks into before its reader gets it. The reader still gets all of
// it. If a peek runs out of time, a Read of the body is still pending, and the reader gets its result. Close
// unblocks a pending Read only if the body's Close does.
type peekedBody struct {
	io.Closer
	from    io.Reader
	kept    bytes.Buffer // what was read but not yet passed to the reader
	err     error        // the error that ended from
	pending chan piece   // gets the result of the pending Read; nil if there is none

	clock clock.Clock
	until time.Time // when there is no more time to peek
	late  bool      // until has passed
}

// piece is the result of a Read of the body.
type piece struct {
	bytes    []byte
	err      error
	panicked any
}

// peeked returns the body as one that can be peeked into.
func (c *call) peeked(body io.ReadCloser) *peekedBody {
	if b, ok := body.(*peekedBody); ok {
		return b
	}
	clk := c.config.clock()
	return &peekedBody{Closer: body, from: body, clock: clk, until: clk.Now().Add(peekTime)}
}

// peek calls read with the body as long as there is time. It returns the error of ctx if that has ended, and
// the error of the body unless it is io.EOF.
func (b *peekedBody) peek(ctx context.Context, read func(body io.Reader)) error {
	limited, end := clock.WithTimeout(ctx, b.clock, b.until.Sub(b.clock.Now()))
	defer end()
	read(peekReader{b, limited.Done()})
	switch {
	case b.late:
		return ctx.Err()
	case b.err != io.EOF: //nolint:errorlint // a reader returns it as it is
		return b.err
	default:
		return nil
	}
}

// peekReader reads what the reader of the body has not got yet.
type peekReader struct {
	*peekedBody

	end <-chan struct{}
}

var errLate = errors.New("httpretry: no more time to look into the body")

func (r peekReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	select {
	case <-r.end: // a Read begun now would still be under way when the body is closed
		r.late = true
	default:
	}
	if r.late {
		return 0, errLate
	}
	if r.pending == nil {
		r.pending = readPiece(r.from, len(p))
	}
	select {
	case next := <-r.pending:
		r.take(next)
		return copy(p, next.bytes), r.err
	case <-r.end:
		r.late = true
		return 0, errLate
	}
}

var errNoReturn = errors.New("httpretry: reading the body did not return")

// readPiece reads in its own goroutine.
func readPiece(from io.Reader, size int) chan piece {
	pending := make(chan piece, 1)
	go func() {
		next := piece{err: errNoReturn} // after runtime.Goexit
		defer func() {
			if p := recover(); p != nil {
				next.panicked = p
			}
			pending <- next
		}()
		bytes := make([]byte, size)
		n, err := from.Read(bytes)
		next = piece{bytes: bytes[:n], err: err}
	}()
	return pending
}

func (b *peekedBody) take(next piece) {
	b.pending = nil
	if next.panicked != nil {
		panic(next.panicked)
	}
	b.kept.Write(next.bytes)
	b.err = next.err
}

// Read is for the reader of the body.
func (b *peekedBody) Read(p []byte) (int, error) {
	if b.kept.Len() == 0 && b.pending != nil {
		b.take(<-b.pending)
	}
	switch {
	case b.kept.Len() > 0:
		return b.kept.Read(p)
	case b.err != nil:
		return 0, b.err
	default:
		return b.from.Read(p)
	}
}
