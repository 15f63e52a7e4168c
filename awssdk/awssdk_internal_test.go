package awssdk

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func retryer(t *testing.T, s retry.Strategy) *sdkRetryer {
	t.Helper()
	r, err := newRetryer(s, options{})
	require.NoError(t, err)
	return r
}

// inner returns the retryer itself, also of one around it.
func (r *sdkRetryer) inner() *sdkRetryer { return r }

// inside runs the loop of the SDK with the middlewares, and returns the call that they made.
func inside(t *testing.T, r interface {
	aws.Retryer
	inner() *sdkRetryer
}, errs ...error,
) (c *call, err error) {
	t.Helper()
	stack := middleware.NewStack("Test", smithyhttp.NewStackRequest)
	require.NoError(t, stack.Finalize.Add(sdkretry.NewAttemptMiddleware(r, smithyhttp.RequestCloner), middleware.After))
	require.NoError(t, r.inner().addMiddlewares(stack))
	handler := middleware.HandlerFunc(func(ctx context.Context, _ any) (any, middleware.Metadata, error) {
		c = callFrom(ctx)
		err := errs[0]
		errs = errs[1:]
		return nil, middleware.Metadata{}, err
	})
	_, _, err = middleware.DecorateHandler(handler, stack).Handle(t.Context(), nil)
	return c, err
}

// bare runs the loop of the SDK without the middlewares.
func bare(ctx context.Context, r aws.Retryer, errs ...error) error {
	in := middleware.FinalizeInput{Request: smithyhttp.NewStackRequest()}
	next := middleware.FinalizeHandlerFunc(func(context.Context, middleware.FinalizeInput) (
		out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
	) {
		err, errs = errs[0], errs[1:]
		return out, metadata, err
	})
	_, _, err := sdkretry.NewAttemptMiddleware(r, smithyhttp.RequestCloner).HandleFinalize(ctx, in, next)
	return err
}

// temporary is an error that is retried.
type temporary struct{ error }

func (temporary) Temporary() bool { return true }

func (e temporary) Unwrap() error { return e.error }
