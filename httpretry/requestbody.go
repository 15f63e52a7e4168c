package httpretry

import (
	"io"
	"net/http"
	"sync"
)

// requestBody gives each attempt the body of the request, and sees to it that the
// request's own is closed.
type requestBody struct {
	request *http.Request
	sent    bool      // an attempt has got the request's own, with GetBody for the next
	only    *onlyBody // of the last attempt, without GetBody
}

func (b *requestBody) empty() bool { return b.request.Body == nil || b.request.Body == http.NoBody }

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

// replayable reports whether there can be another attempt.
func (b *requestBody) replayable() bool {
	return b.empty() || b.request.GetBody != nil || b.only == nil || !b.only.isTouched()
}

// again makes sure of what replayable said.
func (b *requestBody) again() bool {
	return b.empty() || b.request.GetBody != nil || b.only == nil || b.only.takeBack()
}

// finish closes the request's own body if no attempt will.
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

// onlyBody lends a body that there is only once to one attempt. As long as nothing
// of it was read the attempt does not close it, so that another one can have it. A
// base may still read and close it in another goroutine when it has returned.
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

// takeBack ends the loan, unless the attempt has begun to read.
func (o *onlyBody) takeBack() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = o.closed || !o.touched
	return !o.touched
}

// finish says that there is no other attempt: the body is closed when the attempt
// is done with it, which may be now.
func (o *onlyBody) finish() {
	o.mu.Lock()
	mine := o.closed && !o.touched && !o.last
	o.last = true
	o.mu.Unlock()
	if mine {
		_ = o.body.Close()
	}
}
