package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func TestErrorSaysThatTheClientGaveUpWhyAndWhere(t *testing.T) {
	t.Parallel()
	orders := retry.Operation{Scope: "orders"}.Key()
	cause := errors.New("shutting down")
	for _, c := range []struct {
		name string
		err  *retry.Error
		want string
	}{
		{
			"quota",
			&retry.Error{
				Reason: retry.ErrQuotaExhausted, Scope: orders, Attempts: 2, Elapsed: time.Second,
				Available: 4, Needed: 5, Last: errServer,
			},
			`retry: client-side: retry quota exhausted: last error: status (2 attempts, 1s, 4 of 5 quota tokens, scope "orders")`,
		},
		{
			"attempts",
			&retry.Error{Reason: retry.ErrAttemptsExhausted, Attempts: 3, MaxAttempts: 3, Last: errServer},
			"retry: client-side: attempts exhausted: last error: status (3 attempts of 3)",
		},
		{
			"attempts, of a number that is not known",
			&retry.Error{Reason: retry.ErrAttemptsExhausted, Attempts: 3, Last: errServer},
			"retry: client-side: attempts exhausted: last error: status (3 attempts)",
		},
		{
			"cancellation without a cause",
			(&retry.Error{Reason: retry.ErrCanceled, Attempts: 1}).Because(ended(nil)),
			"retry: client-side: canceled by the caller: context canceled (1 attempt)",
		},
		{
			"deadline",
			&retry.Error{Reason: retry.ErrDeadline, Attempts: 1, Wait: 2 * time.Second, Detail: context.DeadlineExceeded, Last: errServer},
			"retry: client-side: wait would end after the caller's deadline: context deadline exceeded: last error: status (1 attempt, 2s to wait)",
		},
		{
			"cancellation",
			(&retry.Error{Reason: retry.ErrCanceled}).Because(ended(cause)),
			"retry: client-side: canceled by the caller: context canceled: shutting down (0 attempts)",
		},
		{
			"cancellation that is added twice",
			(&retry.Error{Reason: retry.ErrCanceled}).Because(ended(cause)).Because(ended(cause)),
			"retry: client-side: canceled by the caller: context canceled: shutting down (0 attempts)",
		},
		{
			"a cause beside the end that is there",
			(&retry.Error{Reason: retry.ErrDeadline, Detail: context.Canceled}).Because(ended(cause)),
			"retry: client-side: wait would end after the caller's deadline: context canceled: shutting down (0 attempts)",
		},
		{
			"an end beside the cause that is there",
			(&retry.Error{Reason: retry.ErrCanceled, Detail: cause}).Because(ended(cause)),
			"retry: client-side: canceled by the caller: context canceled: shutting down (0 attempts)",
		},
		{
			"a context that has not ended",
			(&retry.Error{Reason: retry.ErrCanceled, Detail: cause}).Because(context.Background()),
			"retry: client-side: canceled by the caller: shutting down (0 attempts)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.EqualError(t, c.err, c.want)
		})
	}
}

func ended(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}

func TestTimeoutOfAnError(t *testing.T) {
	t.Parallel()
	slow := &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	for _, c := range []struct {
		name string
		err  *retry.Error
		want bool
	}{
		{"the caller's deadline", &retry.Error{Reason: retry.ErrDeadline, Detail: context.DeadlineExceeded}, true},
		{"the caller's cancel", &retry.Error{Reason: retry.ErrCanceled, Detail: context.Canceled}, false},
		{"the last attempt", &retry.Error{Reason: retry.ErrQuotaExhausted, Last: fmt.Errorf("get: %w", slow)}, true},
		{"another last attempt", &retry.Error{Reason: retry.ErrQuotaExhausted, Last: io.EOF}, false},
		{"no attempt", &retry.Error{Reason: retry.ErrSendRateLimited}, false},
		{"the deadline of an inner operation", &retry.Error{Reason: retry.ErrMaxElapsed, Last: &retry.Error{Reason: retry.ErrDeadline, Detail: context.DeadlineExceeded}}, true},
		{"the last attempt of an inner operation", &retry.Error{Reason: retry.ErrMaxElapsed, Last: &retry.Error{Last: slow}}, true},
		{"below what another client wrapped", &retry.Error{Reason: retry.ErrMaxElapsed, Last: &url.Error{Op: "Get", Err: fmt.Errorf("get: %w", slow)}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.err.Timeout())
			require.Equal(t, c.want, (&url.Error{Op: "Get", Err: c.err}).Timeout())
		})
	}
}

func TestErrorsWithoutReasonsHaveNone(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("plain"), hotKeyError{}, circle{}, &retry.Error{}, &retry.Error{Last: hotKeyError{}}} {
		require.Empty(t, retry.Event{Err: err}.ThrottledBy(), "%v", err)
		require.Empty(t, (&retry.Error{Last: err}).ThrottledBy(), "%v", err)
	}
}
