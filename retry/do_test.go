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
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestEveryOperationEndsExactlyOnce(t *testing.T) {
	t.Parallel()
	type counts struct{ granted, refused, successes, failures int }
	type attempt = func(n int, cancel func()) error // the n-th, from 1; cancel ends the caller's context
	fails := func(err error) attempt { return func(int, func()) error { return err } }
	classifier := func(c *standard.Config) {
		c.Classifier = judge(func(classify.Outcome) classify.Verdict { panic("classifier") })
	}
	random := func(c *standard.Config) { c.Random = func() float64 { panic("random") } }
	policy := retry.WithPolicy(func(_ int, err error) error {
		if err == errThrottled { //nolint:errorlint // the same value
			panic("policy")
		}
		return err
	})
	end := retry.Operation{MaxElapsed: 1500 * time.Millisecond}
	for _, c := range []struct {
		name     string
		op       attempt
		change   func(c *standard.Config)
		with     retry.Operation
		deadline time.Duration // 0 for none, less if the context has ended
		panics   any
		want     counts
	}{
		{name: "success", op: fails(nil), want: counts{successes: 1}},
		{name: "success after retries", want: counts{granted: 2, successes: 1}, op: func(n int, _ func()) error {
			return []error{errServer, errServer, nil}[n-1]
		}},
		{name: "attempt limit", op: fails(errServer), want: counts{granted: 2, refused: 1, failures: 1}},
		{name: "not retryable", op: fails(errClient), want: counts{refused: 1, failures: 1}},
		{name: "canceled before", op: fails(nil), deadline: -1, want: counts{failures: 1}},
		{name: "canceled during the attempt", want: counts{refused: 1, failures: 1}, op: func(_ int, cancel func()) error {
			cancel()
			return errServer
		}},
		{name: "panic", op: func(int, func()) error { panic("op") }, panics: "op", want: counts{failures: 1}},
		{name: "panic in the second attempt", panics: "op", want: counts{granted: 1, failures: 1}, op: func(n int, _ func()) error {
			if n == 2 {
				panic("op")
			}
			return errServer
		}},
		{name: "panic in a classifier", op: fails(errServer), change: classifier, panics: "classifier", want: counts{failures: 1}},
		{name: "panic in the backoff", op: fails(errServer), change: random, panics: "random", want: counts{failures: 1}},
		{name: "panic in the policy", op: fails(errThrottled), panics: "policy", want: counts{failures: 1}},
		{name: "end of the goroutine", want: counts{failures: 1}, op: func(int, func()) error { runtime.Goexit(); return nil }},
		{name: "deadline", op: fails(errServer), deadline: end.MaxElapsed, want: counts{granted: 1, refused: 1, failures: 1}},
		{name: "end of the operation", op: fails(errServer), with: end, want: counts{granted: 1, refused: 1, failures: 1}},
	} {
		inBoth(t, c.name, c.change, func(t world) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.deadline < 0 {
				cancel()
			} else if c.deadline > 0 {
				var release context.CancelFunc
				ctx, release = t.clk.WithTimeout(ctx, c.deadline)
				defer release()
			}
			var recovered any
			n := 0
			t.clk.Run(func() {}, func() { // whose goroutine may end
				defer func() { recovered = recover() }()
				_, _ = retry.Do(ctx, t, c.with, func(context.Context) (int, error) {
					n++
					return n, c.op(n, cancel)
				}, policy)
			})
			require.Equal(t, c.panics, recovered)
			require.Equal(t, 1, t.acquired)
			require.Equal(t, c.want, counts{t.granted, t.refused, t.successes, t.failures})
			require.Equal(t, 1, t.ends, "it says so once")
		})
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
		{"wait for a value", func(value int, err error) error {
			if err == nil && value < 3 {
				return retry.Mark(errNotReady, classify.Transient)
			}
			return err
		}, nil, 3, nil},
		{"an error counts as success", func(int, error) error { return nil }, []error{errClient}, 1, nil},
		{"an error is final", func(_ int, err error) error { return retry.Permanent(err) }, []error{errServer}, 1, errServer},
		{"a value is refused", func(int, error) error { return retry.Permanent(errNotReady) }, nil, 1, errNotReady},
		{"a final error is retried", func(_ int, err error) error {
			return retry.Mark(err, classify.Client)
		}, repeated(errClient, 3), 3, errClient},
		{"it leaves all to the strategy", func(_ int, err error) error { return err }, []error{errServer}, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "standard", nil)
			var value int
			var err error
			w.clk.Run(func() {
				value, err = retry.Do(t.Context(), w, retry.Operation{}, play.Answers(c.answers...), retry.WithPolicy(c.policy))
			})
			require.Equal(t, c.wantValue, value)
			require.ErrorIs(t, err, c.wantErr)
			require.Equal(t, 1, w.successes+w.failures)
		})
	}
}

func TestDoNeedsAFunctionAndAPolicyThatFitsIt(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	_, err := retry.Do[int](t.Context(), denying{}, retry.Operation{}, nil)
	require.EqualError(t, err, "retry: Do needs a function")
	require.EqualError(t, retry.DoErr(t.Context(), denying{}, retry.Operation{}, nil), "retry: Do needs a function")
	policy := func(string, error) error { return nil }
	_, err = retry.Do(t.Context(), s, retry.Operation{}, failing(nil), retry.WithPolicy(policy))
	require.EqualError(t, err, "retry: a policy of type func(string, error) error does not fit an operation with func(int, error) error")
	_, err = retry.Do(t.Context(), s, retry.Operation{}, failing(nil), retry.WithPolicy(policy), retry.WithPolicy[string](nil))
	require.NoError(t, err, "none fits all, and takes the place of another one")
	err = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { return errClient },
		retry.WithPolicy(func(struct{}, error) error { return nil }))
	require.NoError(t, err)
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
	refusal := play.Refusal(t, err)
	require.Equal(t, []error{errDenied, errServer}, []error{refusal.Reason, refusal.Last})
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

func TestDoCallsNothingAfterTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	inBoth(t, "", nil, func(t world) {
		for _, s := range []retry.Strategy{t, foreign{Strategy: t, acquire: func() error { return errDenied }}} {
			calls := 0
			do := func(after time.Duration) error {
				op := retry.Operation{NotAfter: t.clk.Now().Add(after)}
				return retry.DoErr(t.Context(), s, op, func(context.Context) error { calls++; return nil })
			}
			refusal := play.Refusal(t, do(-1))
			require.Equal(t, retry.ErrMaxElapsed, refusal.Reason)
			require.Zero(t, refusal.Attempts)
			require.Zero(t, calls)
			require.NoError(t, do(0))
			require.Equal(t, 1, calls)
		}
	})
}

func TestErrorsOfForeignStrategiesAreKeptAndNotChanged(t *testing.T) {
	t.Parallel()
	shared, errMine := &retry.Error{Reason: retry.ErrQuotaExhausted}, errors.New("mine")
	inner := modes(t, &clock.Fake{}, nil)["standard"]
	refusing := func(refuse func(token retry.Token, failure error) (retry.Token, error)) foreign {
		return foreign{Strategy: inner, refresh: refuse}
	}
	for _, s := range []retry.Strategy{
		foreign{Strategy: inner, acquire: func() error { return shared }},
		refusing(func(token retry.Token, _ error) (retry.Token, error) { return token, shared }),
	} {
		_, first := retry.Do(t.Context(), s, retry.Operation{}, failing(errServer))
		_, second := retry.Do(t.Context(), s, retry.Operation{}, failing(errClient))
		require.ErrorIs(t, first, errServer)
		require.ErrorIs(t, second, errClient)
		require.NotErrorIs(t, second, errServer)
		ctx, cancel := context.WithCancel(t.Context())
		err := retry.DoErr(ctx, s, retry.Operation{}, func(context.Context) error { cancel(); return errServer })
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, &retry.Error{Reason: retry.ErrQuotaExhausted}, shared)

	around := refusing(func(token retry.Token, failure error) (retry.Token, error) {
		return token, fmt.Errorf("%w: %w", errMine, failure)
	})
	err := retry.DoErr(t.Context(), around, retry.Operation{}, func(ctx context.Context) error {
		_, err := retry.Do(ctx, inner, retry.Operation{MaxAttempts: 1}, failing(errServer))
		return err
	})
	require.ErrorIs(t, play.Refusal(t, err).Reason, errMine, "its own reason, with an inner refusal in it")
	require.ErrorIs(t, play.Refusal(t, err).Last, retry.ErrAttemptsExhausted)
	require.ErrorIs(t, err, errServer)

	without := refusing(func(retry.Token, error) (retry.Token, error) { return retry.Token{}, nil })
	_, err = retry.Do(t.Context(), without, retry.Operation{}, failing(errServer))
	require.ErrorIs(t, err, retry.ErrForeignToken)
	require.ErrorIs(t, err, errServer)
	require.Equal(t, 1, play.Refusal(t, err).Attempts)
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
		for reading, recovered := first, any("clock"); recovered != nil; reading++ {
			clk := &brokenClock{Fake: &clock.Fake{}}
			s := &counting{Strategy: modes(t, clk, func(c *standard.Config) { c.QuotaRefill = 1 })[mode]}
			clk.left = reading
			clk.Run(func() {
				defer func() { recovered = recover() }()
				_, _ = retry.Do(t.Context(), s, retry.Operation{MaxElapsed: time.Hour}, failing(errServer))
			})
			require.Equal(t, []int{0, 1}, []int{s.successes, s.failures}, "%s, reading %d", mode, reading)
			require.True(t, recovered != nil || reading > 5)
		}
	}
}

func TestObserverThatEndsItsGoroutineEndsTheOperation(t *testing.T) {
	t.Parallel()
	for kind := retry.AttemptEnded; kind <= retry.SendRateChanged; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			told := false
			w := newWorld(t, "adaptive", func(c *standard.Config) {
				c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == kind {
						told = true
						runtime.Goexit()
					}
				})
			})
			returned := false
			w.clk.Run(func() {}, func() { // whose goroutine ends
				_, _ = retry.Do(t.Context(), w, retry.Operation{}, failing(errThrottled))
				returned = true
			})
			require.Equal(t, []bool{true, false}, []bool{told, returned})
			require.Equal(t, []int{0, 1}, []int{w.successes, w.failures})
			require.Zero(t, w.Snapshot().Scopes[0].Waiting)
			retries := map[bool]int{true: 2}[kind == retry.RetryRefused]
			require.Equal(t, 500-5*retries, w.quota())
		})
	}
}
