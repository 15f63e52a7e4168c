package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var errBoom = errors.New("boom")

func TestMarkDecidesWhetherAnErrorIsRetried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		err   error
		is    error
		calls int
	}{
		{"no mark", errBoom, errBoom, 1},
		{"a mark", retry.Mark(errBoom, classify.Transient), errBoom, 3},
		{"a mark below another error", fmt.Errorf("reading: %w", retry.Mark(errBoom, classify.Transient)), errBoom, 3},
		{"a mark in joined errors", errors.Join(retry.Mark(errBoom, classify.Transient)), errBoom, 1},
		{"a permanent error", retry.Permanent(errServer), errServer, 1},
		{"a permanent error below another one", fmt.Errorf("reading: %w", retry.Permanent(errServer)), errServer, 1},
		{"a mark of no kind", retry.Mark(errServer, classify.KindNone), errServer, 1},
		{"a mark of no kind below another error", fmt.Errorf("reading: %w", retry.Mark(errServer, classify.KindNone)), errServer, 1},
		{"the outer of two marks", retry.Mark(retry.Permanent(errServer), classify.Server), errServer, 3},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				calls := 0
				clk.Run(func() {
					err := retry.DoErr(t.Context(), modes(t, clk, nil)[mode], retry.Operation{}, func(context.Context) error {
						calls++
						return c.err
					})
					require.ErrorIs(t, err, c.is)
				})
				require.Equal(t, c.calls, calls)
			})
		}
	}
}

func TestMarkComesOffWhatDoReturns(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	fails := func(err error) error {
		return retry.DoErr(t.Context(), s, retry.Operation{MaxAttempts: 1}, func(context.Context) error { return err })
	}
	require.Equal(t, errBoom, fails(retry.Permanent(errBoom)))
	require.Equal(t, errBoom, fails(retry.Mark(errBoom, classify.KindNone)))
	require.Equal(t, errBoom, fails(retry.Permanent(retry.Mark(errBoom, classify.Timeout))), "nor does the mark below count")
	endless := &classify.JudgedError{Verdict: classify.Forbidden()}
	endless.Err = endless
	require.Equal(t, error(endless), fails(endless))

	var refusal *retry.Error
	require.ErrorAs(t, fails(retry.Mark(errBoom, classify.Timeout)), &refusal)
	require.Equal(t, retry.ErrAttemptsExhausted, refusal.Reason)
	require.Equal(t, errBoom, refusal.Last)
}

func TestMarkOfAnInnerLoopDoesNotCountInTheOuterOne(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]func(error) error{
		"as it is": func(err error) error { return retry.Mark(err, classify.Transient) },
		"wrapped":  func(err error) error { return fmt.Errorf("reading: %w", retry.Mark(err, classify.Transient)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := modes(t, clk, nil)["standard"]
			inner, outer := 0, 0
			clk.Run(func() {
				err := retry.DoErr(t.Context(), s, retry.Operation{}, func(ctx context.Context) error {
					outer++
					return retry.DoErr(ctx, s, retry.Operation{}, func(context.Context) error {
						inner++
						return mark(errBoom)
					})
				})
				require.ErrorIs(t, err, errBoom)
			})
			require.Equal(t, []int{1, 3}, []int{outer, inner})
		})
	}
}

func TestMarkCountsAfterAnAttemptTimeout(t *testing.T) {
	t.Parallel()
	again := func(err error) error { return retry.Mark(err, classify.Throttling) }
	for _, c := range []struct {
		name  string
		mark  func(error) error
		calls int
		kind  classify.Kind
	}{
		{"no mark", func(err error) error { return err }, 3, classify.Timeout},
		{"a mark", again, 3, classify.Throttling},
		{"a permanent error", retry.Permanent, 1, classify.KindNone},
		{"a mark of no kind", func(err error) error { return retry.Mark(err, classify.KindNone) }, 1, classify.KindNone},
		{"a permanent error below another one", func(err error) error { return fmt.Errorf("reading: %w", retry.Permanent(err)) }, 1, classify.KindNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			calls, kind := 0, classify.Kind(99)
			s := modes(t, clk, func(config *standard.Config) {
				config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.AttemptEnded {
						kind = e.Verdict.Kind()
					}
				})
			})["standard"]
			clk.Run(func() {
				err := retry.DoErr(t.Context(), s, retry.Operation{}, func(ctx context.Context) error {
					calls++
					_ = clk.Await(ctx, nil)
					return c.mark(ctx.Err())
				}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
				var timeout *retry.AttemptTimeoutError
				require.ErrorAs(t, err, &timeout)
				require.ErrorContains(t, err, "attempt timed out after 1s")
			})
			require.Equal(t, c.calls, calls)
			require.Equal(t, c.kind, kind)
		})
	}
}

func TestHintOfAMarkedErrorCounts(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	clk.Run(func() {
		_ = retry.DoErr(t.Context(), modes(t, clk, nil)["standard"], retry.Operation{MaxAttempts: 2}, func(context.Context) error {
			return retry.Mark(hintError(3*time.Second), classify.Transient)
		})
	})
	require.Equal(t, []time.Duration{3 * time.Second}, clk.Waits())
}

type hintError time.Duration

func (hintError) Error() string                       { return "busy" }
func (e hintError) RetryAfter() (time.Duration, bool) { return time.Duration(e), true }

func TestMarkOfNilIsNil(t *testing.T) {
	t.Parallel()
	require.NoError(t, retry.Mark(nil, classify.Throttling))
	require.NoError(t, retry.Permanent(nil))
}

func TestDoErrWithoutAFunctionIsAnError(t *testing.T) {
	t.Parallel()
	require.EqualError(t, retry.DoErr(t.Context(), denying{}, retry.Operation{}, nil), "retry: Do needs a function")
}

func TestPolicyOfDoErrJudgesErrors(t *testing.T) {
	t.Parallel()
	calls := 0
	err := retry.DoErr(t.Context(), modes(t, &clock.Fake{}, nil)["standard"], retry.Operation{},
		func(context.Context) error { calls++; return errServer },
		retry.WithPolicy(func(struct{}, error) error { return nil }))
	require.NoError(t, err)
	require.Equal(t, 1, calls)
}
