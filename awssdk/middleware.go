package awssdk

import (
	"context"
	"errors"
	"slices"
	"sync"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/retry"
)

// loopID is the name of the SDK's retry loop among the middlewares.
const loopID = "Retry"

// addMiddlewares puts the retry loop of an operation into the middleware of its calls, and adds one that keeps their input. If
// there are timeouts, it adds one for them too. A stack without a retry loop gets none. Where the loop is taken out later, as
// presigning does, or replaced, nothing is left of the calls. The retryer that comes last takes over the middlewares of those
// before it: that of a client those of its config, and that of a second Install those of the first.
func (r *sdkRetryer) addMiddlewares(stack *middleware.Stack) error {
	loop, ok := stack.Finalize.Get(loopID)
	if !ok {
		return nil
	}
	var err error
	m, again := loop.(loopMiddleware)
	if !again {
		m = loopMiddleware{&calls{loop: loop, chain: wrappingOf(loop, r.retryerField)}}
		_, err = stack.Finalize.Swap(loopID, m)
		err = errors.Join(err, stack.Initialize.Add(beginMiddleware(m), middleware.After))
		m.chain.markUserAgent(stack)
		m.identity, _ = stack.Finalize.Swap(identityID, identityMiddleware(m)) // nil if it is not there
	}
	m.installed = r
	if limit := limitMiddleware(m); r.timeout != nil && !slices.Contains(stack.Deserialize.List(), limit.ID()) {
		err = errors.Join(err, stack.Deserialize.Add(limit, middleware.After))
	}
	return err
}

// markUserAgent names the retry mode in the User-Agent of the request. The clients of the SDK do so for a retryer of the SDK
// without another one around it, so this does it for one of ours.
func (w wrapping) markUserAgent(stack *middleware.Stack) {
	if w.ours == nil || w.around {
		return
	}
	found, _ := stack.Build.Get((*awsmiddleware.RequestUserAgent)(nil).ID())
	if agent, ok := found.(*awsmiddleware.RequestUserAgent); ok { // a client without that header has no such mark
		agent.AddUserAgentFeature(w.ours.mark)
	}
}

// calls is what the middlewares of a stack share. The clients of the SDK make a stack for each call, but a middleware may make
// the call again, also before it has ended, and a program may keep a stack.
type calls struct {
	installed *sdkRetryer                   // whose middlewares these are
	loop      middleware.FinalizeMiddleware // of the SDK
	chain     wrapping                      // of retryers in the loop
	identity  middleware.FinalizeMiddleware // of the SDK; nil in a client without credentials
	mu        sync.Mutex                    // guards all below
	input     any                           // of the operation
	first     call                          // so that most calls cost one allocation
}

// call returns a new call, for a loop that begins.
func (s *calls) call(around context.Context, next middleware.FinalizeHandler) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.first
	if c.calls != nil { // it has begun
		c = new(call)
	}
	c.calls, c.input, c.Context, c.ctx, c.next = s, s.input, around, around, next
	return c
}

// Value returns the call for its key, and as the context of its present attempt.
func (c *call) Value(key any) any {
	switch key.(type) {
	case callKey:
		return c
	case token.AttemptKey:
		if ref, _ := c.Attempt(); ref != (token.Ref{}) {
			return c
		}
	}
	return c.Context.Value(key)
}

// Attempt returns the token of the present attempt: a loop inside then knows of this one.
func (c *call) Attempt() (token.Ref, context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present, c.Context
}

func (c *call) setAttempt(t retry.Token) {
	c.mu.Lock()
	c.present = token.Token(t).Ref()
	c.mu.Unlock()
}

type callKey struct{}

// callFrom returns the call that ctx belongs to, or nil outside of its loop.
func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// beginMiddleware keeps the input of a call. It is the last one of its step, because others may change the input.
type beginMiddleware struct{ *calls }

func (beginMiddleware) ID() string { return "awsretry.Call" }

func (m beginMiddleware) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	m.mu.Lock()
	m.input = in.Parameters
	m.mu.Unlock()
	return next.HandleInitialize(ctx, in)
}

// loopMiddleware is in the place of the retry loop, and runs it. It ends the operation if the loop has not ended it.
type loopMiddleware struct{ *calls }

func (loopMiddleware) ID() string { return loopID }

func (m loopMiddleware) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	c := m.call(ctx, next)
	defer func() { // also after a panic
		c.forget()
		c.finish()
	}()
	if ours := m.chain.ours; ours != nil {
		c.retryer = ours.in(m.installed)
	}
	out, metadata, err = c.loop.HandleFinalize(c, in, c)
	if err = c.close(err); c.last != nil || err != nil {
		c.tellResults(metadata, err)
	}
	return out, metadata, err
}

// HandleFinalize makes an attempt for the loop. It reports how the attempt ends, also by a panic.
func (c *call) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	request, isHTTP := in.Request.(*smithyhttp.Request)
	if !isHTTP {
		return c.next.HandleFinalize(ctx, in)
	}
	if c.retryer == nil { // the loop has another one
		return c.next.HandleFinalize(ctx, in)
	}
	c.shared, c.attempt = c.retryer.shared, attemptOf(request)
	c.unseekable = request.GetStream() != nil && !request.IsStreamSeekable()
	returned := false
	defer func() {
		if !returned {
			_ = c.attempted(retry.Result{}, retry.ErrAborted)
		}
	}()
	if c.last != nil {
		c.setAttempt(retry.Token{})
	}
	c.gate.Store(gateClosed)
	if c.identity == nil {
		out, metadata, err = c.send(ctx, in, c.next)
	} else {
		out, metadata, err = c.next.HandleFinalize(ctx, in)
	}
	if c.early = c.gate.Swap(gateOpen) != gateOpen; c.early { // it counts all the same
		_ = c.admit(ctx)
	}
	returned = true
	var result retry.Result
	if err == nil {
		result = resultOf(c.Context, c.input, out.Result, metadata)
	} else if c.chain.changes || c.chain.ours == nil {
		c.ctx = endless{c.ctx}
	}
	return out, metadata, c.attempted(result, err)
}

// send admits an attempt, and makes it.
func (c *call) send(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	err = c.admit(ctx)
	c.gate.Store(gateOpen)
	if err != nil {
		return out, metadata, err
	}
	if request, ok := in.Request.(*smithyhttp.Request); ok && c.attempt.limit == openLimit {
		tellLimit(request, c.most)
	}
	if c.denied == nil {
		c.setAttempt(c.token)
	}
	return next.HandleFinalize(ctx, in)
}
