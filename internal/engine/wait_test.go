package engine_test

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestLimitsOfTheConfigReachTheLimiter(t *testing.T) {
	t.Parallel()
	for _, observer := range []retry.Observer{
		nil, retry.ObserverFunc(func(context.Context, retry.Event) {}),
	} {
		l := &scripted{}
		s, clk := play.Adaptive(t, func(c *adaptive.Config) {
			c.Standard.Observer = observer
			c.MaxSendWait, c.MaxSendQueue, c.SendCost, c.NoSendWait = time.Minute, 7, 2.5, true
			l.use(c)
		})
		end := clk.Now().Add(time.Hour)
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{NotAfter: end}, errServer))
		want := ratelimit.Request{Cost: 2.5, NoWait: true, MaxWait: time.Minute, MaxQueue: 7, NotAfter: end}
		require.Equal(t, []ratelimit.Request{want, want}, l.requests)
		require.Equal(t, []float64{2.5}, l.costs, "what the retry has to expect")
	}
}

func TestWaitsThatTheLimitsRefuse(t *testing.T) {
	t.Parallel()
	limited := retry.ErrSendRateLimited
	for detail, c := range map[string]struct {
		change func(c *adaptive.Config)
		op     retry.Operation
		reason error
	}{
		"waiting is not allowed: 2s to wait, 0 ahead, 0.5 tokens/s": {
			func(c *adaptive.Config) { c.NoSendWait = true }, retry.Operation{}, limited,
		},
		"the wait would be longer than allowed: 2s to wait": {
			func(c *adaptive.Config) { c.MaxSendWait = 2*time.Second - 1 }, retry.Operation{}, limited,
		},
		"the wait would end too late: 2s to wait": {
			func(*adaptive.Config) {}, retry.Operation{MaxElapsed: 2*time.Second - 1}, retry.ErrMaxElapsed,
		},
	} {
		s, clk := play.Adaptive(t, func(config *adaptive.Config) {
			config.Standard.MaxAttempts = 1
			c.change(config)
		})
		require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{}, errThrottle))
		before := clk.Now()
		err := play.Do(t.Context(), clk, s, c.op)
		require.Equal(t, c.reason, play.Refusal(t, err).Reason)
		require.Equal(t, 2*time.Second, play.Refusal(t, err).Wait)
		require.ErrorContains(t, err, "ratelimit: "+detail)
		_, ok := errors.AsType[*ratelimit.WaitError](err)
		require.True(t, ok)
		require.ErrorIs(t, err, limited)
		require.Equal(t, before, clk.Now(), "at once")
	}
}

// What a debt lends is for what was in flight when it began, and an attempt is in flight from the end of its Wait.
func TestLoanIsForWhatWasSentBefore(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]retry.Operation{"": {}, "with an end": {MaxElapsed: time.Hour}} {
		var lent []bool
		s, _ := newStandard(t, func(c *standard.Config) {
			c.QuotaInitial = new(0)
			c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.RetryScheduled {
					lent = append(lent, e.Lent)
				}
			})
		})
		waiting, err := s.AcquireInitialToken(t.Context(), op)
		require.NoError(t, err)
		sent := play.Sent(t, s)
		granted(t, s, play.Sent(t, s), io.ErrUnexpectedEOF) // its debt begins
		require.NoError(t, waiting.Wait(t.Context()))
		_, err = s.RefreshRetryToken(t.Context(), waiting, io.ErrUnexpectedEOF)
		require.ErrorIs(t, err, retry.ErrQuotaExhausted, name)
		granted(t, s, sent, io.ErrUnexpectedEOF)
		require.Equal(t, []bool{true, true}, lent)
		require.Equal(t, 28, s.Snapshot().Scopes[0].Debt)
	}
}

func TestOperationThatMayTakeCenturiesWaitsForItsToken(t *testing.T) {
	t.Parallel()
	for _, op := range []retry.Operation{
		{NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}, {MaxElapsed: math.MaxInt64},
	} {
		s, clk := play.Adaptive(t, nil)
		require.NoError(t, play.Do(t.Context(), clk, s, op, errThrottle))
		before := clk.Now()
		require.NoError(t, play.Do(t.Context(), clk, s, op))
		require.Positive(t, clk.Now().Sub(before), "it has waited")
	}
}

func TestErrorOfALimiterOfTheUser(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("no route to the fleet")
	l := &scripted{err: errOwn}
	s, clk := play.Adaptive(t, l.use)
	err := play.Do(t.Context(), clk, s, retry.Operation{})
	require.Equal(t, retry.ErrSendRateLimited, play.Refusal(t, err).Reason)
	require.Equal(t, errOwn, play.Refusal(t, err).Detail)
	require.EqualError(t, err, "retry: client-side: held back by the send rate: no route to the fleet (0 attempts)")
	require.Empty(t, l.reports, "an attempt that was refused is not reported")
}

// slow is a limiter that makes every attempt wait, whatever the request says.
type slow struct {
	*scripted
	clk *clock.Fake
}

func (l slow) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	l.clk.Advance(time.Second)
	return l.scripted.Acquire(ctx, r)
}

func TestLimiterOfTheUserThatWaitsTooLongSendsNothing(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		c.SendCost = 3
		useLimiter(slow{l, c.Standard.Clock.(*clock.Fake)})(c)
	})
	_, err := retry.Do(t.Context(), s, retry.Operation{MaxElapsed: time.Second}, play.Answers())
	require.NoError(t, err)
	require.Empty(t, l.given)
	late, err := s.AcquireInitialToken(t.Context(), retry.Operation{MaxElapsed: time.Second - 1})
	require.NoError(t, err)
	require.ErrorIs(t, late.Wait(t.Context()), retry.ErrMaxElapsed)
	require.Equal(t, []float64{3}, l.given, "its tokens go back at once")
	require.NoError(t, s.RecordFailure(late, nil))
	require.Len(t, l.given, 1)
	require.Len(t, l.reports, 1, "the attempt that was refused is not reported")
}

func TestLimiterOfTheUserThatIsNilIsOneOfOurs(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return nil }
	})
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errThrottle))
	require.True(t, s.Snapshot().Scopes[1].Limited)
}

func TestBackoffAndSendWaitTogetherPastTheDeadlineAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for want, c := range map[error]struct {
		op       retry.Operation
		deadline time.Duration
	}{
		retry.ErrDeadline:   {retry.Operation{}, 2 * time.Second},
		retry.ErrMaxElapsed: {retry.Operation{MaxElapsed: 2*time.Second - 1}, time.Hour},
	} {
		s, clk := play.Adaptive(t, nil)
		ctx, cancel := clk.WithTimeout(t.Context(), c.deadline)
		defer cancel()
		// There is time for a second of backoff, but the token takes two. The clock stands still.
		_, err := retry.Do(ctx, s, c.op, play.Answers(errThrottle))
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, err, errThrottle)
		require.Equal(t, 500, s.Snapshot().Scopes[0].Quota, "nothing was charged")
		require.Empty(t, clk.Waits())
	}
}

func TestAttemptThatCannotBeSentInTimeAfterACutMakesRoomInTheQueue(t *testing.T) {
	t.Parallel()
	inBubble(t, adaptive.Config{
		Standard:     standard.Config{MaxAttempts: 1},
		MaxSendQueue: 1,
		SendLimit:    func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 2} },
	}, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		first := play.Sent(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		defer cancel()
		second, began := make(chan error, 1), time.Now()
		go func() {
			_, err := retry.Do(ctx, s, retry.Operation{}, play.Answers()) // in half a second
			second <- err
		}()
		synctest.Wait()

		require.NoError(t, s.RecordFailure(first, errThrottle))

		err := <-second
		require.Equal(t, began, time.Now(), "at once")
		for _, want := range []error{retry.ErrDeadline, context.DeadlineExceeded, retry.ErrSendRateLimited} {
			require.ErrorIs(t, err, want)
		}
		require.Equal(t, 714285715*time.Nanosecond, play.Refusal(t, err).Wait)
		_, err = retry.Do(t.Context(), s, retry.Operation{}, play.Answers())
		require.NoError(t, err, "the queue is free")
	})
}

// A test that fails in an observer ends the goroutine of the operation.
func TestObserverThatEndsTheGoroutineAfterASendWaitLosesNoToken(t *testing.T) {
	t.Parallel()
	limiter, unruly := &books{}, false
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.MaxAttempts, c.SendCost = 1, 2
		useLimiter(limiter.of(sendrate.Config{Cost: 2}, c.Standard.Clock))(c)
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if unruly && e.Kind == retry.SendWaitEnded {
				runtime.Goexit()
			}
		})
	})
	require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	unruly = true
	start, made := clk.Now(), 0
	clk.Run(func() {}, func() {
		_ = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { made++; return nil })
	})
	require.Zero(t, made)
	require.Equal(t, 4*time.Second, clk.Now().Sub(start))
	require.InDelta(t, 2, s.Snapshot().Scopes[0].SendTokens, 0)
	unruly = false
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	require.Equal(t, 4*time.Second, clk.Now().Sub(start), "its tokens are there")
	require.EqualValues(t, 2, limiter.acquired.Load()-limiter.given.Load(), "two attempts were made")
}
