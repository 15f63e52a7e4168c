package httpretry

import (
	"context"
	"io"
	"net/http"

	"github.com/awsretry/awsretry/retry"
)

// lease is the time limit of an attempt. If a response arrives in time, the context of the
// attempt outlives the limit, because the body of the response is read with it. The zero
// lease has no limit.
type lease struct {
	alive context.Context //nolint:containedctx // of the attempt
	limit *retry.AttemptLimit
}

// lend returns the context of an attempt, and remembers its lease.
func (c *call) lend(ctx context.Context) (context.Context, error) {
	c.lease = lease{}
	if c.config.AttemptTimeout == nil {
		return ctx, nil
	}
	op := c.operation
	if !c.body.replayable() || !c.config.idempotent(c.request) {
		op.MaxAttempts = 1 // there is no retry after a timeout
	}
	ctx, limit, err := retry.LimitAttempt(ctx, c.config.Strategy, op, c.config.AttemptTimeout)
	if err != nil || limit == nil {
		return ctx, err
	}
	c.lease = lease{ctx, limit}
	return ctx, nil
}

// sending returns the body of a request, which restarts the time of the attempt with each part that
// is sent.
func (l lease) sending(body io.ReadCloser) io.ReadCloser {
	if l.limit == nil || body == nil || body == http.NoBody {
		return body
	}
	return progressBody{body, l.limit}
}

// progressBody hides a WriteTo of the body, as onlyBody does.
type progressBody struct {
	io.ReadCloser
	limit *retry.AttemptLimit
}

func (b progressBody) Read(p []byte) (int, error) {
	b.limit.Progress()
	defer b.limit.Progress()
	return b.ReadCloser.Read(p)
}

// follow returns a context that ends when the channel in Cancel of a request is closed. You
// must call the returned function.
func follow(parent context.Context, canceled <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-canceled:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// releaseWith ends the contexts of a returned response once its body has been read or
// closed.
func (c *call) releaseWith(response *http.Response) {
	if c.cancel == nil && c.lease.limit == nil {
		return
	}
	if response.Body == http.NoBody {
		c.lease.limit.Release()
		c.release()
		return
	}
	body := &lastBody{ReadCloser: response.Body, done: func() { c.lease.limit.Release(); c.release() }}
	if w, ok := response.Body.(io.Writer); ok { // after 101 Switching Protocols
		response.Body = struct {
			*lastBody
			io.Writer
		}{body, w}
		return
	}
	response.Body = body
}

// lastBody calls done at its end and when it is closed.
type lastBody struct {
	io.ReadCloser
	done func()
}

func (b *lastBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.done()
	}
	return n, err
}

func (b *lastBody) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
