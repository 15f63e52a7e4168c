package awssdk

import (
	"context"
	"errors"
	"testing"

	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// A program may keep a stack and use it for several calls. Each has its own input and its own retries.
func TestCallsOfOneStackAreApart(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{Base: 1})
	require.NoError(t, err)
	r, err := newRetryer(s, options{operation: func(_ context.Context, op retry.Operation, input any) retry.Operation {
		op.Scope, _ = input.(string)
		return op
	}})
	require.NoError(t, err)
	stack := middleware.NewStack("Test", smithyhttp.NewStackRequest)
	require.NoError(t, stack.Finalize.Add(sdkretry.NewAttemptMiddleware(r, smithyhttp.RequestCloner), middleware.After))
	require.NoError(t, r.addMiddlewares(stack))
	var calls []*call
	handler := middleware.DecorateHandler(middleware.HandlerFunc(func(ctx context.Context, _ any) (any, middleware.Metadata, error) {
		calls = append(calls, callFrom(ctx))
		if len(calls)%2 == 1 {
			return nil, middleware.Metadata{}, temporary{errors.New("lost")}
		}
		return nil, middleware.Metadata{}, nil
	}), stack)
	for _, input := range []string{"a", "b", "c"} {
		_, _, err = handler.Handle(t.Context(), input)
		require.NoError(t, err)
	}
	require.Len(t, calls, 6)
	for i := range 3 {
		require.Same(t, calls[2*i], calls[2*i+1])
	}
	require.NotSame(t, calls[0], calls[2], "a call that goroutines still know stays as it is")
	require.NotSame(t, calls[2], calls[4])
	require.Len(t, s.Snapshot().Scopes, 4, "one for each input, and that of the strategy")
}
