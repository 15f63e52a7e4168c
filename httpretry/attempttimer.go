package httpretry

import (
	"context"
	"io"
	"net/http"

	"github.com/awsretry/awsretry/retry"
)

// attemptTimer is the time limit of an attempt. If a response arrives in time, the context of the
// attempt outlives the limit, because the body of the response is read with it. The zero
// attemptTimer has no limit.
type attemptTimer struct {
	alive context.Context //nolint:containedctx // of the attempt
	limit *retry.AttemptLimit
}

// startTimer starts the timer of an attempt, and returns the context of the attempt.
func (c *call) startTimer(ctx context.Context) (context.Context, error) {
	c.timer = attemptTimer{}
	if c.timeout == nil {
		return ctx, nil
	}
	op := c.operation
	if !c.body.empty() && c.request.GetBody == nil || !c.config.idempotent(c.request) {
		op.MaxAttempts = 1 // there is no retry after a timeout, at the latest once the body is read
	}
	ctx, limit, err := retry.LimitAttempt(ctx, c.config.Strategy, op, c.timeout, c.body.size())
	if err != nil || limit == nil {
		return ctx, err
	}
	c.timer = attemptTimer{ctx, limit}
	return ctx, nil
}

// sending returns the body of a request, which restarts the time of the attempt with each part that
// is sent.
func (a attemptTimer) sending(body io.ReadCloser) io.ReadCloser {
	if a.limit == nil || body == nil || body == http.NoBody {
		return body
	}
	return progressBody{body, a.limit}
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
	if c.cancel == nil && c.timer.limit == nil {
		return
	}
	if response.Body == http.NoBody {
		c.timer.limit.Release()
		c.release()
		return
	}
	body := &lastBody{ReadCloser: response.Body, done: func() { c.timer.limit.Release(); c.release() }}
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
