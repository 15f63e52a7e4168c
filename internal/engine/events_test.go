package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
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

func TestSuccessesBeforeTheFirstThrottleChangeNoRateThatCounts(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	s, clk := play.Adaptive(t, r.Use)
	for range 10 {
		clk.Advance(time.Second)
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	}
	require.Empty(t, r.Of(retry.SendRateChanged))
	require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{MaxAttempts: 1}, errThrottle))
	require.Len(t, r.Of(retry.SendRateChanged), 1)
	require.InDelta(t, s.Snapshot().Scopes[0].FillRate, r.Of(retry.SendRateChanged)[0].Rate, 0)
}

func TestRefusedSendWaitIsARefusedRetry(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.NoSendWait = true
		c.Standard.Scope = func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Name: op.Name} }
		r.Use(c)
	})
	err := play.Do(t.Context(), clk, s, retry.Operation{Name: "GetItem"}, errThrottle)
	require.ErrorIs(t, err, retry.ErrSendRateLimited)
	require.ErrorIs(t, err, errThrottle)
	require.Equal(t, 1, play.Refusal(t, err).Attempts)
	require.Equal(t, retry.ScopeKey{Name: "GetItem"}, play.Refusal(t, err).Scope, "that of the send rate")
	require.Equal(t, 500, s.Snapshot().Scopes[1].Quota, "the retry costs nothing")

	refused := r.Of(retry.RetryRefused)
	require.Len(t, refused, 1)
	require.Equal(t, []error{retry.ErrSendRateLimited, errThrottle}, []error{refused[0].Reason, refused[0].Err})
	require.Equal(t, 2, refused[0].Attempt)
	require.Equal(t, time.Second, refused[0].Delay, "the rest of the two that a token takes")
	require.Equal(t, clk.Now(), refused[0].Time)
	require.Empty(t, r.Of(retry.SendWaitBegan), "there was no wait")
}

func TestRefusedWaitForQuotaIsOneRefusedRetry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deadline, maxElapsed time.Duration
		want                 error
	}{
		"in vain":                       {time.Hour, 0, retry.ErrQuotaExhausted},
		"past the end of the operation": {time.Hour, 10 * time.Second, retry.ErrMaxElapsed},
		"until the caller gives up":     {10 * time.Second, 0, retry.ErrCanceled},
	} {
		r := &play.Recorder{}
		config := standard.Config{QuotaInitial: new(4), MaxQuotaWait: time.Minute, Observer: r}
		inBubble(t, adaptive.Config{Standard: config}, func(t *testing.T, s retry.Strategy) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
			defer cancel()
			op := retry.Operation{Scope: "orders", MaxElapsed: c.maxElapsed}
			_, err := retry.Do(ctx, s, op, play.Answers(errServer))
			require.ErrorIs(t, err, c.want)
			refused := r.Of(retry.RetryRefused)
			require.Len(t, refused, 1, name)
			require.Equal(t, []error{c.want, errServer}, []error{refused[0].Reason, refused[0].Err})
			require.Equal(t, []int{2, 4}, []int{refused[0].Attempt, refused[0].Quota})
			require.Equal(t, op.Key(), refused[0].Scope)
		})
	}
}

func TestEventsOfSendWaitsTellTheQueueAndTheError(t *testing.T) {
	t.Parallel()
	told := make(chan retry.Event)
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.MaxAttempts = 1
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.SendWaitBegan || e.Kind == retry.SendWaitEnded {
				told <- e
			}
		})
	})
	require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	ctx, cancel := context.WithCancel(t.Context())
	for i, caller := range []context.Context{t.Context(), ctx, t.Context()} {
		token := begun(t, s, "")
		go func() { _ = token.Wait(caller) }()
		e := <-told // while it is in the queue
		require.Equal(t, []int{i, i + 1}, []int{e.Waiting, s.Snapshot().Scopes[0].Waiting})
		require.Equal(t, time.Duration(i+1)*2*time.Second, e.Delay)
		require.InDelta(t, 0.5, e.Rate, 0)
	}
	cancel()
	e := <-told
	require.ErrorIs(t, e.Err, retry.ErrCanceled)
	require.Zero(t, e.Delay)
	for n := range 2 {
		clk.AdvanceToNext()
		e = <-told
		require.NoError(t, e.Err)
		require.Equal(t, time.Duration(n+1)*2*time.Second, e.Delay)
	}
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
	r := &play.Recorder{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		r.Use(c)
		useLimiter(twice{sendrate.NewLimiter(sendrate.Config{Ceiling: 0.5}, c.Standard.Clock), c.Standard.Clock})(c)
	})
	for range 3 {
		r.Events = nil
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	}
	kinds := []retry.EventKind{r.Events[0].Kind, r.Events[1].Kind, r.Events[2].Kind}
	require.Equal(t, []retry.EventKind{retry.SendWaitBegan, retry.SendWaitBegan, retry.SendWaitEnded}, kinds)
	ended, two := r.Of(retry.OperationEnded)[0], 2*time.Second
	require.Equal(t, []time.Duration{two, two, two}, []time.Duration{r.Events[2].Delay, ended.SendWait, ended.Elapsed})
}

func TestOperationEndsOnceAlthoughItsObserverEndsTheGoroutine(t *testing.T) {
	t.Parallel()
	for want, failure := range map[string]error{"success": nil, "not_retryable": errClient} {
		var outcomes []string
		s, clk := newStandard(t, func(c *standard.Config) {
			c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.OperationEnded {
					outcomes = append(outcomes, e.Outcome())
					runtime.Goexit()
				}
			})
		})
		clk.Run(func() {}, func() { // whose goroutine ends
			_ = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { return failure })
		})
		require.Equal(t, []string{want}, outcomes)
	}
}
