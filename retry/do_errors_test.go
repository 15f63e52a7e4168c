package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// fielded is an error whose methods read a field, so that those of a nil pointer panic.
type fielded struct {
	name  string
	inner error
}

func (n *fielded) Error() string                     { return n.name }
func (n *fielded) Unwrap() error                     { return n.inner }
func (n *fielded) Is(error) bool                     { return n.name == "is" }
func (n *fielded) As(any) bool                       { return n.name == "as" }
func (n *fielded) Timeout() bool                     { return n.name == "timeout" }
func (n *fielded) ErrorCode() string                 { return n.name }
func (n *fielded) Service() string                   { return n.name }
func (n *fielded) RetryAfter() (time.Duration, bool) { return 0, n.name == "after" }

// listed is an error that cannot be compared.
type listed []error

func (listed) Error() string { return "listed" }

// holding is an error that can be compared only if what it holds can.
type holding struct{ what any }

func (holding) Error() string { return "holding" }

// odd are errors that panic when they are asked, or compared.
func odd() map[string]error {
	return map[string]error{
		"nil pointer of the net package":  (*net.OpError)(nil),
		"nil pointer of a type":           (*fielded)(nil),
		"nil pointer in an url.Error":     &url.Error{Op: "Get", URL: "http://service", Err: (*fielded)(nil)},
		"nil pointer that is wrapped":     fmt.Errorf("wrap: %w", (*fielded)(nil)),
		"nil pointer among joined errors": errors.Join((*fielded)(nil), (*net.DNSError)(nil)),
		"nil mark":                        (*classify.JudgedError)(nil),
		"nil error of a loop":             (*retry.Error)(nil),
		"nothing in a struct":             struct{ error }{},
		"not to be compared":              listed{errClient},
		"not to be compared in a struct":  holding{[]int{1}},
	}
}

func TestOddErrorsOfAFunctionEndTheOperation(t *testing.T) {
	t.Parallel()
	for name, err := range odd() {
		logger := slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}))
		inBoth(t, name, func(c *standard.Config) {
			asks := retry.ObserverFunc(func(_ context.Context, e retry.Event) { _, _ = e.Outcome(), e.ErrorType() })
			c.Observer = retry.Observers(c.Observer, retry.SlogObserver{Logger: logger}, asks)
		}, func(t world) {
			calls, final := t.do(t.Context(), retry.Operation{}, always(err))
			require.Equal(t, 1, calls)
			require.Equal(t, fmt.Sprintf("%#v", err), fmt.Sprintf("%#v", final), "it comes back as it is")
			kinds := []retry.EventKind{t.Events[0].Kind, t.Events[1].Kind, t.Events[2].Kind}
			require.Equal(t, []retry.EventKind{retry.AttemptEnded, retry.RetryRefused, retry.OperationEnded}, kinds)

			calls, _ = t.do(t.Context(), retry.Operation{}, func(ctx context.Context, _ int) error {
				_ = t.clk.Await(ctx, nil)
				return err
			}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
			require.Equal(t, 1, calls)

			calls, final = t.do(t.Context(), retry.Operation{}, always(retry.Mark(err, classify.Timeout)))
			require.Equal(t, 3, calls)
			refusal, ok := final.(*retry.Error) //nolint:errorlint // errors.As would ask the odd error
			require.True(t, ok)
			require.Contains(t, refusal.Error(), "retry: client-side: attempts exhausted: last error: ")
			require.False(t, refusal.Timeout())

			calls, _ = t.do(t.Context(), retry.Operation{}, always(retry.Permanent(err)))
			require.Equal(t, 1, calls)
		})
	}
}

func TestOddCausesOfAContextEndTheOperation(t *testing.T) {
	t.Parallel()
	for name, cause := range odd() {
		inBoth(t, name, nil, func(t world) {
			for _, failure := range []error{errServer, cause, context.Canceled} {
				ctx, cancel := context.WithCancelCause(t.Context())
				_, err := t.do(ctx, retry.Operation{}, func(context.Context, int) error { cancel(cause); return failure })
				if refusal, ok := err.(*retry.Error); ok { //nolint:errorlint // errors.As would ask the odd error
					require.Equal(t, retry.ErrCanceled, refusal.Reason)
					require.Contains(t, refusal.Error(), "canceled by the caller: context canceled")
				} else {
					require.Equal(t, fmt.Sprintf("%#v", cause), fmt.Sprintf("%#v", err), "no opinion on it")
				}
				calls, err := t.do(ctx, retry.Operation{}, always(errServer))
				require.Zero(t, calls)
				require.ErrorContains(t, err, "canceled by the caller: context canceled")
			}
		})
	}
}
