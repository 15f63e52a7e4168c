package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

const errBusy = statusError(503)

// rare limits each failure to the attempts that it names.
type rare struct{ atMost map[error]int }

func (rare) Name() string { return "rare" }

func (r rare) Classify(o classify.Outcome) classify.Verdict {
	return o.Previous.AtMost(r.atMost[o.Err])
}

func TestFailureHasALimitOfAttemptsOfItsOwn(t *testing.T) {
	t.Parallel()
	five := map[error]int{errServer: 5}
	mixed := append(repeated(errBusy, 3), repeated(errServer, 9)...)
	for _, c := range []struct {
		name     string
		atMost   map[error]int
		op       int // MaxAttempts of the operation
		answers  []error
		attempts int
		limit    int // of the error
	}{
		{"fewer than the strategy", five, 0, repeated(errServer, 9), 5, 5},
		{"as many as the strategy", map[error]int{errServer: 8}, 0, repeated(errServer, 9), 8, 8},
		{"more than the strategy", map[error]int{errServer: 9}, 0, repeated(errServer, 9), 8, 8},
		{"fewer than the operation", five, 6, repeated(errServer, 9), 5, 5},
		{"more than the operation", five, 4, repeated(errServer, 9), 4, 4},
		{"one", map[error]int{errServer: 1}, 0, repeated(errServer, 9), 1, 1},
		{"another failure", five, 0, repeated(errBusy, 9), 8, 8},
		{"attempts that failed in another way count", five, 0, mixed, 5, 5},
		{"after more attempts than its limit", five, 0, append(repeated(errBusy, 6), errServer), 7, 5},
		{"no such failure at the limit", five, 0, []error{errServer, errServer, errServer, errServer, errBusy, errServer}, 6, 5},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				var told []retry.Event
				s := modes(t, clk, func(config *standard.Config) {
					config.MaxAttempts, config.Classifier = 8, classify.NewChain(classify.Default(), rare{c.atMost})
					config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
						if e.Kind == retry.AttemptEnded || e.Kind == retry.RetryRefused {
							told = append(told, e)
						}
					})
				})[mode]
				attempts := 0
				var err error
				clk.Run(func() {
					err = retry.DoErr(t.Context(), s, retry.Operation{MaxAttempts: c.op}, func(context.Context) error {
						attempts++
						return c.answers[attempts-1]
					})
				})
				require.Equal(t, c.attempts, attempts)
				refusal, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, retry.ErrAttemptsExhausted, refusal.Reason)
				require.Equal(t, []int{c.attempts, c.limit}, []int{refusal.Attempts, refusal.MaxAttempts})
				require.Equal(t, 500-14*(attempts-1), s.Snapshot().Scopes[0].Quota, "the last one is not charged")
				require.Equal(t, retry.ErrAttemptsExhausted, told[len(told)-1].Reason)
				require.Equal(t, c.atMost[c.answers[attempts-1]], told[len(told)-2].Verdict.MaxAttempts())
			})
		}
	}
}

func repeated(err error, n int) (errs []error) {
	for range n {
		errs = append(errs, err)
	}
	return errs
}

func TestLimitOfAttemptsThatAnErrorCarriesCounts(t *testing.T) {
	t.Parallel()
	twice := &classify.JudgedError{Verdict: classify.RetryAs(classify.Timeout).AtMost(2), Err: errBoom}
	for name, call := range map[string]func(ctx context.Context, clk *clock.Fake) error{
		"as it is": func(context.Context, *clock.Fake) error { return twice },
		"of an attempt that was too late": func(ctx context.Context, clk *clock.Fake) error {
			_ = clk.Await(ctx, nil)
			return &classify.JudgedError{Verdict: twice.Verdict, Err: ctx.Err()}
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s, attempts := modes(t, clk, nil)[mode], 0
				var err error
				clk.Run(func() {
					err = retry.DoErr(t.Context(), s, retry.Operation{MaxAttempts: 9}, func(ctx context.Context) error {
						attempts++
						return call(ctx, clk)
					}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
				})
				require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
				require.Equal(t, 2, attempts)
			})
		}
	}
}
