package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestAttemptTimeoutIsRetriedAndTheCallersIsNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := modes(t, clock.System{}, func(c *standard.Config) { c.TimeoutCost = 20 })["standard"]
		attempts := 0
		hang := func(ctx context.Context) (int, error) {
			attempts++
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.LessOrEqual(t, time.Until(deadline), 5*time.Second)
			<-ctx.Done()
			require.Equal(t, context.DeadlineExceeded, ctx.Err())
			return 0, errors.Join(ctx.Err(), errClient)
		}
		start := time.Now()
		_, err := retry.Do(t.Context(), s, retry.Operation{}, hang, retry.WithAttemptTimeout(retry.FixedTimeout{First: 5 * time.Second}))
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the deadline is that of the attempt, not of the caller")
		timeout, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok)
		require.True(t, timeout.Timeout())
		require.Equal(t, 5*time.Second, timeout.After)
		_, ok = errors.AsType[interface {
			error
			HTTPStatusCode() int
		}](err)
		require.True(t, ok, "what the attempt returned")
		require.Equal(t, 3, attempts)
		require.Equal(t, 3*5*time.Second+3*time.Second, time.Since(start))
		require.Equal(t, 460, s.Snapshot().Scopes[0].Quota, "at the price of timeouts")

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		attempts = 0
		_, err = retry.Do(ctx, s, retry.Operation{}, hang, retry.WithAttemptTimeout(retry.FixedTimeout{First: 5 * time.Second}))
		require.ErrorIs(t, err, retry.ErrCanceled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, ok = errors.AsType[*retry.AttemptTimeoutError](err)
		require.False(t, ok)
		require.Equal(t, 1, attempts)
	})
}

func TestAttemptTimeoutOfARealRequest(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		clk.Advance(time.Second) // the attempt's time is up
		<-release
	}))
	defer server.Close()
	defer close(release)
	s := modes(t, clk, nil)["standard"]
	var err error
	clk.Run(func() {
		_, err = retry.Do(t.Context(), s, retry.Operation{}, func(ctx context.Context) (int, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
			require.NoError(t, err)
			response, err := server.Client().Do(request)
			if err != nil {
				return 0, err
			}
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			return response.StatusCode, err
		}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
	})
	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	_, ok := errors.AsType[*retry.AttemptTimeoutError](err)
	require.True(t, ok)
	require.NotErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

func TestCallersCancelCountsAfterAnAttemptTimeout(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := retry.Do(ctx, modes(t, clk, nil)["standard"], retry.Operation{}, func(ctx context.Context) (int, error) {
		n++
		clk.Advance(time.Second)
		<-ctx.Done()
		cancel()
		return 0, ctx.Err()
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, n)
	_, ok := errors.AsType[*retry.AttemptTimeoutError](err)
	require.True(t, ok, "the attempt had been ended before")
}

func TestAnswerOfTheServiceAfterTheAttemptsLimitIsStillItsAnswer(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	n := 0
	_, err := retry.Do(t.Context(), modes(t, clk, nil)["standard"], retry.Operation{}, func(context.Context) (int, error) {
		n++
		clk.Advance(time.Second)
		return 0, errClient
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
	require.Equal(t, errClient, err)
	require.Equal(t, 1, n)
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

// TestLimitOfAClientOfOnesOwn has the methods that Do does not use, and a limit that is none.
func TestLimitOfAClientOfOnesOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLearner(t).strategy
		begin := func(timeout retry.AttemptTimeout) (context.Context, *retry.AttemptLimit) {
			ctx, limit, err := retry.LimitAttempt(t.Context(), s, retry.Operation{}, timeout, 0)
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
		pause(900 * time.Millisecond)
		limit.Progress()
		pause(900 * time.Millisecond)
		synctest.Wait()
		require.NoError(t, ctx.Err())
		require.True(t, limit.Lift(true))
		pause(time.Hour)
		require.NoError(t, ctx.Err(), "it is good for the second part")
		require.NoError(t, limit.Late(context.Canceled))
		limit.Release()
		require.Equal(t, context.Canceled, ctx.Err())
		require.NoError(t, limit.Late(ctx.Err()), "Release has ended it")

		ctx, limit = begin(second)
		pause(900 * time.Millisecond)
		limit.Progress()
		pause(time.Second)
		synctest.Wait()
		require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
		require.False(t, limit.Lift(true))
		late, ok := errors.AsType[*retry.AttemptTimeoutError](limit.Late(ctx.Err()))
		require.True(t, ok)
		require.Equal(t, time.Second, late.After)
		require.NoError(t, limit.Late(errors.New("the answer")))
		limit.Release()

		_, _, err := retry.LimitAttempt(t.Context(), s, retry.Operation{}, retry.FixedTimeout{}, 0)
		require.EqualError(t, err, "retry: FixedTimeout.First 0s: must be more than zero")
	})
}

// unsteady is a clock that may go back.
type unsteady struct {
	*clock.Fake
	by time.Duration
}

func (c *unsteady) Now() time.Time { return c.Fake.Now().Add(c.by) }

func TestAttemptEndsAlthoughTheClockGoesBack(t *testing.T) {
	t.Parallel()
	for name, timeout := range map[string]retry.AttemptTimeout{
		"fixed": retry.FixedTimeout{First: 10 * time.Second}, "learned": slower(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
		})
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, limit, err := retry.LimitAttempt(t.Context(), newLearner(t).strategy, retry.Operation{}, c.timeout, c.body)
			require.NoError(t, err)
			defer limit.Release()
			require.Equal(t, c.want, limit.Allowed())
		})
	}
}

// Most of the time of a large upload is its sending, which says nothing about other attempts.
func TestLargeBodiesTeachNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLearner(t)
		allowed := func(body int64) time.Duration {
			var d time.Duration
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

func BenchmarkDoWithAttemptTimeout(b *testing.B) {
	learned, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: time.Second, Ceiling: time.Minute})
	require.NoError(b, err)
	for name, timeout := range map[string]retry.AttemptTimeout{
		"none": nil, "fixed": retry.FixedTimeout{First: time.Minute}, "learned": learned,
	} {
		b.Run("timeout="+name, func(b *testing.B) {
			s, err := standard.New(standard.Config{})
			require.NoError(b, err)
			option := retry.WithAttemptTimeout(timeout)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = retry.Do(b.Context(), s, retry.Operation{}, func(context.Context) (int, error) { return 0, nil }, option)
			}
		})
	}
}

// BenchmarkAttemptTimeoutOfOneScope has many goroutines whose attempts have one timeout.
func BenchmarkAttemptTimeoutOfOneScope(b *testing.B) {
	learned, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: time.Second, Ceiling: time.Minute})
	require.NoError(b, err)
	s, err := standard.New(standard.Config{})
	require.NoError(b, err)
	for name, timeout := range map[string]retry.AttemptTimeout{"fixed": retry.FixedTimeout{First: time.Minute}, "learned": learned} {
		b.Run("timeout="+name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, limit, _ := retry.LimitAttempt(b.Context(), s, retry.Operation{Resource: "orders"}, timeout, 0)
					limit.Lift(true)
					limit.Release()
				}
			})
		})
	}
}
