package awssdk

import (
	"context"
	"errors"
	"sync"
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

// The loop of a stack may begin again, here for several calls that wait for each other between their first step and their loop.
// A loop that begins once more after its end is another call.
func TestCallsOfOneStackMayBeMadeAtTheSameTime(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{Base: 1})
	require.NoError(t, err)
	stack := middleware.NewStack("Test", smithyhttp.NewStackRequest)
	r := retryer(t, s)
	require.NoError(t, stack.Finalize.Add(sdkretry.NewAttemptMiddleware(r, smithyhttp.RequestCloner), middleware.After))
	require.NoError(t, r.addMiddlewares(stack))
	begin, _ := stack.Initialize.Get(beginMiddleware{}.ID())
	loop, _ := stack.Finalize.Get(loopID)
	const several = 4
	var made sync.Map // the attempts of calls
	var begun, all sync.WaitGroup
	begun.Add(several)
	attempt := middleware.FinalizeHandlerFunc(func(ctx context.Context, _ middleware.FinalizeInput) (
		out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
	) {
		attempts, again := made.LoadOrStore(callFrom(ctx), new(1))
		if !again {
			return out, metadata, temporary{errors.New("lost")}
		}
		*attempts.(*int)++ //nolint:forcetypeassert // as stored
		return out, metadata, nil
	})
	steps := middleware.InitializeHandlerFunc(func(ctx context.Context, _ middleware.InitializeInput) (
		out middleware.InitializeOutput, metadata middleware.Metadata, err error,
	) {
		begun.Done()
		begun.Wait()
		for range 2 {
			_, metadata, err = loop.HandleFinalize(ctx, middleware.FinalizeInput{Request: smithyhttp.NewStackRequest()}, attempt)
			if err != nil {
				break
			}
		}
		return out, metadata, err
	})
	errs := make([]error, several)
	for i := range several {
		all.Go(func() { _, _, errs[i] = begin.HandleInitialize(t.Context(), middleware.InitializeInput{}, steps) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	calls := 0
	made.Range(func(_, attempts any) bool {
		require.Equal(t, new(2), attempts)
		calls++
		return true
	})
	require.Equal(t, 2*several, calls)
}
