package httpretry

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/retry"
)

// lease is the time of an attempt. The context of the attempt is good for longer than the
// limit if a response arrives in time, because the body of the response is read with it. The
// zero lease has no limit.
type lease struct {
	caller, alive context.Context //nolint:containedctx // late compares how they ended
	cancel        context.CancelCauseFunc
	stop          func() (inTime bool) // lifts the limit
	after         time.Duration
}

// lend returns the context of an attempt and its lease.
func lend(ctx context.Context, config *Config) (context.Context, lease) {
	after := config.AttemptTimeout
	if after <= 0 {
		return ctx, lease{}
	}
	alive, cancel := context.WithCancelCause(ctx)
	limited, end := clock.WithTimeout(ctx, config.clock(), after)
	stop := context.AfterFunc(limited, func() { cancel(context.Cause(limited)) })
	return alive, lease{ctx, alive, cancel, func() bool {
		defer end()
		return stop()
	}, after}
}

// disarm lifts the limit. The first call reports whether it came before the limit.
func (l lease) disarm() (inTime bool) { return l.stop == nil || l.stop() }

// release ends the context.
func (l lease) release() {
	l.disarm()
	if l.cancel != nil {
		l.cancel(nil)
	}
}

// late returns the error of an attempt that the limit has ended as a timeout of the attempt,
// and nil for any other error.
func (l lease) late(err error) error {
	ended := errtree.Is(err, context.DeadlineExceeded) || errtree.Is(err, context.Canceled)
	if l.alive == nil || !ended || context.Cause(l.alive) != context.DeadlineExceeded { //nolint:errorlint // the cause itself
		return nil
	}
	if errtree.Is(l.caller.Err(), context.DeadlineExceeded) {
		return nil // the caller had no more time either, and the caller's end counts
	}
	return &retry.AttemptTimeoutError{After: l.after, Err: err}
}

// follow returns a context that ends when the channel in Cancel of a request is closed. The
// function that comes with it must be called.
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

// releaseWith ends the contexts of a response that is returned once its body has been read
// or closed.
func (c *call) releaseWith(response *http.Response) {
	if c.cancel == nil && c.lease.alive == nil {
		return
	}
	if response.Body == http.NoBody {
		c.lease.release()
		c.release()
		return
	}
	body := &lastBody{ReadCloser: response.Body, done: func() { c.lease.release(); c.release() }}
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
