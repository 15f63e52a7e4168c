package httpretry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// lookTime is how long the body of a failed response may hold up an attempt.
const lookTime = time.Second

// ahead is a body that the Transport looks into before its reader gets it. The reader still gets all of
// it. If a look runs out of time, a Read of the body is still under way, and the reader gets its
// result. Close ends that Read if the Close of the body does.
type ahead struct {
	io.Closer
	from    io.Reader
	kept    bytes.Buffer // what was read but not yet passed to the reader
	err     error        // the error that ended from
	pending chan piece   // gets the result of the Read under way; nil if there is none

	clock clock.Clock
	until time.Time // when there is no more time to look
	late  bool      // until has passed
}

// piece is the result of a Read of the body.
type piece struct {
	bytes    []byte
	err      error
	panicked any
}

func (c *call) lookAhead(body io.ReadCloser) *ahead {
	if a, ok := body.(*ahead); ok {
		return a
	}
	clk := c.config.clock()
	return &ahead{Closer: body, from: body, clock: clk, until: clk.Now().Add(lookTime)}
}

// look calls read with the body as long as there is time. It returns the error of ctx if that has ended, and
// the error of the body unless it is io.EOF.
func (a *ahead) look(ctx context.Context, read func(body io.Reader)) error {
	limited, end := clock.WithTimeout(ctx, a.clock, a.until.Sub(a.clock.Now()))
	defer end()
	read(lookReader{a, limited.Done()})
	switch {
	case a.late:
		return ctx.Err()
	case a.err != io.EOF: //nolint:errorlint // a reader returns it as it is
		return a.err
	default:
		return nil
	}
}

// lookReader reads what the reader of the body has not got yet.
type lookReader struct {
	*ahead

	end <-chan struct{}
}

var errLate = errors.New("httpretry: no more time to look into the body")

func (l lookReader) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	select {
	case <-l.end: // a Read begun now would still be under way when the body is closed
		l.late = true
	default:
	}
	if l.late {
		return 0, errLate
	}
	if l.pending == nil {
		l.pending = readPiece(l.from, len(p))
	}
	select {
	case next := <-l.pending:
		l.take(next)
		return copy(p, next.bytes), l.err
	case <-l.end:
		l.late = true
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

func (a *ahead) take(next piece) {
	a.pending = nil
	if next.panicked != nil {
		panic(next.panicked)
	}
	a.kept.Write(next.bytes)
	a.err = next.err
}

// Read is for the reader of the body.
func (a *ahead) Read(p []byte) (int, error) {
	if a.kept.Len() == 0 && a.pending != nil {
		a.take(<-a.pending)
	}
	switch {
	case a.kept.Len() > 0:
		return a.kept.Read(p)
	case a.err != nil:
		return 0, a.err
	default:
		return a.from.Read(p)
	}
}
