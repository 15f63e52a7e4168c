package awssdk

import (
	"context"
	"errors"
	"reflect"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/retry"
)

// loopID is the name of the SDK's retry loop among the middlewares.
const loopID = "Retry"

// addMiddlewares puts the three middlewares into the stack of an operation. A stack without a
// retry loop gets none. They do nothing for a call whose retryer is not one of this package, or
// whose loop is taken out later, as presigning does.
func (s *shared) addMiddlewares(stack *middleware.Stack) error {
	loop, ok := stack.Finalize.Get(loopID)
	if !ok {
		return nil
	}
	s.markUserAgent(stack, reflect.ValueOf(loop))
	attempt := attemptMiddleware{s}
	if _, again := stack.Finalize.Get(attempt.ID()); again {
		_, err := stack.Finalize.Swap(attempt.ID(), attempt)
		return errors.Join(err, s.addLimit(stack))
	}
	return errors.Join(
		s.addLimit(stack),
		stack.Initialize.Add(callMiddleware{}, middleware.After),
		stack.Finalize.Insert(endMiddleware{}, loopID, middleware.Before),
		stack.Finalize.Insert(attempt, loopID, middleware.After),
	)
}

// markUserAgent names the retry mode in the User-Agent of the request, as the clients of the SDK do for its own retryers. A
// client without that header has no such mark.
func (s *shared) markUserAgent(stack *middleware.Stack, loop reflect.Value) {
	found, _ := stack.Build.Get((*awsmiddleware.RequestUserAgent)(nil).ID())
	agent, ok := found.(*awsmiddleware.RequestUserAgent)
	if !ok || !wrappingOf(loop, s).ours {
		return
	}
	agent.AddUserAgentFeature(s.mark)
}

// addLimit adds the middleware for timeouts, once, if there are any.
func (s *shared) addLimit(stack *middleware.Stack) error {
	limit := limitMiddleware{}
	if _, again := stack.Deserialize.Get(limit.ID()); again || s.timeout == nil {
		return nil
	}
	return stack.Deserialize.Add(limit, middleware.After)
}

// callFrom returns the call that ctx belongs to, or nil without the middlewares. The call is a
// value of the stack, so that calls made for credentials do not see it.
func callFrom(ctx context.Context) *call {
	c, _ := middleware.GetStackValue(ctx, callKey{}).(*call)
	return c
}

type callKey struct{}

// callMiddleware begins a call. It is the last one of its step, because older clients name the
// service before that.
type callMiddleware struct{}

func (callMiddleware) ID() string { return "awsretry.Call" }

func (callMiddleware) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	ctx = middleware.WithStackValue(ctx, callKey{}, &call{input: in.Parameters})
	return next.HandleInitialize(ctx, in)
}

// endMiddleware is around the retry loop. It ends the operation if the loop has not ended it.
type endMiddleware struct{}

func (endMiddleware) ID() string { return "awsretry.End" }

func (endMiddleware) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	c := callFrom(ctx)
	if c == nil {
		return next.HandleFinalize(ctx, in)
	}
	c.outer, c.ctx, c.loop = ctx, ctx, next
	defer func() { // also after a panic
		c.forget()
		c.finish()
	}()
	out, metadata, err = next.HandleFinalize(ctx, in)
	return out, metadata, c.close(err)
}

// attemptMiddleware is inside the retry loop. It reports how each attempt ends, also by a
// panic.
type attemptMiddleware struct{ *shared }

func (attemptMiddleware) ID() string { return "awsretry.Attempt" }

func (m attemptMiddleware) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	c := callFrom(ctx)
	request, isHTTP := in.Request.(*smithyhttp.Request)
	if c == nil || !isHTTP {
		return next.HandleFinalize(ctx, in)
	}
	if c.retryer == nil { // the loop has another retryer, or an older one around ours that hides GetAttemptToken
		if !wrappingOf(c.loopOf(), m.shared).ours {
			return next.HandleFinalize(ctx, in)
		}
		c.retryer = &sdkRetryer{shared: m.shared}
	}
	c.shared, c.attempt = c.retryer.shared, attemptOf(request)
	c.unseekable = request.GetStream() != nil && !request.IsStreamSeekable()
	if err := c.admit(ctx); err != nil {
		return out, metadata, c.attempted(err)
	}
	if c.attempt.limit == openLimit {
		c.attempt.write(request, c.most)
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
	out, metadata, err = next.HandleFinalize(ctx, in)
	returned = true
	if err == nil {
		c.throttled, c.entries = m.outputs.throttled(c.input, out.Result, metadata)
	} else if seen := wrappingOf(c.loopOf(), nil); seen.changes || !seen.ours {
		c.ctx = endless{c.ctx}
	}
	return out, metadata, c.attempted(err)
}
