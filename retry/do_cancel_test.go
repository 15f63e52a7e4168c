package retry_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestErrorAfterACancelHoldsTheLastServiceErrorAndTheCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("shutting down")
	for _, c := range []struct {
		name string
		// answers are what the attempts return; the caller's context ends during
		// the last of them. Nil stands for the error of that context.
		answers []error
		limit   int
		reason  error
		want    statusError // 0 for none
	}{
		{"first attempt", []error{statusError(500)}, 0, retry.ErrCanceled, 500},
		{"second attempt with another answer", []error{statusError(500), statusError(503)}, 0, retry.ErrCanceled, 503},
		{"second attempt with the end of the context", []error{statusError(500), nil}, 0, retry.ErrCanceled, 500},
		{"third attempt", []error{statusError(500), statusError(502), nil}, 5, retry.ErrCanceled, 502},
		{"end of the context only", []error{nil}, 0, retry.ErrCanceled, 0},
		{"end of the context, wrapped", []error{&url.Error{Op: "Get", Err: context.Canceled}}, 0, retry.ErrCanceled, 0},
		{
			"second attempt with the end of the context, wrapped",
			[]error{statusError(500), &url.Error{Op: "Get", Err: context.Canceled}},
			0, retry.ErrCanceled, 500,
		},
		{"the cause itself", []error{cause}, 0, retry.ErrCanceled, 0},
		{"the cause itself in the last attempt", []error{cause}, 1, retry.ErrCanceled, 0},
		{"last attempt with an answer", []error{statusError(500)}, 1, retry.ErrAttemptsExhausted, 500},
		{"last attempt with the end of the context", []error{statusError(500), nil}, 2, retry.ErrCanceled, 500},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := modes(t, clk, nil)[mode]
				ctx, cancel := context.WithCancelCause(t.Context())
				n := 0
				var err error
				clk.Run(func() {
					_, err = retry.Do(ctx, s, retry.Operation{MaxAttempts: c.limit}, func(ctx context.Context) (int, error) {
						n++
						if n == len(c.answers) {
							cancel(cause)
						}
						if answer := c.answers[n-1]; answer != nil {
							return 0, answer
						}
						return 0, ctx.Err()
					})
				})
				require.ErrorIs(t, err, c.reason)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, cause)
				if answer := c.answers[n-1]; answer != nil {
					require.ErrorIs(t, err, answer)
				}
				require.NotContains(t, err.Error(), "\n")
				last, ok := errors.AsType[statusError](err)
				require.Equal(t, c.want, last)
				require.Equal(t, c.want != 0, ok)
				refusal, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, len(c.answers), refusal.Attempts)
				require.Equal(t, len(c.answers), n)
			})
		}
	}
}

func TestCancelDuringTheLastSleepOfLongPollingIsInTheError(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := &counting{Strategy: modes(t, clk, func(c *standard.Config) {
				c.Behavior, c.QuotaInitial = retry.V21, new(0)
			})[mode]}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if clk.BlockUntil(t.Context(), 1) == nil {
					cancel()
				}
			}()
			_, err := retry.Do(ctx, s, retry.Operation{LongPolling: true}, func(context.Context) (int, error) {
				return 0, errServer
			})
			require.ErrorIs(t, err, retry.ErrQuotaExhausted)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, errServer)
			require.Equal(t, 1, s.failures)
		})
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
			_, err := retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) {
				clk.Advance(2 * time.Second)
				return 0, errServer
			})
			require.ErrorIs(t, err, retry.ErrCanceled)
			require.ErrorIs(t, err, errServer)
			refusal, ok := errors.AsType[*retry.Error](err)
			require.True(t, ok)
			require.Equal(t, 2*time.Second, refusal.Elapsed)
			require.Equal(t, 1, refusal.Attempts)
			require.Equal(t, []int{1, 0, 0, 1}, []int{s.granted, s.refused, s.successes, s.failures})
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
	inner := func(ctx context.Context, clk *clock.Fake) error {
		s, err := standard.New(standard.Config{Clock: clk})
		if err != nil {
			return err
		}
		ctx, cancel := clk.WithTimeout(ctx, time.Second)
		defer cancel()
		return retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
			clk.Advance(time.Second)
			<-ctx.Done()
			return ctx.Err()
		})
	}
	for name, attempt := range map[string]func(ctx context.Context, clk *clock.Fake) error{
		"a context of the function": limited,
		"in a request": func(ctx context.Context, clk *clock.Fake) error {
			return &url.Error{Op: "Get", Err: limited(ctx, clk)}
		},
		"in a cut answer": func(ctx context.Context, clk *clock.Fake) error {
			return fmt.Errorf("%w: %w", errServer, limited(ctx, clk))
		},
		"in a loop within":   inner,
		"without a context":  func(context.Context, *clock.Fake) error { return context.DeadlineExceeded },
		"of another context": func(_ context.Context, clk *clock.Fake) error { return limited(context.Background(), clk) },
	} {
		for caller, deadline := range map[string]time.Duration{"no deadline": 0, "a later deadline": time.Hour} {
			for limit, options := range map[string][]retry.Option{
				"": nil, "/and a later limit": {retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Minute})},
			} {
				for _, mode := range []string{"standard", "adaptive"} {
					t.Run(name+"/"+caller+limit+"/"+mode, func(t *testing.T) {
						t.Parallel()
						clk, attempts, kinds := &clock.Fake{}, 0, []classify.Kind(nil)
						s := modes(t, clk, func(c *standard.Config) {
							c.TimeoutCost = 20
							c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
								if e.Kind == retry.AttemptEnded {
									kinds = append(kinds, e.Verdict.Kind())
								}
							})
						})[mode]
						ctx := t.Context()
						if deadline > 0 {
							var cancel context.CancelFunc
							ctx, cancel = clk.WithTimeout(ctx, deadline)
							defer cancel()
						}
						var err error
						clk.Run(func() {
							err = retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
								attempts++
								return attempt(ctx, clk)
							}, options...)
						})
						require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
						require.Equal(t, 3, attempts)
						require.Equal(t, []classify.Kind{classify.Timeout, classify.Timeout, classify.Timeout}, kinds)
						require.Equal(t, 460, s.Snapshot().Scopes[0].Quota, "at the price of timeouts")
					})
				}
			}
		}
	}
}

func TestACancelBelowTheOperationIsFinal(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			attempts := 0
			err := retry.DoErr(t.Context(), modes(t, &clock.Fake{}, nil)[mode], retry.Operation{}, func(ctx context.Context) error {
				attempts++
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx.Err()
			})
			require.Equal(t, context.Canceled, err)
			require.Equal(t, 1, attempts)
		})
	}
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
		last   error // that the error holds beside the answer
		kind   classify.Kind
	}{
		{"a limit before the deadline", 1, below, 0, retry.ErrDeadline, nil, classify.Timeout},
		{"at the deadline", 0, below, 0, retry.ErrCanceled, errServer, classify.KindNone},
		{"after the deadline", -1, below, 0, retry.ErrCanceled, errServer, classify.KindNone},
		{"the last attempt, before the deadline", 1, below, 2, retry.ErrAttemptsExhausted, nil, classify.Timeout},
		{"the last attempt, at the deadline", 0, below, 2, retry.ErrCanceled, errServer, classify.KindNone},
		{"an answer at the deadline", 0, errServer, 0, retry.ErrDeadline, nil, classify.Transient},
		{"a throttle at the deadline", 0, errThrottled, 0, retry.ErrDeadline, nil, classify.Throttling},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk, attempts, kind := &clock.Fake{}, 0, classify.KindNone
				s := modes(t, clk, func(config *standard.Config) {
					config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
						if e.Kind == retry.AttemptEnded {
							kind = e.Verdict.Kind()
						}
					})
				})[mode]
				ctx := late{t.Context(), clk.Now().Add(time.Minute)}
				var err error
				clk.Run(func() {
					err = retry.DoErr(ctx, s, retry.Operation{MaxAttempts: c.limit}, func(context.Context) error {
						if attempts++; attempts == 1 {
							return errServer
						}
						clk.Advance(ctx.deadline.Sub(clk.Now()) - c.left)
						return c.answer
					})
				})
				require.ErrorIs(t, err, c.reason)
				require.ErrorIs(t, err, c.answer)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotContains(t, err.Error(), "nil")
				if c.last != nil {
					require.ErrorIs(t, err, c.last)
				}
				require.Equal(t, c.kind, kind)
				require.Equal(t, 2, attempts)
				require.Equal(t, 486, s.Snapshot().Scopes[0].Quota, "one retry was charged")
			})
		}
	}
}

// TestTimersOfOneDeadlineFireInAnyOrder lets an attempt see the deadline of its caller on a context
// of another timer.
func TestTimersOfOneDeadlineFireInAnyOrder(t *testing.T) {
	t.Parallel()
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			deadline := time.Now().Add(time.Second)
			below, cancelBelow := context.WithDeadline(context.Background(), deadline)
			defer cancelBelow()
			ctx, cancel := context.WithDeadline(t.Context(), deadline)
			defer cancel()
			s := modes(t, clock.System{}, func(c *standard.Config) { c.Base = time.Nanosecond })["adaptive"]
			attempts := 0
			err := retry.DoErr(ctx, s, retry.Operation{}, func(context.Context) error {
				if attempts++; attempts == 1 {
					return errServer
				}
				<-below.Done()
				return below.Err()
			})
			require.ErrorIs(t, err, retry.ErrCanceled)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, errServer)
			require.Equal(t, 2, attempts)
		})
	}
}

func TestALoopOfOnesOwnIsToldWhetherTheCallerHasGone(t *testing.T) {
	t.Parallel()
	for gone, want := range map[bool]classify.Kind{false: classify.Timeout, true: classify.KindNone} {
		clk, kinds := &clock.Fake{}, []classify.Kind(nil)
		s := modes(t, clk, func(c *standard.Config) {
			c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					kinds = append(kinds, e.Verdict.Kind())
				}
			})
		})["standard"]
		for _, end := range []func(ctx context.Context, token retry.Token) error{
			func(ctx context.Context, token retry.Token) error {
				_, err := s.RefreshRetryToken(ctx, token, context.DeadlineExceeded)
				return err
			},
			func(_ context.Context, token retry.Token) error {
				return s.RecordFailure(token, context.DeadlineExceeded)
			},
		} {
			ctx, cancel := clk.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			token, err := s.AcquireInitialToken(ctx, retry.Operation{})
			require.NoError(t, err)
			require.NoError(t, token.Wait(ctx))
			if gone {
				clk.Advance(time.Hour)
			}
			_ = end(ctx, token)
		}
		require.Equal(t, []classify.Kind{want, want}, kinds)
	}
	for _, s := range modes(t, &clock.Fake{}, nil) {
		require.Equal(t, classify.RetryAs(classify.Timeout), s.Judge(retry.Operation{}, context.DeadlineExceeded), "no context")
	}
}
