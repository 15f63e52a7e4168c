package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

func TestFunctionKnowsWhichAttemptItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", nil)
	var seen []retry.Attempt
	see := func(ctx context.Context, op retry.Operation) {
		_ = retry.DoErr(ctx, w, op, func(ctx context.Context) error {
			inner, _ := retry.AttemptFrom(ctx)
			seen = append(seen, inner)
			return nil
		})
	}
	const most = 1<<31 - 1
	_, err := w.do(t.Context(), retry.Operation{}, func(ctx context.Context, n int) error {
		outer, ok := retry.AttemptFrom(ctx)
		require.True(t, ok)
		seen = append(seen, outer)
		if n == 1 {
			see(ctx, retry.Operation{})
			see(ctx, retry.Operation{MaxAttempts: most})
			return errServer
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []retry.Attempt{
		{Number: 1, Loops: 1, MaxAttempts: 3},
		{Number: 1, Loops: 2, MaxAttempts: 9},
		{Number: 1, Loops: 2, MaxAttempts: most},
		{Number: 2, Loops: 1, MaxAttempts: 3},
	}, seen)
	_, ok := retry.AttemptFrom(t.Context())
	require.False(t, ok)
}

func TestContextOfAnAttemptIsTheCallers(t *testing.T) {
	t.Parallel()
	type key struct{}
	s := modes(t, clock.System{}, nil)["standard"]
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "value"), deadline)
	defer cancel()
	_, err := retry.Do(ctx, s, retry.Operation{}, func(ctx context.Context) (int, error) {
		got, ok := ctx.Deadline()
		require.True(t, ok)
		require.Equal(t, deadline, got)
		require.Equal(t, "value", ctx.Value(key{}))
		cancel()
		<-ctx.Done()
		require.Equal(t, context.Canceled, ctx.Err())
		return 0, nil
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: 2 * time.Hour}))
	require.NoError(t, err)
}

// wrapping is an error that wraps what is put in later.
type wrapping struct{ inner []error }

func (*wrapping) Error() string     { return "wrapping" }
func (w *wrapping) Unwrap() []error { return w.inner }

func TestWhatAnAttemptWithoutTimeReturnedIsFound(t *testing.T) {
	t.Parallel()
	slow := &net.DNSError{Name: "service"}
	inner := &retry.AttemptTimeoutError{After: time.Second, Err: slow}
	self, list, closed := &wrapping{}, &wrapping{}, &wrapping{}
	self.inner = []error{self}
	list.inner = []error{slow, list, nil, list}
	closed.inner = []error{&retry.Error{Reason: retry.ErrMaxElapsed, Last: &retry.AttemptTimeoutError{Err: closed}}}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nothing", nil, false},
		{"the error", slow, true},
		{"a wrapped one", fmt.Errorf("look up: %w", slow), true},
		{"in an inner operation", fmt.Errorf("get: %w", &retry.Error{Reason: retry.ErrMaxElapsed, Last: inner}), true},
		{"after an inner operation", errors.Join(&retry.AttemptTimeoutError{Err: io.EOF}, slow), true},
		{"by the method of an error", readable{slow}, true},
		{"another error", io.EOF, false},
		{"an error that wraps itself", self, false},
		{"before an error that wraps itself", list, true},
		{"an error that wraps itself through a refusal", closed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := errors.AsType[*net.DNSError](&retry.AttemptTimeoutError{Err: c.err})
			require.Equal(t, c.want, ok)
			if ok {
				require.Same(t, slow, got)
			}
		})
	}
}

// readable is an error that can be read as another one.
type readable struct{ as *net.DNSError }

func (readable) Error() string { return "readable" }
func (r readable) As(target any) bool {
	e, ok := target.(**net.DNSError)
	if ok {
		*e = r.as
	}
	return ok
}

// nested makes an operation in an operation of the same strategy. Each attempt of both
// fails. It returns how many attempts the inner operations made.
func nested(w world, outer, inner retry.Operation, change func(context.Context) context.Context) (calls int) {
	_, _ = w.do(w.Context(), outer, func(ctx context.Context, _ int) error {
		return retry.DoErr(change(ctx), w, inner, func(context.Context) error { calls++; return errServer })
	})
	return calls
}

func TestOnceKeepsInnerOperationsToOneAttempt(t *testing.T) {
	t.Parallel()
	inBoth(t, "", nil, func(t world) {
		require.Equal(t, 9, nested(t, retry.Operation{}, retry.Operation{}, same))
		require.Equal(t, 3, nested(t, retry.Operation{}, retry.Operation{MaxAttempts: 7}, retry.Once))

		ctx, cancel := context.WithCancel(retry.Once(t.Context())) // also in a loop of one's own
		defer cancel()
		token := sent(ctx, t.T, t, retry.Operation{})
		_, err := t.RefreshRetryToken(ctx, token, errServer)
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		attempt, _ := retry.AttemptFrom(token.Context(ctx))
		require.Equal(t, retry.Attempt{Number: 1, Loops: 1, MaxAttempts: 1, Once: true}, attempt)
		attempt, ok := retry.AttemptFrom(ctx)
		require.True(t, ok)
		require.Equal(t, retry.Attempt{Once: true}, attempt)

		_, err = t.do(t.Context(), retry.Operation{}, func(ctx context.Context, _ int) error { // and without a token
			return retry.DoErr(retry.Once(ctx), denying{t}, retry.Operation{}, func(ctx context.Context) error {
				attempt, _ = retry.AttemptFrom(ctx)
				return nil
			})
		})
		require.NoError(t, err)
		require.Equal(t, retry.Attempt{Number: 1, Loops: 2, MaxAttempts: 3, Once: true}, attempt)
	})
}
