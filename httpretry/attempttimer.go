package httpretry

import (
	"context"
	"io"
	"net/http"

	"github.com/awsretry/awsretry/internal/body"
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
func (a attemptTimer) sending(from io.ReadCloser) io.ReadCloser {
	if a.limit == nil || from == nil || from == http.NoBody {
		return from
	}
	return struct {
		body.Sent
		io.Closer
	}{body.Sent{Reader: from, Moved: a.limit.Progress}, from}
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
	received := body.Received{ReadCloser: response.Body, Done: func() { c.timer.limit.Release(); c.release() }}
	if w, ok := response.Body.(io.Writer); ok { // after 101 Switching Protocols
		response.Body = struct {
			body.Received
			io.Writer
		}{received, w}
		return
	}
	response.Body = received
}
