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

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

func TestErrorSaysWhoWhyAndWhere(t *testing.T) {
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
			`client-side: retry quota exhausted in scope "orders" (4 available, 5 needed) after 2 attempts and 1s: last error: status`,
		},
		{
			"attempts",
			&retry.Error{Reason: retry.ErrAttemptsExhausted, Attempts: 3, MaxAttempts: 3, Last: errServer},
			"client-side: attempts exhausted (3 allowed) after 3 attempts: last error: status",
		},
		{
			"attempts, of which nobody knows how many are allowed",
			&retry.Error{Reason: retry.ErrAttemptsExhausted, Attempts: 3, Last: errServer},
			"client-side: attempts exhausted after 3 attempts: last error: status",
		},
		{
			"cancellation without a cause",
			(&retry.Error{Reason: retry.ErrCanceled, Attempts: 1}).Because(ended(nil)),
			"client-side: canceled by the caller after 1 attempt: context canceled",
		},
		{
			"deadline",
			&retry.Error{Reason: retry.ErrDeadline, Attempts: 1, Wait: 2 * time.Second, Canceled: context.DeadlineExceeded, Last: errServer},
			"client-side: wait would end after the caller's deadline (2s to wait) after 1 attempt: context deadline exceeded: last error: status",
		},
		{
			"cancellation",
			(&retry.Error{Reason: retry.ErrCanceled}).Because(ended(cause)),
			"client-side: canceled by the caller after 0 attempts: context canceled: shutting down",
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

func TestErrorOfDoTellsElapsedTimeAndAttempts(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	var err error
	moving(t, clk, func() {
		_, err = retry.Do(t.Context(), s, retry.Operation{}, func(context.Context) (int, error) { return 0, errServer })
	})
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 3, refusal.Attempts)
	require.Equal(t, 3*time.Second, refusal.Elapsed)
}

func TestTimeoutOfAnError(t *testing.T) {
	t.Parallel()
	slow := &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	for _, c := range []struct {
		name string
		err  *retry.Error
		want bool
	}{
		{"the caller's deadline", &retry.Error{Reason: retry.ErrDeadline, Canceled: context.DeadlineExceeded}, true},
		{"the caller's cancel", &retry.Error{Reason: retry.ErrCanceled, Canceled: context.Canceled}, false},
		{"the last attempt", &retry.Error{Reason: retry.ErrQuotaExhausted, Last: fmt.Errorf("get: %w", slow)}, true},
		{"another last attempt", &retry.Error{Reason: retry.ErrQuotaExhausted, Last: io.EOF}, false},
		{"no attempt", &retry.Error{Reason: retry.ErrSendRateLimited}, false},
		{"the deadline of an inner operation", &retry.Error{Reason: retry.ErrMaxElapsed, Last: &retry.Error{Reason: retry.ErrDeadline, Canceled: context.DeadlineExceeded}}, true},
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
