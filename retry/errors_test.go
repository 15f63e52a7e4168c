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
	canceled := func(detail error, ends ...context.Context) *retry.Error {
		e := &retry.Error{Reason: retry.ErrCanceled, Detail: detail}
		for _, ctx := range ends {
			e = e.Complete(ctx, 0)
		}
		return e
	}
	exhausted := &retry.Error{Reason: retry.ErrAttemptsExhausted, Attempts: 3, MaxAttempts: 3, Last: errServer}
	unknown := *exhausted
	unknown.MaxAttempts = 0
	text := map[string]*retry.Error{
		`retry quota exhausted: last error: status (2 attempts, 1s, 4 of 5 quota tokens, 1 in the pool, scope "orders")`: {
			Reason: retry.ErrQuotaExhausted, Scope: orders, Attempts: 2, Elapsed: time.Second,
			Available: 4, Pool: 1, Needed: 5, Last: errServer,
		},
		"retry quota exhausted: last error: status (0 attempts, 1 poll, 0 of 1 quota tokens, 2s asked for by the server)": {
			Reason: retry.ErrQuotaExhausted, Polls: 1, Needed: 1, Last: errServer, Hint: 2 * time.Second,
		},
		"retry quota exhausted: debt limit: last error: status (1 attempt, 486 quota tokens, 14 needed)": {
			Reason: retry.ErrQuotaExhausted, Detail: retry.ErrDebtLimit, Attempts: 1, Available: 486, Needed: 14, Last: errServer,
		},
		"attempts exhausted: last error: status (3 attempts of 3)": exhausted,
		"attempts exhausted: last error: status (3 attempts)":      &unknown,
		"wait would end after the caller's deadline: last error: status (1 attempt, 2s to wait)": {
			Reason: retry.ErrDeadline, Attempts: 1, Wait: 2 * time.Second, Last: errServer,
		},
		"canceled by the caller: context canceled (0 attempts)":                canceled(nil, ended(nil)),
		"canceled by the caller: context canceled: shutting down (0 attempts)": canceled(nil, ended(cause)),
		"canceled by the caller: shutting down (0 attempts)":                   canceled(cause, context.Background()),
	}
	for want, err := range text {
		require.EqualError(t, err, "retry: client-side: "+want)
	}
	for name, err := range map[string]*retry.Error{
		"the end is added twice":                   canceled(nil, ended(cause), ended(cause)),
		"a cause beside the end that is there":     canceled(context.Canceled, ended(cause)),
		"an end beside the cause that is there":    canceled(cause, ended(cause)),
		"nothing after a context that is not done": canceled(nil, ended(cause), context.Background()),
	} {
		require.EqualError(t, err, "retry: client-side: canceled by the caller: context canceled: shutting down (0 attempts)", name)
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
	deadline := retry.Error{Reason: retry.ErrDeadline, Detail: context.DeadlineExceeded}
	for name, c := range map[string]struct {
		err  retry.Error
		want bool
	}{
		"the caller's deadline":                  {deadline, true},
		"the caller's cancel":                    {retry.Error{Detail: context.Canceled}, false},
		"the last attempt":                       {retry.Error{Last: fmt.Errorf("get: %w", slow)}, true},
		"another last attempt":                   {retry.Error{Last: io.EOF}, false},
		"no attempt":                             {retry.Error{Reason: retry.ErrSendRateLimited}, false},
		"the deadline of an inner operation":     {retry.Error{Last: &deadline}, true},
		"the last attempt of an inner operation": {retry.Error{Last: &retry.Error{Last: slow}}, true},
		"below what another client wrapped":      {retry.Error{Last: &url.Error{Err: fmt.Errorf("get: %w", slow)}}, true},
	} {
		require.Equal(t, c.want, c.err.Timeout(), name)
		require.Equal(t, c.want, (&url.Error{Op: "Get", Err: &c.err}).Timeout(), name)
	}
}

func TestErrorsWithoutReasonsHaveNone(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("plain"), hotKeyError{}, circle{}, &retry.Error{}, &retry.Error{Last: hotKeyError{}}} {
		require.Empty(t, retry.Event{Err: err}.ThrottledBy(), "%v", err)
		require.Empty(t, (&retry.Error{Last: err}).ThrottledBy(), "%v", err)
	}
}
