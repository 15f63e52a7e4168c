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

func TestMarkDecidesWhetherAnErrorIsRetried(t *testing.T) {
	t.Parallel()
	below := func(err error) error { return fmt.Errorf("reading: %w", err) }
	for _, c := range []struct {
		name  string
		err   error
		own   classify.Classifier // of the operation
		is    error
		calls int
	}{
		{"no mark", errBoom, nil, errBoom, 1},
		{"a mark", retry.Mark(errBoom, classify.Transient), nil, errBoom, 3},
		{"a mark below another error", below(retry.Mark(errBoom, classify.Transient)), nil, errBoom, 3},
		{"a mark, against the classifier of the operation", below(retry.Mark(errBoom, classify.Transient)), never{}, errBoom, 3},
		{"a mark, against a classifier that is added", retry.Mark(errBoom, classify.Transient), classify.Also(never{}), errBoom, 3},
		{"a mark in joined errors", errors.Join(retry.Mark(errBoom, classify.Transient)), nil, errBoom, 1},
		{"a permanent error", retry.Permanent(errServer), nil, errServer, 1},
		{"a permanent error below another one", below(retry.Permanent(errServer)), nil, errServer, 1},
		{"a permanent error, against the classifier of the operation", below(retry.Permanent(errServer)), always{}, errServer, 1},
		{"a permanent error in joined errors", errors.Join(errServer, retry.Permanent(errBoom)), always{}, errServer, 3},
		{"a permanent error of another loop", &retry.Error{Last: retry.Permanent(errServer)}, always{}, errServer, 3},
		{"a mark of no kind", retry.Mark(errServer, classify.KindNone), nil, errServer, 1},
		{"a mark of no kind below another error", below(retry.Mark(errServer, classify.KindNone)), nil, errServer, 1},
		{"the outer of two marks", retry.Mark(retry.Permanent(errServer), classify.Server), nil, errServer, 3},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				calls := 0
				clk.Run(func() {
					err := retry.DoErr(t.Context(), modes(t, clk, nil)[mode], retry.Operation{Classifier: c.own}, func(context.Context) error {
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

func TestRuleStopsARetryThatTheClassifiersAskFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		fails    error
		throttle bool
		reason   error // of the event; nil for retry.ErrNotRetryable and the rule
		op       retry.Operation
		quota    int
		gone     bool // before the strategy decides
	}{
		{name: "a failure that is retried", fails: errServer, quota: 500},
		{name: "a throttle", fails: statusError(429), throttle: true, quota: 500},
		{name: "a failure that is marked", fails: retry.Mark(errBoom, classify.Throttling), throttle: true, quota: 500},
		{name: "an empty quota", fails: errServer},
		{name: "a failure that is not retried", fails: errClient, reason: retry.ErrNotRetryable, quota: 500},
		{name: "a failure that is permanent", fails: retry.Permanent(errServer), reason: retry.ErrNotRetryable, quota: 500},
		{name: "no attempts left", fails: errServer, reason: retry.ErrAttemptsExhausted, op: retry.Operation{MaxAttempts: 1}, quota: 500},
		{name: "a caller that has gone", fails: errServer, reason: retry.ErrCanceled, gone: true, quota: 500},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				var events []retry.Event
				s := modes(t, &clock.Fake{}, func(config *standard.Config) {
					config.QuotaInitial = &c.quota
					config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) })
				})[mode]
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				calls := 0
				err := retry.DoErr(ctx, s, c.op, func(context.Context) error {
					calls++
					if c.gone {
						cancel()
					}
					return ruled(c.fails)
				})
				require.Equal(t, 1, calls)
				require.Equal(t, c.quota, s.Snapshot().Scopes[0].Quota)
				require.Equal(t, mode == "adaptive" && c.throttle, s.Snapshot().Scopes[0].Limited)

				require.Equal(t, retry.AttemptEnded, events[0].Kind)
				require.Equal(t, c.fails, events[0].Err, "without the rule")
				refused, last := events[len(events)-2], events[len(events)-1]
				require.Equal(t, retry.RetryRefused, refused.Kind)
				require.Equal(t, c.fails, refused.Err)
				for _, e := range events[1 : len(events)-2] {
					require.Equal(t, retry.SendRateChanged, e.Kind)
				}
				require.Equal(t, retry.OperationEnded, last.Kind)
				require.Equal(t, refused.Reason, last.Reason)
				if c.reason != nil {
					require.Equal(t, c.reason, refused.Reason)
					require.NotErrorIs(t, err, errRule)
					return
				}
				require.ErrorIs(t, refused.Reason, retry.ErrNotRetryable)
				require.ErrorIs(t, refused.Reason, errRule)
				require.Equal(t, classify.Default().Classify(classify.Outcome{Err: c.fails}), events[0].Verdict)
				refusal, ok := err.(*retry.Error) //nolint:errorlint // nothing is around it
				require.True(t, ok, err)
				require.Equal(t, retry.ErrNotRetryable, refusal.Reason)
				require.Equal(t, errRule, refusal.Detail)
				require.ErrorIs(t, c.fails, refusal.Last, "without its mark")
				require.Equal(t, 1, refusal.Attempts)
			})
		}
	}
}

func TestRuleThatStopsNothingLeavesTheErrorAsItIs(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	fails := func(err error) error {
		return retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { return err })
	}
	require.Equal(t, errClient, fails(ruled(errClient)))
	require.EqualError(t, fails(ruled(errServer)),
		"retry: client-side: failure is not retryable: rule: not sent again: last error: status (1 attempt)")
}

// readingError is an error with a type of its own around another one.
type readingError struct{ inner error }

func (w *readingError) Error() string { return "reading: " + w.inner.Error() }
func (w *readingError) Unwrap() error { return w.inner }

func TestErrorAroundARuleIsNotLost(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	failure := &readingError{ruled(errServer)}
	err := retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { return failure })
	var refusal *retry.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, errRule, refusal.Detail)
	require.Same(t, failure, refusal.Last)
}

func TestLimiterHearsOfAThrottleWhoseMarkAsksForNoRetry(t *testing.T) {
	t.Parallel()
	for name, verdict := range map[string]classify.Verdict{"forbidden": classify.Forbidden(), "no opinion": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modes(t, &clock.Fake{}, nil)["adaptive"]
			calls := 0
			err := retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error {
				calls++
				return &classify.JudgedError{Verdict: verdict, Err: statusError(429)}
			})
			require.Equal(t, statusError(429), err)
			require.Equal(t, 1, calls)
			require.True(t, s.Snapshot().Scopes[0].Limited)
		})
	}
}
