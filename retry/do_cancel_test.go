package retry_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestErrorAfterACancelHoldsTheLastServiceErrorAndTheCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("shutting down")
	get := &url.Error{Op: "Get", Err: context.Canceled}
	canceled, exhausted := retry.ErrCanceled, retry.ErrAttemptsExhausted
	for _, c := range []struct {
		name string
		// answers are what the attempts return; the caller's context ends during the last of them. Nil stands for its error.
		answers []error
		limit   int
		reason  error
		want    statusError // 0 for none
	}{
		{"first attempt", []error{errServer}, 0, canceled, errServer},
		{"second attempt with another answer", []error{errServer, errBusy}, 0, canceled, errBusy},
		{"second attempt with the end of the context", []error{errServer, nil}, 0, canceled, errServer},
		{"third attempt", []error{errServer, errBusy, nil}, 5, canceled, errBusy},
		{"end of the context only", []error{nil}, 0, canceled, 0},
		{"end of the context, wrapped", []error{get}, 0, canceled, 0},
		{"second attempt with the end of the context, wrapped", []error{errServer, get}, 0, canceled, errServer},
		{"the cause itself", []error{cause}, 0, canceled, 0},
		{"the cause itself in the last attempt", []error{cause}, 1, canceled, 0},
		{"last attempt with an answer", []error{errServer}, 1, exhausted, errServer},
		{"last attempt with the end of the context", []error{errServer, nil}, 2, canceled, errServer},
	} {
		inBoth(t, c.name, nil, func(t world) {
			ctx, cancel := context.WithCancelCause(t.Context())
			op := retry.Operation{MaxAttempts: c.limit}
			attempts, err := t.do(ctx, op, func(ctx context.Context, n int) error {
				if n == len(c.answers) {
					cancel(cause)
				}
				if answer := c.answers[n-1]; answer != nil {
					return answer
				}
				return ctx.Err()
			})
			for _, want := range []error{c.reason, context.Canceled, cause, c.answers[attempts-1]} {
				require.True(t, want == nil || errors.Is(err, want), want)
			}
			require.NotContains(t, err.Error(), "\n")
			last, ok := errors.AsType[statusError](err)
			require.Equal(t, c.want, last)
			require.Equal(t, c.want != 0, ok)
			require.Equal(t, len(c.answers), play.Refusal(t, err).Attempts)
			require.Len(t, c.answers, attempts)
		})
	}
}

func TestCancelDuringASleepEndsTheOperationOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quota  int
		op     retry.Operation
		reason error
		want   []int // grants, refusals, successes and failures
	}{
		"backoff":                       {500, retry.Operation{}, retry.ErrCanceled, []int{1, 0, 0, 1}},
		"last sleep of a long poll":     {0, retry.Operation{LongPolling: true}, retry.ErrQuotaExhausted, []int{0, 1, 0, 1}},
		"no sleep without such a retry": {0, retry.Operation{}, retry.ErrQuotaExhausted, []int{0, 1, 0, 1}},
	} {
		inBoth(t, name, func(config *standard.Config) { config.QuotaInitial = &c.quota }, func(t world) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				if t.clk.BlockUntil(ctx, 1) == nil {
					cancel()
				}
			}()
			err := retry.DoErr(ctx, t, c.op, func(context.Context) error {
				t.clk.Advance(2 * time.Second)
				return errServer
			})
			require.ErrorIs(t, err, c.reason)
			require.ErrorIs(t, err, errServer)
			require.Equal(t, ctx.Err() != nil, errors.Is(err, context.Canceled))
			require.Equal(t, 2*time.Second, play.Refusal(t, err).Elapsed)
			require.Equal(t, 1, play.Refusal(t, err).Attempts)
			require.Equal(t, c.want, []int{t.granted, t.refused, t.successes, t.failures})
		})
	}
}

// limited makes an attempt that takes longer than a context of its own allows.
func limited(ctx context.Context, clk *clock.Fake) error {
	ctx, cancel := clk.WithTimeout(ctx, time.Second)
	defer cancel()
	clk.Advance(time.Second)
	<-ctx.Done()
	return ctx.Err()
}

func TestALimitBelowTheOperationIsATimeout(t *testing.T) {
	t.Parallel()
	type attempt = func(ctx context.Context, clk *clock.Fake) error
	inner := func(ctx context.Context, clk *clock.Fake) error {
		ctx, cancel := clk.WithTimeout(ctx, time.Second)
		defer cancel()
		return retry.DoErr(ctx, modes(t, clk, nil)["standard"], retry.Operation{}, func(ctx context.Context) error {
			clk.Advance(time.Second)
			<-ctx.Done()
			return ctx.Err()
		})
	}
	for name, attempt := range map[string]attempt{
		"a context of the function": limited,
		"in a request":              func(ctx context.Context, clk *clock.Fake) error { return &url.Error{Err: limited(ctx, clk)} },
		"in a cut answer": func(ctx context.Context, clk *clock.Fake) error {
			return fmt.Errorf("%w: %w", errServer, limited(ctx, clk))
		},
		"in a loop within":   inner,
		"without a context":  func(context.Context, *clock.Fake) error { return context.DeadlineExceeded },
		"of another context": func(_ context.Context, clk *clock.Fake) error { return limited(context.Background(), clk) },
	} {
		for around, limit := range map[string]time.Duration{"nothing": 0, "a later deadline and a later limit": time.Hour} {
			inBoth(t, name+", around it "+around, func(c *standard.Config) { c.TimeoutCost = 20 }, func(t world) {
				ctx, opts := t.Context(), []retry.Option{nil}
				if limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = t.clk.WithTimeout(ctx, limit)
					defer cancel()
					opts[0] = retry.WithAttemptTimeout(retry.FixedTimeout{First: limit})
				}
				attempts, err := t.do(ctx, retry.Operation{}, func(ctx context.Context, _ int) error { return attempt(ctx, t.clk) }, opts...)
				require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
				require.Equal(t, 3, attempts)
				require.Equal(t, []classify.Kind{classify.Timeout, classify.Timeout, classify.Timeout}, t.kinds())
				require.Equal(t, 460, t.quota(), "at the price of timeouts")
			})
		}
	}
	inBoth(t, "a cancel is final", nil, func(t world) {
		attempts, err := t.do(t.Context(), retry.Operation{}, func(ctx context.Context, _ int) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx.Err()
		})
		require.Equal(t, context.Canceled, err)
		require.Equal(t, 1, attempts)
	})
}

// late is a context whose timer has not fired yet.
type late struct {
	context.Context //nolint:containedctx // it is a context
	deadline        time.Time
}

func (l late) Deadline() (time.Time, bool) { return l.deadline, true }

// TestTheDeadlineOfTheOperationCountsBeforeItsTimerFires lets the second attempt end at an instant
// around the deadline, while the context of the operation does not know of it yet.
func TestTheDeadlineOfTheOperationCountsBeforeItsTimerFires(t *testing.T) {
	t.Parallel()
	below := &url.Error{Op: "Get", Err: context.DeadlineExceeded}
	for _, c := range []struct {
		name   string
		left   time.Duration // until the deadline
		answer error
		limit  int
		reason error
		first  bool // whether the error holds the answer to the first attempt too
		kind   classify.Kind
	}{
		{"a limit before the deadline", 1, below, 0, retry.ErrDeadline, false, classify.Timeout},
		{"at the deadline", 0, below, 0, retry.ErrCanceled, true, classify.KindNone},
		{"after the deadline", -1, below, 0, retry.ErrCanceled, true, classify.KindNone},
		{"the last attempt, before the deadline", 1, below, 2, retry.ErrAttemptsExhausted, false, classify.Timeout},
		{"the last attempt, at the deadline", 0, below, 2, retry.ErrCanceled, true, classify.KindNone},
		{"an answer at the deadline", 0, errBusy, 0, retry.ErrDeadline, false, classify.Transient},
		{"a throttle at the deadline", 0, errThrottled, 0, retry.ErrDeadline, false, classify.Throttling},
	} {
		inBoth(t, c.name, nil, func(t world) {
			ctx := late{t.Context(), t.clk.Now().Add(time.Minute)}
			op := retry.Operation{MaxAttempts: c.limit}
			attempts, err := t.do(ctx, op, func(_ context.Context, n int) error {
				if n == 1 {
					return errServer
				}
				t.clk.Advance(ctx.deadline.Sub(t.clk.Now()) - c.left)
				return c.answer
			})
			for _, want := range []error{c.reason, c.answer, context.DeadlineExceeded} {
				require.ErrorIs(t, err, want)
			}
			require.NotContains(t, err.Error(), "nil")
			require.Equal(t, c.first, errors.Is(err, errServer))
			require.Equal(t, []classify.Kind{classify.Transient, c.kind}, t.kinds())
			require.Equal(t, 2, attempts)
			require.Equal(t, 486, t.quota(), "one retry was charged")
		})
	}
}

func TestALoopOfOnesOwnIsToldWhetherTheCallerHasGone(t *testing.T) {
	t.Parallel()
	for ends, kind := range map[bool]classify.Kind{false: classify.Timeout, true: classify.KindNone} {
		inBoth(t, fmt.Sprint("ends: ", ends), nil, func(t world) {
			for _, refresh := range []bool{false, true} {
				ctx, cancel := t.clk.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				token := sent(ctx, t.T, t, retry.Operation{})
				if ends {
					t.clk.Advance(time.Hour)
				}
				if refresh {
					_, err := t.RefreshRetryToken(ctx, token, context.DeadlineExceeded)
					require.Equal(t, ends, err != nil)
				} else {
					require.NoError(t, t.RecordFailure(token, context.DeadlineExceeded))
				}
			}
			require.Equal(t, []classify.Kind{kind, kind}, t.kinds())
			require.Equal(t, classify.RetryAs(classify.Timeout), t.Judge(retry.Operation{}, context.DeadlineExceeded))
		})
	}
}
