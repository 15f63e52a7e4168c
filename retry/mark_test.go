package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestMarkDecidesWhetherAnErrorIsRetried(t *testing.T) {
	t.Parallel()
	below := func(err error) error { return fmt.Errorf("reading: %w", err) }
	mark, permanent := retry.Mark(errBoom, classify.Transient), retry.Permanent(errServer)
	always, never := saying(classify.RetryAs(classify.Client)), saying(classify.Forbidden())
	for _, c := range []struct {
		name  string
		err   error
		own   classify.Classifier // of the operation
		is    error
		calls int
	}{
		{"no mark", errBoom, nil, errBoom, 1},
		{"a mark", mark, nil, errBoom, 3},
		{"a mark below another error", below(mark), nil, errBoom, 3},
		{"a mark, against the classifier of the operation", below(mark), never, errBoom, 3},
		{"a mark, against a classifier that is added", mark, classify.Also(never), errBoom, 3},
		{"a mark in joined errors", errors.Join(mark), nil, errBoom, 1},
		{"a permanent error", permanent, nil, errServer, 1},
		{"a permanent error below another one", below(permanent), nil, errServer, 1},
		{"a permanent error, against the classifier of the operation", below(permanent), always, errServer, 1},
		{"a permanent error in joined errors", errors.Join(errServer, retry.Permanent(errBoom)), always, errServer, 3},
		{"a permanent error of another loop", &retry.Error{Last: permanent}, always, errServer, 3},
		{"a mark of no kind", retry.Mark(errServer, classify.KindNone), nil, errServer, 1},
		{"a mark of no kind below another error", below(retry.Mark(errServer, classify.KindNone)), nil, errServer, 1},
		{"the outer of two marks", retry.Mark(permanent, classify.Server), nil, errServer, 3},
	} {
		inBoth(t, c.name, nil, func(t world) {
			calls, err := t.do(t.Context(), retry.Operation{Classifier: c.own}, func(context.Context, int) error { return c.err })
			require.ErrorIs(t, err, c.is)
			require.Equal(t, c.calls, calls)
		})
	}
}

func TestMarkComesOffWhatDoReturns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", nil)
	fails := func(err error) error {
		_, err = w.do(t.Context(), retry.Operation{MaxAttempts: 2}, always(err))
		return err
	}
	require.Equal(t, errBoom, fails(retry.Permanent(errBoom)))
	require.Equal(t, errBoom, fails(retry.Mark(errBoom, classify.KindNone)))
	require.Equal(t, errBoom, fails(retry.Permanent(retry.Mark(errBoom, classify.Timeout))), "nor does the mark below count")
	endless := &classify.JudgedError{Verdict: classify.Forbidden()}
	endless.Err = endless
	require.Equal(t, error(endless), fails(endless))

	refusal := play.Refusal(t, fails(retry.Mark(hintError(3*time.Second), classify.Timeout)))
	require.Equal(t, retry.ErrAttemptsExhausted, refusal.Reason)
	require.Equal(t, hintError(3*time.Second), refusal.Last)
	require.Equal(t, []time.Duration{3 * time.Second}, w.clk.Waits(), "its hint counts")

	require.NoError(t, retry.Mark(nil, classify.Throttling))
	require.NoError(t, retry.Permanent(nil))
}

type hintError time.Duration

func (hintError) Error() string                       { return "busy" }
func (e hintError) RetryAfter() (time.Duration, bool) { return time.Duration(e), true }

func TestMarkOfAnInnerLoopDoesNotCountInTheOuterOne(t *testing.T) {
	t.Parallel()
	mark := retry.Mark(errBoom, classify.Transient)
	for _, failure := range []error{mark, fmt.Errorf("reading: %w", mark)} {
		w := newWorld(t, "standard", nil)
		inner := 0
		outer, err := w.do(t.Context(), retry.Operation{}, func(ctx context.Context, _ int) error {
			return retry.DoErr(ctx, w, retry.Operation{}, func(context.Context) error { inner++; return failure })
		})
		require.ErrorIs(t, err, errBoom)
		require.Equal(t, []int{1, 3}, []int{outer, inner})
	}
}

// ruled returns an error that a rule keeps from being retried.
func ruled(err error) error {
	return &classify.JudgedError{Verdict: classify.Forbidden(), Err: err, Reason: errRule}
}

func TestRuleStopsARetryThatTheClassifiersAskFor(t *testing.T) {
	t.Parallel()
	marked, permanent := retry.Mark(errBoom, classify.Throttling), retry.Permanent(errServer)
	for _, c := range []struct {
		name   string
		fails  error
		limits bool  // the send rate
		reason error // of the event; nil for retry.ErrNotRetryable and the rule
		op     retry.Operation
		quota  int
		gone   bool // before the strategy decides
	}{
		{"a failure that is retried", errServer, false, nil, retry.Operation{}, 500, false},
		{"a throttle", errThrottled, true, nil, retry.Operation{}, 500, false},
		{"a failure that is marked", marked, true, nil, retry.Operation{}, 500, false},
		{"an empty quota", errServer, false, nil, retry.Operation{}, 0, false},
		{"a failure that is not retried", errClient, false, retry.ErrNotRetryable, retry.Operation{}, 500, false},
		{"a failure that is permanent", permanent, false, retry.ErrNotRetryable, retry.Operation{}, 500, false},
		{"no attempts left", errServer, false, retry.ErrAttemptsExhausted, retry.Operation{MaxAttempts: 1}, 500, false},
		{"a caller that has gone", errServer, false, retry.ErrCanceled, retry.Operation{}, 500, true},
	} {
		inBoth(t, c.name, func(config *standard.Config) { config.QuotaInitial = &c.quota }, func(t world) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls, err := t.do(ctx, c.op, func(context.Context, int) error {
				if c.gone {
					cancel()
				}
				return ruled(c.fails)
			})
			require.Equal(t, 1, calls)
			require.Equal(t, c.quota, t.quota())
			require.Equal(t, t.mode == "adaptive" && c.limits, t.Snapshot().Scopes[0].Limited)

			first, last := t.Events[0], t.Events[len(t.Events)-1]
			refused := t.Of(retry.RetryRefused)[0]
			require.Equal(t, []error{c.fails, c.fails}, []error{first.Err, refused.Err}, "without the rule")
			require.Equal(t, []retry.EventKind{retry.AttemptEnded, retry.OperationEnded}, []retry.EventKind{first.Kind, last.Kind})
			require.Equal(t, refused.Reason, last.Reason)
			if c.reason != nil {
				require.Equal(t, c.reason, refused.Reason)
				require.NotErrorIs(t, err, errRule)
				return
			}
			require.ErrorIs(t, refused.Reason, retry.ErrNotRetryable)
			require.ErrorIs(t, refused.Reason, errRule)
			require.Equal(t, classify.Default().Classify(classify.Outcome{Err: c.fails}), first.Verdict)
			refusal := err.(*retry.Error) //nolint:errorlint // nothing is around it
			require.Equal(t, retry.ErrNotRetryable, refusal.Reason)
			require.Equal(t, errRule, refusal.Detail)
			require.ErrorIs(t, c.fails, refusal.Last, "without its mark")
			require.Equal(t, 1, refusal.Attempts)
		})
	}
}

// readingError is an error with a type of its own around another one.
type readingError struct{ inner error }

func (w *readingError) Error() string { return "reading: " + w.inner.Error() }
func (w *readingError) Unwrap() error { return w.inner }

func TestRuleLeavesTheErrorAroundItAndThatBelowItAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "adaptive", nil)
	fails := func(err error) error {
		_, err = w.do(t.Context(), retry.Operation{}, always(err))
		return err
	}
	require.Equal(t, errClient, fails(ruled(errClient)))
	require.EqualError(t, fails(ruled(errServer)),
		"retry: client-side: failure is not retryable: rule: not sent again: last error: status (1 attempt)")
	failure := &readingError{ruled(errServer)}
	refusal := play.Refusal(t, fails(failure))
	require.Equal(t, errRule, refusal.Detail)
	require.Same(t, failure, refusal.Last)
	require.False(t, w.Snapshot().Scopes[0].Limited)
	for _, verdict := range []classify.Verdict{classify.Forbidden(), {}} { // the limiter hears of a throttle all the same
		w = newWorld(t, "adaptive", nil)
		require.Equal(t, errThrottled, fails(&classify.JudgedError{Verdict: verdict, Err: errThrottled}))
		require.True(t, w.Snapshot().Scopes[0].Limited)
	}
}
