package awssdk

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/retry"
)

// loopID is the name of the SDK's retry loop among the middlewares.
const loopID = "Retry"

// addMiddlewares puts the retry loop of an operation into the middleware of a call, and adds one that keeps the input of the
// call. A stack without a retry loop gets neither. Where the loop is taken out later, as presigning does, or
// replaced, nothing is left of the call.
func (s *shared) addMiddlewares(stack *middleware.Stack) error {
	loop, ok := stack.Finalize.Get(loopID)
	if !ok {
		return nil
	}
	if earlier, again := loop.(loopMiddleware); again {
		loop = earlier.call.loop
	}
	s.markUserAgent(stack, loop)
	c := &callContext{call: call{installed: s, loop: loop}}
	_, err := stack.Finalize.Swap(loopID, loopMiddleware{c})
	begin := beginMiddleware{c}
	if _, again := stack.Initialize.Get(begin.ID()); again {
		_, swapErr := stack.Initialize.Swap(begin.ID(), begin)
		return errors.Join(err, swapErr, s.addLimit(stack))
	}
	return errors.Join(err, stack.Initialize.Add(begin, middleware.After), s.addLimit(stack))
}

// markUserAgent names the retry mode in the User-Agent of the request, as the clients of the SDK do for its own retryers. A
// client without that header has no such mark.
func (s *shared) markUserAgent(stack *middleware.Stack, loop middleware.FinalizeMiddleware) {
	found, _ := stack.Build.Get((*awsmiddleware.RequestUserAgent)(nil).ID())
	if agent, ok := found.(*awsmiddleware.RequestUserAgent); ok && wrappingOf(loop, s).ours {
		agent.AddUserAgentFeature(s.mark)
	}
}

// addLimit adds the middleware for timeouts, once, if there are any.
func (s *shared) addLimit(stack *middleware.Stack) error {
	limit := limitMiddleware{}
	if s.timeout == nil || slices.Contains(stack.Deserialize.List(), limit.ID()) {
		return nil
	}
	return stack.Deserialize.Add(limit, middleware.After)
}

// callContext is the context of a call. With the call in it, the call costs one allocation.
type callContext struct {
	context.Context //nolint:containedctx // it is a context
	used            atomic.Bool
	call            call
}

// Value returns the call for its key.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return &c.call
	}
	return c.Context.Value(key)
}

type callKey struct{}

// callFrom returns the call that ctx belongs to, or nil without the middlewares.
func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// beginMiddleware begins a call. It is the last one of its step, because older clients name the service before that.
type beginMiddleware struct{ *callContext }

func (beginMiddleware) ID() string { return "awsretry.Call" }

func (m beginMiddleware) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	c := m.callContext
	if c.used.Swap(true) { // The clients of the SDK make a stack for each call, but a program need not.
		c = &callContext{call: call{installed: c.call.installed, loop: c.call.loop}}
	}
	c.Context, c.call.input = ctx, in.Parameters
	return next.HandleInitialize(c, in)
}

// loopMiddleware is in the place of the retry loop, and runs it. It ends the operation if the loop has not ended it.
type loopMiddleware struct{ *callContext }

func (loopMiddleware) ID() string { return loopID }

func (m loopMiddleware) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	c := callFrom(ctx)
	if c == nil || c.phase != outside {
		return m.call.loop.HandleFinalize(ctx, in, next)
	}
	c.phase, c.outer, c.ctx, c.next = idle, ctx, ctx, next
	defer func() { // also after a panic
		c.forget()
		c.finish()
	}()
	out, metadata, err = c.loop.HandleFinalize(ctx, in, c)
	return out, metadata, c.close(err)
}

// HandleFinalize makes an attempt for the loop. It reports how the attempt ends, also by a panic.
func (c *call) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	request, isHTTP := in.Request.(*smithyhttp.Request)
	if !isHTTP {
		return c.next.HandleFinalize(ctx, in)
	}
	if c.retryer == nil { // the loop has another retryer, or an older one around ours that hides GetAttemptToken
		if !wrappingOf(c.loop, c.installed).ours {
			return c.next.HandleFinalize(ctx, in)
		}
		c.retryer = &sdkRetryer{shared: c.installed}
	}
	c.shared, c.attempt = c.retryer.shared, attemptOf(request)
	c.unseekable = request.GetStream() != nil && !request.IsStreamSeekable()
	if err := c.admit(ctx); err != nil {
		return out, metadata, c.attempted(err)
	}
	if c.attempt.limit == openLimit {
		tellLimit(request, c.most)
	}
	returned := false
	defer func() {
		if !returned {
			_ = c.attempted(retry.ErrAborted)
		}
	}()
	if c.denied == nil {
		ctx = c.token.Context(ctx) // a loop inside then knows of this one
	}
	out, metadata, err = c.next.HandleFinalize(ctx, in)
	returned = true
	if err == nil {
		c.result = c.installed.resultOf(ctx, c.input, out.Result, metadata)
	} else if seen := wrappingOf(c.loop, nil); seen.changes || !seen.ours {
		c.ctx = endless{c.ctx}
	}
	return out, metadata, c.attempted(err)
}
