package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// oneSecond ends attempts after a second.
func oneSecond() retry.Option {
	return retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second})
}

func TestAttemptTimeoutIsRetriedAndTheCallersIsNot(t *testing.T) {
	t.Parallel()
	inBoth(t, "", func(c *standard.Config) { c.TimeoutCost = 20 }, func(t world) {
		limit := retry.WithAttemptTimeout(retry.FixedTimeout{First: 5 * time.Second})
		hang := func(ctx context.Context, _ int) error {
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.LessOrEqual(t, deadline.Sub(t.clk.Now()), 5*time.Second)
			require.Equal(t, context.DeadlineExceeded, t.clk.Await(ctx, nil))
			return errors.Join(ctx.Err(), errClient)
		}
		start := t.clk.Now()
		attempts, err := t.do(t.Context(), retry.Operation{}, hang, limit)
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the deadline is that of the attempt, not of the caller")
		late, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok)
		require.True(t, late.Timeout())
		require.Equal(t, 5*time.Second, late.After)
		_, ok = errors.AsType[statusError](err)
		require.True(t, ok, "what the attempt returned")
		require.Equal(t, 3, attempts)
		require.Equal(t, 3*5*time.Second+3*time.Second, t.clk.Now().Sub(start))
		require.Equal(t, 460, t.quota(), "at the price of timeouts")

		ctx, cancel := t.clk.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		attempts, err = t.do(ctx, retry.Operation{}, hang, limit)
		require.ErrorIs(t, err, retry.ErrCanceled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, ok = errors.AsType[*retry.AttemptTimeoutError](err)
		require.False(t, ok)
		require.Equal(t, 1, attempts)
	})
}

func TestWhatAnAttemptReturnsAfterItsTimeoutCounts(t *testing.T) {
	t.Parallel()
	mark := func(kind classify.Kind) func(error) error {
		return func(err error) error { return retry.Mark(err, kind) }
	}
	for name, c := range map[string]struct {
		returns func(error) error
		calls   int
		kind    classify.Kind
	}{
		"no mark":         {func(err error) error { return err }, 3, classify.Timeout},
		"a mark":          {mark(classify.Throttling), 3, classify.Throttling},
		"permanent":       {retry.Permanent, 1, classify.KindNone},
		"a mark of none":  {mark(classify.KindNone), 1, classify.KindNone},
		"permanent below": {func(err error) error { return fmt.Errorf("get: %w", retry.Permanent(err)) }, 1, classify.KindNone},
		"the answer":      {func(error) error { return errClient }, 1, classify.KindNone},
	} {
		w := newWorld(t, "standard", nil)
		calls, err := w.do(t.Context(), retry.Operation{}, func(ctx context.Context, _ int) error {
			return c.returns(w.clk.Await(ctx, nil))
		}, oneSecond())
		require.Equal(t, c.calls, calls, name)
		require.Equal(t, c.kind, w.kinds()[0], name)
		if name == "the answer" {
			require.Equal(t, errClient, err)
			continue
		}
		require.ErrorContains(t, err, "attempt timed out after 1s")
		_, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok, name)
	}
	w := newWorld(t, "standard", nil)
	ctx, cancel := context.WithCancel(t.Context())
	calls, err := w.do(ctx, retry.Operation{}, func(ctx context.Context, _ int) error {
		defer cancel() // the caller's cancel counts after it
		return w.clk.Await(ctx, nil)
	}, oneSecond())
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, calls)
}

// TestLimitOfAClientOfOnesOwn has the methods that Do does not use, and a limit that is none.
func TestLimitOfAClientOfOnesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", nil)
	begin := func(timeout retry.AttemptTimeout) (context.Context, *retry.AttemptLimit) {
		ctx, limit, err := retry.LimitAttempt(t.Context(), w, retry.Operation{}, timeout, 0)
		require.NoError(t, err)
		return ctx, limit
	}
	ctx, none := begin(nil)
	none.Progress()
	require.True(t, none.Lift(true))
	require.Zero(t, none.Allowed())
	require.NoError(t, none.Late(context.Canceled))
	none.Release()
	require.NoError(t, ctx.Err())

	second := retry.FixedTimeout{First: time.Second}
	ctx, limit := begin(second)
	require.Equal(t, time.Second, limit.Allowed())
	w.clk.Advance(900 * time.Millisecond)
	limit.Progress()
	w.clk.Advance(900 * time.Millisecond)
	require.NoError(t, ctx.Err())
	require.True(t, limit.Lift(true))
	w.clk.Advance(time.Hour)
	require.NoError(t, ctx.Err(), "it is good for the second part")
	require.NoError(t, limit.Late(context.Canceled))
	limit.Release()
	require.Equal(t, context.Canceled, ctx.Err())
	require.NoError(t, limit.Late(ctx.Err()), "Release has ended it")

	ctx, limit = begin(second)
	w.clk.Advance(900 * time.Millisecond)
	limit.Progress()
	w.clk.Advance(time.Second)
	require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
	require.False(t, limit.Lift(true))
	late, ok := errors.AsType[*retry.AttemptTimeoutError](limit.Late(ctx.Err()))
	require.True(t, ok)
	require.Equal(t, time.Second, late.After)
	require.NoError(t, limit.Late(errors.New("the answer")))
	limit.Release()

	_, _, err := retry.LimitAttempt(t.Context(), w, retry.Operation{}, retry.FixedTimeout{}, 0)
	require.EqualError(t, err, "retry: FixedTimeout.First 0s: must be more than zero")
}

func TestAttemptEndsAlthoughTheClockGoesBack(t *testing.T) {
	t.Parallel()
	for _, timeout := range []retry.AttemptTimeout{retry.FixedTimeout{First: 10 * time.Second}, slower(t)} {
		clk := &unsteady{Fake: &clock.Fake{}}
		ctx, limit, err := retry.LimitAttempt(t.Context(), modes(t, clk, nil)["standard"], retry.Operation{}, timeout, 0)
		require.NoError(t, err)
		defer limit.Release()
		clk.Advance(9 * time.Second)
		clk.by = -time.Hour
		clk.Advance(10 * time.Second)
		require.NoError(t, ctx.Err(), "its time starts again")
		limit.Progress()
		clk.Advance(9 * time.Second)
		require.NoError(t, ctx.Err())
		clk.Advance(time.Second)
		require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
	}
}

// TestTimeoutOfARequestHasTheTimeThatItsBodyNeeds has bodies that were read at once, and answers that do not come.
func TestTimeoutOfARequestHasTheTimeThatItsBodyNeeds(t *testing.T) {
	t.Parallel()
	const s, kib = time.Second, 1 << 10
	learned, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: s, Ceiling: 10 * s})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		body    int64
		timeout retry.AttemptTimeout
		want    time.Duration // zero: none
	}{
		"no body":                  {0, retry.FixedTimeout{First: 2 * s}, 2 * s},
		"small":                    {64 * kib, retry.FixedTimeout{First: 2 * s}, 2 * s},
		"large":                    {128 * kib, retry.FixedTimeout{First: 2 * s}, 3 * s},
		"of five MiB":              {5 << 20, retry.FixedTimeout{First: 2 * s}, 42 * s},
		"learned, small":           {64 * kib, learned, 10 * s},
		"learned, of five MiB":     {5 << 20, learned, 50 * s},
		"more than there is":       {math.MaxInt64, retry.FixedTimeout{First: math.MaxInt64 - 1}, math.MaxInt64},
		"of unknown size":          {-1, retry.FixedTimeout{First: s}, 0},
		"learned, of unknown size": {-1, learned, 0},
	} {
		_, limit, err := retry.LimitAttempt(t.Context(), newLearner(t).strategy, retry.Operation{}, c.timeout, c.body)
		require.NoError(t, err)
		require.Equal(t, c.want, limit.Allowed(), name)
		limit.Release()
	}
}

// Most of the time of a large upload is its sending, which says nothing about other attempts.
func TestLargeBodiesTeachNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLearner(t)
		allowed := func(body int64) (d time.Duration) {
			require.NoError(t, retry.DoErr(t.Context(), l.strategy, retry.Operation{}, func(ctx context.Context) error {
				_, limit, err := retry.LimitAttempt(ctx, l.strategy, retry.Operation{}, l.timeout, body)
				require.NoError(t, err)
				defer limit.Release()
				d = limit.Allowed()
				pause(10*time.Millisecond + time.Duration(body)*time.Microsecond)
				require.True(t, limit.Lift(true))
				return nil
			}))
			return d
		}
		for range 100 {
			allowed(0)
			allowed(1 << 20)
		}
		small := allowed(0)
		require.InDelta(t, 30*time.Millisecond, small, float64(3*time.Millisecond))
		require.Equal(t, small+8*time.Second, allowed(1<<20))
	})
}

// BenchmarkDoWithAttemptTimeout has many goroutines whose attempts are of one scope.
func BenchmarkDoWithAttemptTimeout(b *testing.B) {
	learned, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: time.Second, Ceiling: time.Minute})
	require.NoError(b, err)
	s, err := standard.New(standard.Config{})
	require.NoError(b, err)
	for name, timeout := range map[string]retry.AttemptTimeout{
		"none": nil, "fixed": retry.FixedTimeout{First: time.Minute}, "learned": learned,
	} {
		b.Run("timeout="+name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = retry.Do(b.Context(), s, retry.Operation{}, failing(nil), retry.WithAttemptTimeout(timeout))
				}
			})
		})
	}
}
