package sdktest

import (
	"context"
	"io"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/middleware"
)

// failInside lets an attempt end with the error of f before it is sent.
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

// onlyReader is a body that can be read only once.
type onlyReader struct{ io.Reader }

// unsignedPayload leaves the body out of the signature, so that it is read only once.
func unsignedPayload(stack *middleware.Stack) error {
	return v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware(stack)
}
