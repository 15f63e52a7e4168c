package adaptive_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var (
	errServer   = vectors.Response{Status: 500, Kind: "transient"}.Err()
	errThrottle = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: "throttling"}.Err()
	errClient   = vectors.Response{Status: 404, ErrorCode: "ResourceNotFoundException", Kind: "client"}.Err()
)

// newStrategy returns a strategy on a fake clock, without jitter.
func newStrategy(t *testing.T, change func(c *adaptive.Config)) (retry.Strategy, *clock.Fake) {
	t.Helper()
	clk := &clock.Fake{}
	config := adaptive.Config{Standard: standard.Config{Clock: clk, Random: func() float64 { return 1 }}}
	if change != nil {
		change(&config)
	}
	s, err := adaptive.New(config)
	require.NoError(t, err)
	return s, clk
}

// answers returns a function that fails with each of the errors in turn, and then succeeds.
func answers(errs ...error) func(context.Context) (int, error) {
	n := 0
	return func(context.Context) (int, error) {
		n++
		if n <= len(errs) {
			return n, errs[n-1]
		}
		return n, nil
	}
}

// do runs an operation on the fake clock of the strategy.
func do(ctx context.Context, clk *clock.Fake, s retry.Strategy, op retry.Operation, errs ...error) (err error) {
	clk.Run(func() { _, err = retry.Do(ctx, s, op, answers(errs...)) })
	return err
}

func TestThrottleTurnsTheSendRateOnAndDelaysAFirstAttempt(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	whole := retry.Operation{}
	start := clk.Now()
	require.NoError(t, do(t.Context(), clk, s, whole))
	require.Equal(t, start, clk.Now(), "nothing is held back before the first throttle")
	require.False(t, s.Snapshot().Scopes[0].Limited)

	require.NoError(t, do(t.Context(), clk, s, whole, errThrottle))
	require.True(t, s.Snapshot().Scopes[0].Limited)
	// Three responses in the two seconds until the success, of which the smoothing takes 0.8.
	// The rate is at most twice the measured rate.
	require.InDelta(t, 2*0.8*3/2, s.Snapshot().Scopes[0].FillRate, 1e-12)

	before := clk.Now()
	require.NoError(t, do(t.Context(), clk, s, whole))
	require.Greater(t, clk.Now().Sub(before), 100*time.Millisecond, "the first attempt of an operation waits too")
	require.Len(t, clk.Waits(), 1, "that is no backoff")
}

func TestSendWaitPastTheDeadlineIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) { c.Standard.MaxAttempts = 1 })
	require.ErrorIs(t, do(t.Context(), clk, s, retry.Operation{}, errThrottle), retry.ErrAttemptsExhausted)
	ctx, cancel := clk.WithTimeout(t.Context(), time.Second) // a token takes two
	defer cancel()
	attempted := false
	_, err := retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) {
		attempted = true
		return 0, nil
	})
	require.False(t, attempted)
	require.ErrorIs(t, err, retry.ErrDeadline)
	require.ErrorIs(t, err, retry.ErrSendRateLimited)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "retry: client-side: wait would end after the caller's deadline: "+
		"held back by the send rate: ratelimit: the wait would leave too little time before the caller's deadline: "+
		"2s to wait, 0 ahead, 0.5 tokens/s (0 attempts, 2s to wait)")
}

func TestCancelDuringASendWait(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) { c.Standard.MaxAttempts = 1 })
	require.Error(t, do(t.Context(), clk, s, retry.Operation{}, errThrottle))
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	clk.AfterFunc(time.Second, func() { cancel(cause) }) // a token takes two
	err := do(ctx, clk, s, retry.Operation{})
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, cause)
	require.Zero(t, s.Snapshot().Scopes[0].Waiting)
	require.Zero(t, clk.Waiters())
}

// listening is a limiter that only notes the responses.
type listening struct {
	mu       sync.Mutex
	acquired int
	reports  []bool
}

func (l *listening) Acquire(ctx context.Context, _ ratelimit.Request) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	l.acquired++
	return time.Time{}, nil
}

func (l *listening) Report(r ratelimit.Response) ratelimit.Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports = append(l.reports, r.Throttled)
	return ratelimit.Change{}
}

func (l *listening) Expected(float64) time.Duration { return 0 }

func (l *listening) State() retry.ScopeSnapshot { return retry.ScopeSnapshot{} }

func (l *listening) Give(float64) {}

func TestLimiterHearsOfEveryAttemptExactlyOnce(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
		for _, c := range []struct {
			name    string
			quota   int
			answers []error
			want    []bool
		}{
			{"success", 500, nil, []bool{no}},
			{"throttles, then success", 500, []error{errThrottle, errThrottle}, []bool{yes, yes, no}},
			{"attempt limit", 500, []error{errThrottle, errServer, errThrottle}, []bool{yes, no, yes}},
			{"empty quota", 0, []error{errThrottle}, []bool{yes}},
			{"not retryable", 500, []error{errClient}, []bool{no}},
		} {
			t.Run(fmt.Sprintf("%s/%s", behavior, c.name), func(t *testing.T) {
				t.Parallel()
				l := &listening{}
				s, clk := newStrategy(t, func(config *adaptive.Config) {
					config.Standard.Behavior = behavior
					config.Standard.QuotaInitial = &c.quota
					config.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
				})
				_ = do(t.Context(), clk, s, retry.Operation{}, c.answers...)
				require.Equal(t, c.want, l.reports)
				require.Equal(t, len(c.want), l.acquired)
			})
		}
	}
}

func TestAttemptThatIsCanceledBeforeItIsSentIsNotReported(t *testing.T) {
	t.Parallel()
	l := &listening{}
	s, clk := newStrategy(t, func(config *adaptive.Config) {
		config.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, do(gone, clk, s, retry.Operation{}), retry.ErrCanceled)
	require.Empty(t, l.reports)
}

func TestThrottleThatAPolicyEndsIsStillReported(t *testing.T) {
	t.Parallel()
	l := &listening{}
	s, _ := newStrategy(t, func(config *adaptive.Config) {
		config.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
	})
	policy := func(_ int, err error) error { return retry.Permanent(err) }
	_, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errThrottle), retry.WithPolicy(policy))
	require.Equal(t, errThrottle, err)
	require.Equal(t, []bool{true}, l.reports)
}

func TestSuccessesRefillTheQuotaInAdaptiveModeToo(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) { c.Standard.QuotaInitial = new(0) })
	require.ErrorIs(t, do(t.Context(), clk, s, retry.Operation{}, errServer), retry.ErrQuotaExhausted)
	for range 14 {
		require.NoError(t, do(t.Context(), clk, s, retry.Operation{}))
	}
	require.Equal(t, 14, s.Snapshot().Scopes[0].Quota)
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{}, errServer), "there are retries again")
}

func TestThrottledScopeDoesNotSlowAnother(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) { c.Standard.MaxAttempts = 1 })
	orders, users := retry.Operation{Resource: "orders"}, retry.Operation{Resource: "users"}
	require.Error(t, do(t.Context(), clk, s, orders, errThrottle))
	before := clk.Now()
	for range 100 {
		require.NoError(t, do(t.Context(), clk, s, users))
	}
	require.Equal(t, before, clk.Now())
	require.NoError(t, do(t.Context(), clk, s, orders))
	require.Equal(t, 2*time.Second, clk.Now().Sub(before))
}

func TestEventsTellTheWholeStoryInOrder(t *testing.T) {
	t.Parallel()
	var story []string
	scopes := map[retry.ScopeKey]int{}
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		start := c.Standard.Clock.Now()
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			kind := e.Kind.String()
			story = append(story, fmt.Sprintf("%v %s #%d %s delay=%v quota=%d rate=%.3f",
				e.Time.Sub(start), kind, e.Attempt, e.Verdict, e.Delay, e.Quota, e.Rate))
			scopes[e.Scope]++
			panic("an observer that panics does no harm")
		})
	})
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errThrottle, errThrottle))
	require.ErrorIs(t, do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errClient), errClient)
	require.Equal(t, []string{
		"0s scope-created #1 none delay=0s quota=0 rate=0.000",
		"0s attempt-ended #1 retry(throttling) delay=0s quota=500 rate=0.000",
		"0s retry-scheduled #1 retry(throttling) delay=1s quota=495 rate=0.000",
		"0s send-rate-changed #1 none delay=0s quota=0 rate=0.500",
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
		"4.892857143s retry-refused #1 none delay=0s quota=495 rate=0.000",
		"4.892857143s send-rate-changed #1 none delay=0s quota=0 rate=3.424",
		"4.892857143s operation-ended #1 none delay=0s quota=495 rate=0.000",
	}, story)
	require.Equal(t, map[retry.ScopeKey]int{{Scope: "orders"}: len(story)}, scopes)
}

func TestNewNamesWhatIsOutOfRange(t *testing.T) {
	t.Parallel()
	s, err := adaptive.New(adaptive.Config{
		Standard: standard.Config{MaxAttempts: -1}, MaxSendWait: -1, MaxSendQueue: -2, SendCost: math.NaN(),
	})
	require.Nil(t, s)
	for _, want := range []string{
		"standard: MaxAttempts -1", "adaptive: MaxSendWait -1ns", "adaptive: MaxSendQueue -2", "adaptive: SendCost NaN",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestScopesCountTimeFromWhenTheStrategyWasBuilt(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	clk.Advance(10 * time.Second)
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "late"}))
	require.InDelta(t, 0.8/10, s.Snapshot().Scopes[1].MeasuredRate, 1e-12, "one response in ten seconds")
}
