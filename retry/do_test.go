package retry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

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
		random     func() float64
		with       retry.Operation
		opts       []retry.Option
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
			name:   "panic in the random numbers of the backoff",
			op:     func(int, func()) error { return errServer },
			random: func() float64 { panic("random") },
			panics: "random", want: counts{failures: 1},
		},
		{
			name:   "panic in the policy",
			op:     func(int, func()) error { return errServer },
			opts:   []retry.Option{retry.WithPolicy(func(int, error) error { panic("policy") })},
			panics: "policy", want: counts{failures: 1},
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
					if config.Classifier = c.classifier; c.random != nil {
						config.Random = c.random
					}
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
					}, c.opts...)
				})
				require.Equal(t, c.panics, recovered)
				require.Equal(t, 1, s.acquired)
				require.Equal(t, c.want, counts{s.granted, s.refused, s.successes, s.failures})
				require.Equal(t, 1, s.ends, "it says so once")
			})
		}
	}
}

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

func TestFirstAttemptIsMadeWithoutAToken(t *testing.T) {
	t.Parallel()
	n := 0
	do := func(ctx context.Context, failure error, opts ...retry.Option) (int, error) {
		return retry.Do(ctx, denying{}, retry.Operation{}, func(context.Context) (int, error) { n++; return n, failure }, opts...)
	}
	value, err := do(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, 1, value)

	_, err = do(t.Context(), errServer)
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, errDenied, refusal.Reason)
	require.Equal(t, errServer, refusal.Last)
	require.Equal(t, 1, refusal.Attempts)

	_, err = do(t.Context(), errServer, retry.WithPolicy(func(int, error) error { return nil }))
	require.NoError(t, err, "the policy judges it")
	require.Equal(t, 3, n)

	_, err = do(gone(t), errServer)
	for _, want := range []error{errDenied, retry.ErrCanceled, context.Canceled} {
		require.ErrorIs(t, err, want)
	}
	require.NotErrorIs(t, err, errServer)
	require.Equal(t, 3, n, "no attempt was made")
}

func TestDoWithoutAFunctionIsAnError(t *testing.T) {
	t.Parallel()
	_, err := retry.Do[int](t.Context(), denying{}, retry.Operation{}, nil)
	require.EqualError(t, err, "retry: Do needs a function")
	require.EqualError(t, retry.DoErr(t.Context(), denying{}, retry.Operation{}, nil), "retry: Do needs a function")
}

func TestNilPolicyFitsEveryType(t *testing.T) {
	t.Parallel()
	_, err := retry.Do(t.Context(), modes(t, &clock.Fake{}, nil)["standard"], retry.Operation{}, failing(nil),
		retry.WithPolicy[string](nil))
	require.NoError(t, err)
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

func TestDoCallsNothingAfterTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	forBoth(t, clk, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		for _, strategy := range []retry.Strategy{s, foreign{Strategy: s, acquire: func() error { return errDenied }}} {
			op := retry.Operation{NotAfter: clk.Now().Add(-1)}
			n, err := retry.Do(t.Context(), strategy, op, func(context.Context) (int, error) {
				require.Fail(t, "called")
				return 1, nil
			})
			require.Zero(t, n)
			refusal, ok := errors.AsType[*retry.Error](err)
			require.True(t, ok)
			require.Equal(t, retry.ErrMaxElapsed, refusal.Reason)
			require.Zero(t, refusal.Attempts)

			op.NotAfter = clk.Now()
			n, err = retry.Do(t.Context(), strategy, op, func(context.Context) (int, error) { return 1, nil })
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
	})
}

func TestErrorThatAForeignStrategySharesIsNotChanged(t *testing.T) {
	t.Parallel()
	shared := &retry.Error{Reason: retry.ErrQuotaExhausted}
	inner := modes(t, &clock.Fake{}, nil)["standard"]
	for name, s := range map[string]retry.Strategy{
		"acquire": foreign{Strategy: inner, acquire: func() error { return shared }},
		"refresh": foreign{Strategy: inner, refresh: func(token retry.Token, _ error) (retry.Token, error) {
			return token, shared
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, first := retry.Do(t.Context(), s, retry.Operation{}, failing(errServer))
			_, second := retry.Do(t.Context(), s, retry.Operation{}, failing(errClient))
			require.ErrorIs(t, first, errServer)
			require.ErrorIs(t, second, errClient)
			require.NotErrorIs(t, second, errServer)
			ctx, cancel := context.WithCancel(t.Context())
			_, canceled := retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) {
				cancel()
				return 0, errServer
			})
			require.ErrorIs(t, canceled, context.Canceled)
		})
	}
	t.Cleanup(func() { require.Equal(t, &retry.Error{Reason: retry.ErrQuotaExhausted}, shared) })
}

func TestRefusalThatWrapsAnInnerOneKeepsItsOwnReason(t *testing.T) {
	t.Parallel()
	errMine := errors.New("mine")
	inner := modes(t, &clock.Fake{}, nil)["standard"]
	s := foreign{Strategy: inner, refresh: func(token retry.Token, failure error) (retry.Token, error) {
		return token, fmt.Errorf("%w: %w", errMine, failure)
	}}
	_, err := retry.Do(t.Context(), s, retry.Operation{}, func(ctx context.Context) (int, error) {
		return retry.Do(ctx, inner, retry.Operation{MaxAttempts: 1}, failing(errServer))
	})
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.ErrorIs(t, refusal.Reason, errMine)
	require.ErrorIs(t, refusal.Last, retry.ErrAttemptsExhausted)
	require.ErrorIs(t, err, errServer)
}

func TestForeignStrategyWithoutATokenForTheRetryEndsTheOperation(t *testing.T) {
	t.Parallel()
	s := foreign{Strategy: modes(t, &clock.Fake{}, nil)["standard"], refresh: func(retry.Token, error) (retry.Token, error) {
		return retry.Token{}, nil
	}}
	_, err := retry.Do(t.Context(), s, retry.Operation{}, failing(errServer))
	require.ErrorIs(t, err, retry.ErrForeignToken)
	require.ErrorIs(t, err, errServer)
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 1, refusal.Attempts)
}

// brokenClock panics when it has been read for a number of times.
type brokenClock struct {
	*clock.Fake
	left int
}

func (c *brokenClock) Now() time.Time {
	if c.left--; c.left == 0 {
		panic("clock")
	}
	return c.Fake.Now()
}

func TestPanicOfTheClockEndsTheOperationOnce(t *testing.T) {
	t.Parallel()
	// Before these readings the operation is not there yet: each strategy computes
	// the end of the operation, and Do notes its start.
	for mode, first := range map[string]int{"standard": 3, "adaptive": 4} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for reading := first; ; reading++ {
				clk := &brokenClock{Fake: &clock.Fake{}}
				s := &counting{Strategy: modes(t, clk, func(c *standard.Config) { c.QuotaRefill = 1 })[mode]}
				clk.left = reading
				var recovered any
				clk.Run(func() {
					defer func() { recovered = recover() }()
					_, _ = retry.Do(t.Context(), s, retry.Operation{MaxElapsed: time.Hour}, failing(errServer))
				})
				require.LessOrEqual(t, s.successes+s.failures, 1)
				if recovered == nil {
					require.Greater(t, reading, 5)
					return
				}
				require.Equal(t, []int{0, 1}, []int{s.successes, s.failures}, "reading %d", reading)
			}
		})
	}
}

func TestObserverThatEndsItsGoroutineEndsTheOperation(t *testing.T) {
	t.Parallel()
	for kind := retry.AttemptEnded; kind <= retry.SendRateChanged; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			told := false
			s := &counting{Strategy: modes(t, clk, func(c *standard.Config) {
				c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == kind {
						told = true
						runtime.Goexit()
					}
				})
			})["adaptive"]}
			returned := false
			clk.Run(func() {}, func() { // whose goroutine ends
				_, _ = retry.Do(t.Context(), s, retry.Operation{}, failing(statusError(429)))
				returned = true
			})
			require.True(t, told)
			require.False(t, returned)
			require.Equal(t, []int{0, 1}, []int{s.successes, s.failures})
			scope := s.Strategy.Snapshot().Scopes[0]
			require.Zero(t, scope.Waiting)
			quota := 500 // no retry was made
			if kind == retry.RetryRefused {
				quota -= 2 * 5 // two were
			}
			require.Equal(t, quota, scope.Quota)
		})
	}
}
