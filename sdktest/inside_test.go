package sdktest

import (
	"context"

	"github.com/aws/smithy-go/middleware"
)

// failInside lets attempts end with what f returns, if that is an error, before
// anything is sent.
func failInside(f func() error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("FailInside", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
			if err := f(); err != nil {
				return out, metadata, err
			}
			return next.HandleFinalize(ctx, in)
		}), middleware.After)
	}
}
