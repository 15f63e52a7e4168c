package httpretry

import (
	"io"
	"net/http"
	"sync"
)

// requestBody gives each attempt a body, and makes sure that the body of the request is
// closed.
type requestBody struct {
	request *http.Request
	sent    bool      // whether an attempt has got the body of the request, and the next needs GetBody
	only    *onlyBody // the body of the last attempt if there is no GetBody
}

func (b *requestBody) empty() bool { return b.request.Body == nil || b.request.Body == http.NoBody }

// size returns the number of bytes, or -1 if it is not known.
func (b *requestBody) size() int64 {
	switch {
	case b.empty():
		return 0
	case b.request.ContentLength > 0:
		return b.request.ContentLength
	default: // to net/http a length of zero is not known either
		return -1
	}
}

// next returns the body of the next attempt.
func (b *requestBody) next() (io.ReadCloser, error) {
	switch {
	case b.empty():
		return b.request.Body, nil
	case b.request.GetBody == nil:
		b.only = &onlyBody{body: b.request.Body}
		return b.only, nil
	case b.sent:
		return b.request.GetBody()
	default:
		b.sent = true
		return b.request.Body, nil
	}
}

// replayable reports whether there is a body for another attempt.
func (b *requestBody) replayable() bool {
	return b.empty() || b.request.GetBody != nil || b.only == nil || !b.only.isTouched()
}

// again reports whether there is a body for another attempt, and takes it from the last one.
func (b *requestBody) again() bool {
	return b.empty() || b.request.GetBody != nil || b.only == nil || b.only.takeBack()
}

// finish closes the body of the request if no attempt will.
func (b *requestBody) finish() {
	switch {
	case b.empty():
	case b.only != nil:
		b.only.finish()
	case !b.sent:
		closeBody(b.request)
	}
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// onlyBody lends the only body of a request to one attempt. Its Close leaves an unread body open
// if another attempt may need it. A base may still call Read and Close in another goroutine
// after its RoundTrip has returned. It hides a WriteTo of the body: net/http would close the
// connection for the io.EOF that bodies of smithy-go return from it after Close.
type onlyBody struct {
	body io.ReadCloser

	mu                    sync.Mutex // guards all below; not held while body is called
	touched, closed, last bool
}

func (o *onlyBody) Read(p []byte) (int, error) {
	o.mu.Lock()
	closed := o.closed
	o.touched = o.touched || !closed
	o.mu.Unlock()
	if closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return o.body.Read(p)
}

func (o *onlyBody) Close() error {
	o.mu.Lock()
	mine := !o.closed && (o.touched || o.last)
	o.closed = true
	o.mu.Unlock()
	if !mine {
		return nil
	}
	return o.body.Close()
}

func (o *onlyBody) isTouched() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.touched
}

// takeBack ends the loan unless the attempt has begun to read.
func (o *onlyBody) takeBack() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = o.closed || !o.touched
	return !o.touched
}

// finish closes the body if the attempt has already closed its loan, and otherwise leaves
// that to the attempt: no other one follows.
func (o *onlyBody) finish() {
	o.mu.Lock()
	mine := o.closed && !o.touched && !o.last
	o.last = true
	o.mu.Unlock()
	if mine {
		_ = o.body.Close()
	}
}
