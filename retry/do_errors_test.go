package retry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
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

func TestOddErrorsAreFailuresWithoutAnOpinion(t *testing.T) {
	t.Parallel()
	for name, err := range odd() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := classify.Outcome{Err: err}
			for _, chain := range []*classify.Chain{classify.Default(), classify.AWSCompatible()} {
				require.Equal(t, classify.Verdict{}, chain.Classify(o))
				verdict, _ := chain.Explain(o)
				require.Equal(t, classify.Verdict{}, verdict)
			}
			for _, c := range []classify.Classifier{
				classify.Status(), classify.Code(), classify.Skew(), classify.Traits(true), classify.Also(),
			} {
				require.Equal(t, classify.Verdict{}, c.Classify(o))
			}
			marked := retry.Mark(err, classify.Server)
			require.Equal(t, classify.RetryAs(classify.Server), classify.Outcome{Err: marked}.Judge(classify.Default(), nil))
			joined := errors.Join(errServer, err)
			require.Equal(t, classify.RetryAs(classify.Transient), classify.Outcome{Err: joined}.Judge(classify.Default(), nil))
			require.NotEmpty(t, marked.Error())
		})
	}
}

// outcome is how an operation went.
type outcome struct {
	err   error
	calls int
	kinds []retry.EventKind
	log   string
}

// fail makes an operation of which each attempt fails, on a strategy whose observers are those of the core.
func fail(ctx context.Context, t *testing.T, mode string, failure error, opts ...retry.Option) outcome {
	t.Helper()
	var got outcome
	var log bytes.Buffer
	clk := &clock.Fake{}
	s := modes(t, clk, func(c *standard.Config) {
		c.Observer = retry.Observers(
			retry.SlogObserver{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))},
			retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				_, _ = e.Outcome(), e.ErrorType()
				got.kinds = append(got.kinds, e.Kind)
			}))
	})[mode]
	clk.Run(func() {
		_, got.err = retry.Do(ctx, s, retry.Operation{}, func(ctx context.Context) (int, error) {
			got.calls++
			if len(opts) > 0 {
				_ = clk.Await(ctx, nil)
			}
			return 0, failure
		}, opts...)
	})
	got.log = log.String()
	return got
}

func TestOddErrorsOfAFunctionEndTheOperation(t *testing.T) {
	t.Parallel()
	for name, err := range odd() {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				final := fail(t.Context(), t, mode, err)
				require.Equal(t, 1, final.calls)
				require.Equal(t, fmt.Sprintf("%#v", err), fmt.Sprintf("%#v", final.err), "it comes back as it is")
				require.Equal(t, []retry.EventKind{retry.AttemptEnded, retry.RetryRefused, retry.OperationEnded}, final.kinds)

				late := fail(t.Context(), t, mode, err, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
				require.Equal(t, 1, late.calls)

				marked := fail(t.Context(), t, mode, retry.Mark(err, classify.Timeout))
				require.Equal(t, 3, marked.calls)
				refusal, ok := marked.err.(*retry.Error) //nolint:errorlint // errors.As would ask the odd error
				require.True(t, ok)
				require.Contains(t, refusal.Error(), "retry: client-side: attempts exhausted: last error: ")
				require.False(t, refusal.Timeout())
				require.Contains(t, marked.log, "level=INFO msg=retry kind=timeout")
				require.Contains(t, marked.log, `level=WARN msg="retry refused"`)

				permanent := fail(t.Context(), t, mode, retry.Permanent(err))
				require.Equal(t, 1, permanent.calls)
			})
		}
	}
}

func TestOddCausesOfAContextEndTheOperation(t *testing.T) {
	t.Parallel()
	for name, cause := range odd() {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				for _, failure := range []error{errServer, cause, context.Canceled} {
					ctx, cancel := context.WithCancelCause(t.Context())
					s := modes(t, &clock.Fake{}, nil)[mode]
					_, err := retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) {
						cancel(cause)
						return 0, failure
					})
					if refusal, ok := err.(*retry.Error); ok { //nolint:errorlint // errors.As would ask the odd error
						require.Equal(t, retry.ErrCanceled, refusal.Reason)
						require.Contains(t, refusal.Error(), "canceled by the caller: context canceled")
					} else {
						require.Equal(t, fmt.Sprintf("%#v", cause), fmt.Sprintf("%#v", err), "no opinion on it")
					}
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				cancel(cause)
				got := fail(ctx, t, mode, errServer)
				require.Zero(t, got.calls)
				require.ErrorContains(t, got.err, "canceled by the caller: context canceled")
			})
		}
	}
}
