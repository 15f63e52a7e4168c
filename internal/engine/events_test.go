package engine_test

import (
	"context"
	"errors"
	"fmt"
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

func TestEventsTellTheWholeStoryInOrder(t *testing.T) {
	t.Parallel()
	var story []string
	scopes := map[retry.ScopeKey]int{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		start := c.Standard.Clock.Now()
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			kind := e.Kind.String()
			story = append(story, fmt.Sprintf("%v %s #%d %s delay=%v quota=%d rate=%.3f",
				e.Time.Sub(start), kind, e.Attempt, e.Verdict, e.Delay, e.Quota, e.Rate))
			scopes[e.Scope]++
			panic("an observer that panics does no harm")
		})
	})
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errThrottle, errThrottle))
	require.ErrorIs(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errClient), errClient)
	require.Equal(t, []string{
		"0s scope-created #1 none delay=0s quota=0 rate=0.000",
		"0s attempt-ended #1 retry(throttling) delay=0s quota=500 rate=0.000",
		"0s send-rate-changed #1 none delay=0s quota=0 rate=0.500",
		"0s retry-scheduled #1 retry(throttling) delay=1s quota=495 rate=0.000",
		"1s send-wait-began #2 none delay=1s quota=0 rate=0.500",
		"2s send-wait-ended #2 none delay=1s quota=0 rate=0.000",
		"2s attempt-ended #2 retry(throttling) delay=0s quota=495 rate=0.000",
		"2s retry-scheduled #2 retry(throttling) delay=2s quota=490 rate=0.000",
		"4s attempt-ended #3 none delay=0s quota=495 rate=0.000",
		"4s send-rate-changed #3 none delay=0s quota=0 rate=1.120",
		"4s operation-ended #3 none delay=0s quota=495 rate=0.000",
		"4s send-wait-began #1 none delay=892.857143ms quota=0 rate=1.120",
		"4.892857143s send-wait-ended #1 none delay=892.857143ms quota=0 rate=0.000",
		"4.892857143s attempt-ended #1 none delay=0s quota=495 rate=0.000",
		"4.892857143s send-rate-changed #1 none delay=0s quota=0 rate=3.424",
		"4.892857143s retry-refused #1 none delay=0s quota=495 rate=0.000",
		"4.892857143s operation-ended #1 none delay=0s quota=495 rate=0.000",
	}, story)
	require.Equal(t, map[retry.ScopeKey]int{{Scope: "orders"}: len(story)}, scopes)
}

func TestFailureThatAPolicyEndsIsAnAttemptThatEnded(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, _ := play.Adaptive(t, r.use)
	policy := func(_ int, err error) error { return retry.Permanent(err) }
	_, err := retry.Do(t.Context(), s, retry.Operation{}, play.Answers(errServer), retry.WithPolicy(policy))
	require.Equal(t, errServer, err)
	require.Len(t, r.events, 3)
	require.Equal(t, retry.AttemptEnded, r.events[0].Kind)
	require.ErrorIs(t, r.events[0].Err, errServer)
	require.Equal(t, retry.RetryRefused, r.events[1].Kind)
	require.Equal(t, retry.ErrNotRetryable, r.events[1].Reason)
	require.Equal(t, retry.OperationEnded, r.events[2].Kind)
	require.Equal(t, retry.ErrNotRetryable, r.events[2].Reason)
	require.Equal(t, 1, r.events[0].Attempt)
}

func TestAttemptThatPanicsIsAnAttemptThatEnded(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, _ := play.Adaptive(t, r.use)
	require.PanicsWithValue(t, "operation", func() {
		_, _ = retry.Do(t.Context(), s, retry.Operation{}, func(context.Context) (int, error) { panic("operation") })
	})
	require.Len(t, r.events, 2)
	require.Equal(t, retry.AttemptEnded, r.events[0].Kind)
	require.Equal(t, retry.ErrAborted, r.events[0].Err)
	require.Equal(t, retry.OperationEnded, r.events[1].Kind)
	require.Equal(t, retry.ErrAborted, r.events[1].Reason)
}

func TestSuccessesBeforeTheFirstThrottleChangeNoRateThatCounts(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, clk := play.Adaptive(t, r.use)
	for range 10 {
		clk.Advance(time.Second)
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	}
	require.Empty(t, r.of(retry.SendRateChanged))
	require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{MaxAttempts: 1}, errThrottle))
	require.Len(t, r.of(retry.SendRateChanged), 1)
	require.InDelta(t, s.Snapshot().Scopes[0].FillRate, r.of(retry.SendRateChanged)[0].Rate, 0)
}

func TestRefusedSendWaitIsARefusedRetry(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.NoSendWait = true
		c.Standard.Scope = func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Name: op.Name} }
		r.use(c)
	})
	err := play.Do(t.Context(), clk, s, retry.Operation{Name: "GetItem"}, errThrottle)
	require.ErrorIs(t, err, retry.ErrSendRateLimited)
	require.ErrorIs(t, err, errThrottle)
	require.ErrorContains(t, err, "GetItem")
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 1, refusal.Attempts)
	require.Equal(t, retry.ScopeKey{Name: "GetItem"}, refusal.Scope, "that of the send rate")
	require.Equal(t, 500, s.Snapshot().Scopes[1].Quota, "the retry costs nothing")

	refused := r.of(retry.RetryRefused)
	require.Len(t, refused, 1)
	require.Equal(t, retry.ErrSendRateLimited, refused[0].Reason)
	require.Equal(t, errThrottle, refused[0].Err)
	require.Equal(t, 2, refused[0].Attempt)
	require.Equal(t, time.Second, refused[0].Delay, "the rest of the two that a token takes")
	require.Equal(t, clk.Now(), refused[0].Time)
	require.Empty(t, r.of(retry.SendWaitBegan), "there was no wait")
}

func TestRefusedWaitForQuotaIsOneRefusedRetry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		deadline   time.Duration
		maxElapsed time.Duration
		want       error
	}{
		{"in vain", time.Hour, 0, retry.ErrQuotaExhausted},
		{"past the end of the operation", time.Hour, 10 * time.Second, retry.ErrMaxElapsed},
		{"until the caller gives up", 10 * time.Second, 0, retry.ErrCanceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{}
				s, err := adaptive.New(adaptive.Config{Standard: standard.Config{
					QuotaInitial: new(4), MaxQuotaWait: time.Minute, Observer: r,
				}})
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
				defer cancel()
				op := retry.Operation{Scope: "orders", MaxElapsed: c.maxElapsed}
				_, err = retry.Do(ctx, s, op, play.Answers(errServer))
				require.ErrorIs(t, err, c.want)
				refused := r.of(retry.RetryRefused)
				require.Len(t, refused, 1)
				require.Equal(t, c.want, refused[0].Reason)
				require.Equal(t, errServer, refused[0].Err)
				require.Equal(t, 2, refused[0].Attempt)
				require.Equal(t, 4, refused[0].Quota)
				require.Equal(t, op.Key(), refused[0].Scope)
			})
		})
	}
}

func TestEventsOfSendWaitsTellTheQueueAndTheError(t *testing.T) {
	t.Parallel()
	began, over := make(chan retry.Event), make(chan retry.Event)
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.MaxAttempts = 1
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.SendWaitBegan {
				began <- e
			}
			if e.Kind == retry.SendWaitEnded {
				over <- e
			}
		})
	})
	require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	ctx, cancel := context.WithCancel(t.Context())
	for i, caller := range []context.Context{t.Context(), ctx, t.Context()} {
		token, err := s.AcquireInitialToken(caller, retry.Operation{})
		require.NoError(t, err)
		go func() { _ = token.Wait(caller) }()
		e := <-began // while it is in the queue
		require.Equal(t, i, e.Waiting)
		require.Equal(t, time.Duration(i+1)*2*time.Second, e.Delay)
		require.InDelta(t, 0.5, e.Rate, 0)
		require.Equal(t, i+1, s.Snapshot().Scopes[0].Waiting)
	}
	cancel()
	e := <-over
	require.ErrorIs(t, e.Err, retry.ErrCanceled)
	require.Zero(t, e.Delay)
	for range 2 {
		clk.AdvanceToNext()
		e = <-over
		require.NoError(t, e.Err)
	}
	require.Equal(t, 4*time.Second, e.Delay)
	require.Zero(t, s.Snapshot().Scopes[0].Waiting)
}

// twice is a limiter that waits for another one first, such as one that several processes share.
type twice struct {
	adaptive.Limiter
	clk clock.Clock
}

func (l twice) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	r.OnWait(ratelimit.Wait{Expected: time.Second})
	if err := l.clk.Sleep(ctx, time.Second); err != nil {
		return time.Time{}, err
	}
	return l.Limiter.Acquire(ctx, r)
}

func TestTwoWaitsOfALimiterAreOneSendWait(t *testing.T) {
	t.Parallel()
	var events []retry.Event
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) })
		c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return twice{sendrate.NewLimiter(sendrate.Config{Ceiling: 0.5}, clk), clk}
		}
	})
	for range 3 {
		events = nil
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	}
	kinds, waited, ended := []retry.EventKind{}, time.Duration(0), events[len(events)-1]
	for _, e := range events {
		kinds = append(kinds, e.Kind)
		if e.Kind == retry.SendWaitEnded {
			waited += e.Delay
		}
	}
	require.Equal(t, []retry.EventKind{retry.SendWaitBegan, retry.SendWaitBegan, retry.SendWaitEnded}, kinds[:3])
	require.Equal(t, 2*time.Second, waited)
	require.Equal(t, 2*time.Second, ended.SendWait)
	require.Equal(t, 2*time.Second, ended.Elapsed)
}

func TestEveryKindOfRefusalIsToldWithItsReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		quota   int
		op      retry.Operation
		failure error
		want    error
	}{
		{"not retryable", 500, retry.Operation{}, errClient, retry.ErrNotRetryable},
		{"attempts", 500, retry.Operation{MaxAttempts: 1}, errServer, retry.ErrAttemptsExhausted},
		{"quota", 0, retry.Operation{}, errServer, retry.ErrQuotaExhausted},
		{"time", 500, retry.Operation{MaxElapsed: 1}, errServer, retry.ErrMaxElapsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []retry.Event
			s, _ := newStandard(t, func(config *standard.Config) {
				config.QuotaInitial = &c.quota
				config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.RetryRefused {
						got = append(got, e)
					}
				})
			})
			_, err := retry.Do(t.Context(), s, c.op, play.Answers(c.failure))
			require.ErrorIs(t, err, c.failure)
			require.Len(t, got, 1)
			require.Equal(t, c.want, got[0].Reason)
			require.Equal(t, c.failure, got[0].Err)
			require.Equal(t, c.quota, got[0].Quota)
			require.Equal(t, 1, got[0].Attempt)
		})
	}
}

func TestOperationEndsOnceAlthoughItsObserverEndsTheGoroutine(t *testing.T) {
	t.Parallel()
	for name, failures := range map[string][]error{"success": nil, "failure": {errServer, errServer, errServer}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var outcomes []string
			s, _ := newStandard(t, func(c *standard.Config) {
				c.Random = func() float64 { return 0 }
				c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.OperationEnded {
						outcomes = append(outcomes, e.Outcome())
						runtime.Goexit()
					}
				})
			})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = retry.Do(t.Context(), s, retry.Operation{}, play.Answers(failures...))
			}()
			<-ended
			require.Len(t, outcomes, 1)
			require.NotContains(t, outcomes, "aborted")
		})
	}
}
