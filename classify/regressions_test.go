package classify_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestATransientCodeLeavesAThrottlingStatusAThrottle(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"RequestTimeout", "RequestTimeoutException"} {
		err := errors.Join(statusError(http.StatusTooManyRequests), codeError(code))
		require.Equal(t, classify.RetryAs(classify.Throttling), verdictOf(err), code)
	}
}

func TestTemporaryNetworkErrorsAreTransient(t *testing.T) {
	t.Parallel()
	require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(opError("read", temporaryError{})))
}

func TestCanceledDial(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, classify.Verdict{}, verdictOf(err), err)
}

func TestCanceledLookup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	}}
	_, err := resolver.LookupHost(ctx, "service.invalid")
	require.Error(t, err)
	require.Equal(t, classify.Verdict{}, verdictOf(err), "%v, is canceled: %t", err, errors.Is(err, context.Canceled))
}

func TestTimeoutsBelowAnErrorThatSaysItIsNone(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("middleware: %w", opError("read", os.ErrDeadlineExceeded))
	for name, err := range map[string]error{
		"in a request":   &url.Error{Op: "Get", Err: wrapped},
		"in an op":       opError("read", wrapped),
		"beside another": errors.Join(&url.Error{Op: "Get", Err: errors.New("other")}, timeoutError{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, classify.RetryAs(classify.Timeout), verdictOf(err))
		})
	}
}

func TestGarbageAfterTooManyDigitsIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"184467440737095516160x", "99999999999999999999999 ms", "99999999999999999999999-"} {
		after, ok := classify.ParseRetryAfterMillis(value)
		require.False(t, ok, value)
		require.Zero(t, after, value)
	}
}

func TestForbiddenBeforeTheChainStays(t *testing.T) {
	t.Parallel()
	o := classify.Outcome{Err: statusError(503), Previous: classify.Forbidden()}
	require.Equal(t, classify.Forbidden(), classify.Default().Classify(o))
}
