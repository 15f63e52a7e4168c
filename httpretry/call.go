package httpretry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/retry"
)

// call is a request with all its attempts. It is also the context of the attempts, so that
// Refusal finds it in a response.
//
// What an exchange holds, and what lets go of it:
//
//	the context of the call           release: after a call without a response, or once the returned body was read or closed
//	the time of an attempt            attemptTimer, Lift: with a good response, or once the strategy has decided
//	the context of an attempt         attemptTimer, Release: in drop, or once the returned body was read or closed
//	the body that an attempt sends    Base, as for every http.RoundTripper
//	a body that no attempt closes     requestBody, finish: at the end of the call
//	the body of a failed response     replayGuard, hold: before the backoff, if it is short and ends in time; else drop
//	the body that is returned         the caller, also if it is a peekedBody
//	any of these, after a panic       abandon
//
// drop runs before each further attempt, and at the end of a call that returns no response.
type call struct {
	context.Context //nolint:containedctx // it is a context

	config    *Config
	request   *http.Request
	operation retry.Operation
	timeout   retry.AttemptTimeout // of each attempt, or nil
	body      requestBody
	id        string // of the invocation, if headers are asked for

	trace      httptrace.ClientTrace
	connection atomic.Int32 // of the present attempt: unknown, wanted or had

	cancel   context.CancelFunc // ends Context; nil if there is nothing to end
	timer    attemptTimer       // of the present attempt
	response *http.Response     // of the last attempt, as long as the call has to close its body
	failure  error              // of the last attempt
	ended    bool
	err      error // of the whole call; written before the caller gets the response
}

func newCall(r *http.Request) *call {
	c := &call{request: r, body: requestBody{request: r}}
	c.trace.GetConn = func(string) { c.connection.CompareAndSwap(unknown, wanted) }
	c.trace.GotConn = func(httptrace.GotConnInfo) { c.connection.Store(had) }
	c.Context = httptrace.WithClientTrace(r.Context(), &c.trace)
	if r.Cancel != nil { //nolint:staticcheck // http.Client sets it for its Timeout
		c.Context, c.cancel = follow(c.Context, r.Cancel) //nolint:staticcheck // as above
	}
	return c
}

// What is known of the connection of an attempt. Base may not tell.
const (
	unknown int32 = iota
	wanted        // Base has looked for one
	had           // Base has had one, so that something may have been sent
)

// unsent reports whether the present attempt has certainly sent nothing.
func (c *call) unsent() bool { return c.connection.Load() == wanted }

type callKey struct{}

// Value returns the call itself for callKey.
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// attempt makes one attempt. With a failed response its error is a *ResponseError.
func (c *call) attempt(ctx context.Context) (*http.Response, error) {
	c.drop()
	ctx, err := c.startTimer(ctx)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx)
	switch {
	case err != nil:
	case response.StatusCode >= http.StatusBadRequest:
		err = c.judge(response)
	case !c.timer.limit.Lift(true):
		// The limit ended the context after the response had arrived, so its body can no longer
		// be read.
		c.drop()
		cause := context.Cause(c.timer.alive)
		response, err = nil, cmp.Or(c.timer.limit.Late(cause), cause)
	}
	c.failure = err
	return response, err
}

// send lets the base make the attempt.
func (c *call) send(ctx context.Context) (*http.Response, error) {
	out, err := c.outgoing(ctx)
	if err != nil {
		return nil, err
	}
	c.connection.Store(unknown)
	response, err := c.config.base().RoundTrip(out)
	switch {
	case err != nil:
		if response != nil && response.Body != nil {
			_ = response.Body.Close()
		}
		return nil, c.explain(err)
	case response == nil:
		return nil, errNothing
	}
	if response.Body == nil {
		response.Body = http.NoBody
	}
	if response.Request == nil {
		response.Request = out
	}
	c.response = response
	return response, nil
}

var errNothing = errors.New("httpretry: Base returned neither a response nor an error")

// outgoing returns the request of an attempt. Its headers are a copy, so that what an inner
// round tripper adds to them does not pile up. It shares the trailer of the request,
// because the writer of the body fills it in.
func (c *call) outgoing(ctx context.Context) (*http.Request, error) {
	out := c.request.WithContext(ctx)
	out.Header = c.request.Header.Clone()
	attempt, _ := retry.AttemptFrom(ctx)
	if c.config.SDKHeaders {
		c.stamp(ctx, out, attempt)
	}
	body, err := c.body.next()
	if err != nil {
		return nil, fmt.Errorf("httpretry: body of attempt %d: %w", attempt.Number, err)
	}
	out.Body = c.timer.sending(body)
	return out, nil
}

// end returns the response or the error of the call, and releases everything else.
func (c *call) end(response *http.Response, err error) (*http.Response, error) {
	c.ended, c.err = true, err
	c.timer.limit.Lift(false)
	c.body.finish()
	switch {
	case response != nil && !c.wantsError(err):
		c.response = nil
		c.releaseWith(response)
		return response, nil
	case err == nil && response == nil:
		err = fmt.Errorf("httpretry: Policy made a success of an attempt without a response: %w", c.failure)
	}
	c.drop()
	c.release()
	return nil, err
}

// wantsError reports whether err comes back instead of the response.
func (c *call) wantsError(err error) bool {
	if wire.Is(err, retry.ErrCanceled) {
		return true
	}
	_, refused := err.(*retry.Error) //nolint:errorlint // the refusal of this call
	return refused && c.config.RefusalAsError
}

// abandon cleans up after a panic, or runtime.Goexit.
func (c *call) abandon() {
	if !c.ended {
		closeBody(c.request)
		c.drop()
		c.release()
	}
}

// alive is the context of the present attempt.
func (c *call) alive() context.Context {
	if c.timer.alive != nil {
		return c.timer.alive
	}
	return c
}

// drop releases the last attempt and closes the body of its response.
func (c *call) drop() {
	if c.response != nil {
		_ = c.response.Body.Close()
		c.response = nil
	}
	c.timer.limit.Release()
}

// release ends the context of the call.
func (c *call) release() {
	if c.cancel != nil {
		c.cancel()
	}
}
