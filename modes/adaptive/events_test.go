package adaptive_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

type panicking struct{}

func (panicking) Name() string                               { return "panicking" }
func (panicking) Classify(classify.Outcome) classify.Verdict { panic("classifier") }

// recorder is an observer that keeps the events.
type recorder struct {
	mu     sync.Mutex
	events []retry.Event
}

func (r *recorder) Observe(_ context.Context, e retry.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// of returns the events of a kind.
func (r *recorder) of(kind retry.EventKind) []retry.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []retry.Event
	for _, e := range r.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

func (r *recorder) use(c *adaptive.Config) { c.Standard.Observer = r }

func TestFailureThatAPolicyEndsIsAnAttemptThatEnded(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, _ := newStrategy(t, r.use)
	policy := func(_ int, err error) error { return retry.Permanent(err) }
	_, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errServer), retry.WithPolicy(policy))
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
	s, _ := newStrategy(t, r.use)
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
	s, clk := newStrategy(t, r.use)
	for range 10 {
		clk.Advance(time.Second)
		require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
	}
	require.Empty(t, r.of(retry.SendRateChanged))
	require.Error(t, do(t.Context(), clk, s, retry.Operation{MaxAttempts: 1}, errThrottle))
	require.Len(t, r.of(retry.SendRateChanged), 1)
	require.InDelta(t, s.Snapshot().Scopes[0].FillRate, r.of(retry.SendRateChanged)[0].Rate, 0)
}

func TestRefusedSendWaitIsARefusedRetry(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.NoSendWait = true
		c.Standard.Scope = func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Name: op.Name} }
		r.use(c)
	})
	err := do(t.Context(), clk, s, retry.Operation{Name: "GetItem"}, errThrottle)
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
				_, err = retry.Do(ctx, s, op, answers(errServer))
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

// counted counts the send tokens that its scope has given out and taken back.
type counted struct {
	*sendrate.Limiter
	acquired, given float64
}

func (l *counted) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	sent, err := l.Limiter.Acquire(ctx, r)
	if err == nil {
		l.acquired += r.Cost
	}
	return sent, err
}

func (l *counted) Give(cost float64) {
	l.given += cost
	l.Limiter.Give(cost)
}

// A test that fails in an observer ends the goroutine of the operation.
func TestObserverThatEndsTheGoroutineAfterASendWaitLosesNoToken(t *testing.T) {
	t.Parallel()
	var limiter *counted
	unruly := false
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.Standard.MaxAttempts, c.SendCost = 1, 2
		c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			limiter = &counted{Limiter: sendrate.NewLimiter(sendrate.Config{Cost: 2}, clk)}
			return limiter
		}
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if unruly && e.Kind == retry.SendWaitEnded {
				runtime.Goexit()
			}
		})
	})
	require.Error(t, do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	unruly = true
	start, made := clk.Now(), 0
	clk.Run(func() {}, func() {
		_ = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { made++; return nil })
	})
	require.Zero(t, made)
	require.Equal(t, 4*time.Second, clk.Now().Sub(start))
	require.InDelta(t, 2, s.Snapshot().Scopes[0].SendTokens, 0)
	unruly = false
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
	require.Equal(t, 4*time.Second, clk.Now().Sub(start), "its tokens are there")
	require.InDelta(t, 2*2, limiter.acquired-limiter.given, 0, "two attempts were made")
}

func TestEventsOfSendWaitsTellTheQueueAndTheError(t *testing.T) {
	t.Parallel()
	began, over := make(chan retry.Event), make(chan retry.Event)
	s, clk := newStrategy(t, func(c *adaptive.Config) {
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
	require.Error(t, do(t.Context(), clk, s, retry.Operation{}, errThrottle))
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
