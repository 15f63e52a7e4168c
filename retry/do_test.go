package retry_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// counting counts the calls that a strategy accepts.
type counting struct {
	retry.Strategy
	mu                                              sync.Mutex
	acquired, granted, refused, successes, failures int
	lastFailure                                     error
}

func (c *counting) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	c.count(&c.acquired)
	return c.Strategy.AcquireInitialToken(ctx, op)
}

func (c *counting) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	next, err := c.Strategy.RefreshRetryToken(ctx, t, failure)
	if err == nil {
		c.count(&c.granted)
	} else {
		c.count(&c.refused)
	}
	return next, err
}

func (c *counting) RecordSuccess(t retry.Token) error {
	c.count(&c.successes)
	return c.Strategy.RecordSuccess(t)
}

func (c *counting) RecordFailure(t retry.Token, failure error) error {
	err := c.Strategy.RecordFailure(t, failure)
	if err == nil {
		c.count(&c.failures)
		c.lastFailure = failure
	}
	return err
}

func (c *counting) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

type panicking struct{}

func (panicking) Name() string                               { return "panicking" }
func (panicking) Classify(classify.Outcome) classify.Verdict { panic("classifier") }

func TestEveryOperationEndsExactlyOnce(t *testing.T) {
	t.Parallel()
	type counts struct{ granted, refused, successes, failures int }
	for _, c := range []struct {
		name string
		// op is the n-th attempt, from 1; cancel ends the caller's context.
		op         func(n int, cancel func()) error
		classifier classify.Classifier
		with       retry.Operation
		cancelled  bool
		deadline   time.Duration
		panics     any
		want       counts
	}{
		{name: "success", op: func(int, func()) error { return nil }, want: counts{successes: 1}},
		{
			name: "success after retries",
			op: func(n int, _ func()) error {
				if n < 3 {
					return errServer
				}
				return nil
			},
			want: counts{granted: 2, successes: 1},
		},
		{
			name: "attempt limit",
			op:   func(int, func()) error { return errServer },
			want: counts{granted: 2, refused: 1, failures: 1},
		},
		{name: "not retryable", op: func(int, func()) error { return errClient }, want: counts{refused: 1, failures: 1}},
		{name: "cancelled before", op: func(int, func()) error { return nil }, cancelled: true, want: counts{failures: 1}},
		{
			name: "cancelled during the attempt",
			op:   func(_ int, cancel func()) error { cancel(); return errServer },
			want: counts{refused: 1, failures: 1},
		},
		{
			name:   "panic in the operation",
			op:     func(int, func()) error { panic("operation") },
			panics: "operation", want: counts{failures: 1},
		},
		{
			name: "panic in the operation's second attempt",
			op: func(n int, _ func()) error {
				if n == 2 {
					panic("second")
				}
				return errServer
			},
			panics: "second", want: counts{granted: 1, failures: 1},
		},
		{
			name:       "panic in a classifier",
			op:         func(int, func()) error { return errServer },
			classifier: panicking{},
			panics:     "classifier", want: counts{failures: 1},
		},
		{
			name: "the operation's goroutine ends",
			op:   func(int, func()) error { runtime.Goexit(); return nil },
			want: counts{failures: 1},
		},
		{
			name:     "deadline before the end of the backoff",
			op:       func(int, func()) error { return errServer },
			deadline: 1500 * time.Millisecond, want: counts{granted: 1, refused: 1, failures: 1},
		},
		{
			name: "no time left for a retry",
			op:   func(int, func()) error { return errServer },
			with: retry.Operation{MaxElapsed: 1500 * time.Millisecond},
			want: counts{granted: 1, refused: 1, failures: 1},
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := &counting{Strategy: modes(t, clk, func(config *standard.Config) {
					config.Classifier = c.classifier
				})[mode]}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancelled {
					cancel()
				}
				if c.deadline > 0 {
					var release context.CancelFunc
					ctx, release = clk.WithTimeout(ctx, c.deadline)
					defer release()
				}
				var recovered any
				n := 0
				clk.Run(func() {}, func() { // whose goroutine may end
					defer func() { recovered = recover() }()
					_, _ = retry.Do(ctx, s, c.with, func(context.Context) (int, error) {
						n++
						return n, c.op(n, cancel)
					})
				})
				require.Equal(t, c.panics, recovered)
				require.Equal(t, 1, s.acquired)
				require.Equal(t, c.want, counts{s.granted, s.refused, s.successes, s.failures})
			})
		}
	}
}

func TestCancelDuringTheBackoffEndsTheOperationOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := &counting{Strategy: modes(t, clk, nil)[mode]}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if clk.BlockUntil(t.Context(), 1) == nil {
					cancel()
				}
			}()
			_, err := retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) { return 0, errServer })
			require.ErrorIs(t, err, retry.ErrCanceled)
			require.ErrorIs(t, err, errServer)
			require.Equal(t, []int{1, 0, 0, 1}, []int{s.granted, s.refused, s.successes, s.failures})
		})
	}
}

var errNotReady = errors.New("not ready")

func TestPolicyJudgesValuesAndErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		policy    func(value int, err error) error
		answers   []error
		wantValue int
		wantErr   error
	}{
		{
			name: "wait for a value",
			policy: func(value int, err error) error {
				if err == nil && value < 3 {
					return retry.Mark(errNotReady, classify.Transient)
				}
				return err
			},
			wantValue: 3,
		},
		{
			name:    "an error counts as success",
			policy:  func(int, error) error { return nil },
			answers: []error{errClient}, wantValue: 1,
		},
		{
			name:    "a retryable error is final",
			policy:  func(_ int, err error) error { return retry.Permanent(err) },
			answers: []error{errServer}, wantValue: 1, wantErr: errServer,
		},
		{
			name:      "a value is refused",
			policy:    func(int, error) error { return retry.Permanent(errNotReady) },
			wantValue: 1, wantErr: errNotReady,
		},
		{
			name:    "a final error is retried",
			policy:  func(_ int, err error) error { return retry.Mark(err, classify.Client) },
			answers: []error{errClient, errClient, errClient}, wantValue: 3, wantErr: errClient,
		},
		{
			name:    "it may leave everything to the strategy",
			policy:  func(_ int, err error) error { return err },
			answers: []error{errServer}, wantValue: 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := &counting{Strategy: modes(t, clk, nil)["standard"]}
			var value int
			var err error
			clk.Run(func() {
				n := 0
				value, err = retry.Do(t.Context(), s, retry.Operation{}, func(context.Context) (int, error) {
					if n++; n <= len(c.answers) {
						return n, c.answers[n-1]
					}
					return n, nil
				}, retry.WithPolicy(c.policy))
			})
			require.Equal(t, c.wantValue, value)
			require.ErrorIs(t, err, c.wantErr)
			require.Equal(t, 1, s.successes+s.failures)
		})
	}
}

func TestPolicyOfAnotherTypeIsAnError(t *testing.T) {
	t.Parallel()
	policy := func(string, error) error { return nil }
	_, err := retry.Do(t.Context(), modes(t, &clock.Fake{}, nil)["standard"], retry.Operation{},
		func(context.Context) (int, error) { return 0, nil }, retry.WithPolicy(policy))
	require.EqualError(t, err, "retry: a policy of type func(string, error) error does not fit an operation with func(int, error) error")
}

// denying gives no tokens.
type denying struct{ retry.Strategy }

func (denying) Clock() clock.Clock { return clock.System{} }

var errDenied = errors.New("no token today")

func (denying) AcquireInitialToken(context.Context, retry.Operation) (retry.Token, error) {
	return retry.Token{}, errDenied
}

func TestFirstAttemptIsMadeWithoutAToken(t *testing.T) {
	t.Parallel()
	n := 0
	op := func(err error) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { n++; return n, err }
	}
	value, err := retry.Do(t.Context(), denying{}, retry.Operation{}, op(nil))
	require.NoError(t, err)
	require.Equal(t, 1, value)

	_, err = retry.Do(t.Context(), denying{}, retry.Operation{}, op(errServer))
	require.ErrorIs(t, err, errServer)
	require.ErrorIs(t, err, errDenied)
	require.Equal(t, 2, n)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = retry.Do(gone, denying{}, retry.Operation{}, op(nil))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, n)
}

func TestDoWithoutAFunctionIsAnError(t *testing.T) {
	t.Parallel()
	_, err := retry.Do[int](t.Context(), denying{}, retry.Operation{}, nil)
	require.EqualError(t, err, "retry: Do needs a function")
}
