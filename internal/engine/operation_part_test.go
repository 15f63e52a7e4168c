package engine_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// throttleError is a throttle with reasons of these reaches.
type throttleError []classify.Reach

func (throttleError) Error() string { return "throttled" }

func (throttleError) ErrorCode() string { return "ThrottlingException" }

func (e throttleError) ThrottledBy() (reasons []classify.Reason) {
	for _, r := range e {
		reasons = append(reasons, classify.Reason{Reach: r})
	}
	return reasons
}

// fullLogsError is a hard quota that is retried as a throttle.
type fullLogsError struct{}

func (fullLogsError) Error() string { return "too many log groups" }

func (fullLogsError) ErrorCode() string { return "LimitExceededException" }

func (fullLogsError) Service() string { return "CloudWatch Logs" }

func TestThrottleOfAPartAndHardQuotaLeaveTheSendRateOfTheScopeAlone(t *testing.T) {
	t.Parallel()
	const part, scope, wider, other, unknown = classify.ReachPart, classify.ReachScope, classify.ReachWider, classify.ReachOther, classify.ReachUnknown
	for _, c := range []struct {
		name   string
		err    error
		limits bool
	}{
		{"part", throttleError{part}, false},
		{"two parts", throttleError{part, part}, false},
		{"part, marked as permanent", retry.Permanent(throttleError{part}), false},
		{"no reason", throttleError{}, true},
		{"unknown", throttleError{unknown}, true},
		{"hard quota", fullLogsError{}, false},
		{"part and unknown", throttleError{part, unknown}, true},
		{"part and scope", throttleError{part, scope}, true},
		{"scope", throttleError{scope}, true},
		{"wider", throttleError{wider}, true},
		{"other", throttleError{other}, true},
		{"scope, marked as permanent", retry.Permanent(throttleError{scope}), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, clk := play.Adaptive(t, nil)
			_ = play.Do(t.Context(), clk, s, retry.Operation{Resource: "orders"}, c.err)
			for _, scope := range s.Snapshot().Scopes {
				if scope.Key != (retry.ScopeKey{}) {
					require.Equal(t, c.limits, scope.Limited)
					require.Equal(t, c.limits, !scope.LastThrottle.IsZero())
				}
			}
		})
	}
}

func TestThrottleOfAPartCostsAndWaitsAsAThrottle(t *testing.T) {
	t.Parallel()
	var scheduled []retry.Event
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.ThrottlingCost = 7
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.RetryScheduled {
				scheduled = append(scheduled, e)
			}
		})
	})
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, throttleError{classify.ReachPart}))
	require.Len(t, scheduled, 1)
	require.Equal(t, time.Second, scheduled[0].Delay)
	require.Equal(t, 500-7, scheduled[0].Quota)
	require.Equal(t, classify.ReachPart, scheduled[0].Verdict.Reach())
}

// Callers of a hot key hold each other back, and no other caller.
func TestRetriesOfAThrottledPartAreSlowedAndFirstAttemptsAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const keys, calls = 20, 3
		began := time.Now()
		s, err := adaptive.New(adaptive.Config{Standard: standard.Config{Random: func() float64 { return 1 }, MaxAttempts: 9}})
		require.NoError(t, err)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var retries []time.Duration
		for range keys {
			wg.Go(func() {
				attempt := 0
				_, _ = retry.Do(t.Context(), s, retry.Operation{}, func(context.Context) (int, error) {
					if attempt++; attempt > 1 {
						mu.Lock()
						retries = append(retries, time.Since(began))
						mu.Unlock()
					}
					if attempt <= calls {
						return 0, throttleError{classify.ReachPart}
					}
					return 0, nil
				})
			})
		}
		play.Sleep(t, time.Millisecond)
		for range 1000 { // of other keys
			require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { return nil }))
		}
		require.Equal(t, time.Millisecond, time.Since(began))
		wg.Wait()
		require.Len(t, retries, keys*calls)
		require.Greater(t, retries[len(retries)-1], 7*time.Second+time.Second, "the backoffs alone take 7 s")
	})
}

func TestFirstThrottleOfAPartHoldsNoRetryBackInABusyScope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := adaptive.New(adaptive.Config{Standard: standard.Config{Random: func() float64 { return 1 }}})
		require.NoError(t, err)
		for range 200 { // a hundred a second
			play.Sleep(t, 10*time.Millisecond)
			require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { return nil }))
		}
		began, attempts := time.Now(), 0
		require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error {
			if attempts++; attempts == 1 {
				return throttleError{classify.ReachPart}
			}
			return nil
		}))
		require.Equal(t, time.Second, time.Since(began), "the backoff and no more")
	})
}

// No limiter of the module stands beside that of the user.
func TestLimiterOfTheUserHearsOfThrottledPartsAndDecides(t *testing.T) {
	t.Parallel()
	l := &listening{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.MaxAttempts = 9
		c.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
	})
	narrow := throttleError{classify.ReachPart}
	for range 20 {
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, narrow, errThrottle))
	}
	require.Len(t, clk.Waits(), 2*20, "backoffs, and no other wait")
	require.Equal(t, []bool{true, false, false, true}, l.partial[:4])
	require.Equal(t, []bool{false, true, false, false}, l.reports[:4])
	require.Equal(t, 2*20, l.parts, "the first attempt of an operation is not about a part")
	require.Equal(t, 3*20, l.acquired)
}

// crowd begins calls for one hot key, of which most wait for a token after the first throttle.
func crowd(t *testing.T, s retry.Strategy, calls int, op retry.Operation) (ended *atomic.Int64) {
	t.Helper()
	ended = new(atomic.Int64)
	for range calls {
		go func() {
			defer ended.Add(1)
			_, _ = retry.Do(t.Context(), s, op, play.Answers(throttleError{classify.ReachPart}))
		}()
	}
	play.Sleep(t, 1500*time.Millisecond)
	synctest.Wait()
	return ended
}

func TestThoseWhoWaitForAThrottledPartAreSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events recorder
		s, err := adaptive.New(adaptive.Config{Standard: standard.Config{
			Random: func() float64 { return 1 }, MaxScopes: 2, Observer: &events,
		}})
		require.NoError(t, err)
		ended := crowd(t, s, 20, retry.Operation{Resource: "hot"})
		require.EqualValues(t, 20-ended.Load(), scopesOf(s)["//hot"].Waiting)
		require.Less(t, ended.Load(), int64(3))
		for i := range 10 {
			require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{Resource: string(rune('a' + i))}, func(context.Context) error { return nil }))
			play.Sleep(t, 10*time.Millisecond)
		}
		for _, e := range events.of(retry.ScopeEvicted) {
			require.NotEqual(t, "hot", e.Scope.Resource)
		}
		play.Sleep(t, time.Hour)
		require.EqualValues(t, 20, ended.Load())
		require.Zero(t, scopesOf(s)["//hot"].Waiting)
	})
}

func TestLimitsOfTheSendWaitHoldForThrottledParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config adaptive.Config
		most   int // that wait
	}{
		"MaxSendQueue": {adaptive.Config{MaxSendQueue: 10}, 10},
		"MaxSendWait":  {adaptive.Config{MaxSendWait: 3 * time.Second}, 3}, // one token takes 1.4 s
		"NoSendWait":   {adaptive.Config{NoSendWait: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var events recorder
				c.config.Standard = standard.Config{Random: func() float64 { return 1 }, Observer: &events}
				s, err := adaptive.New(c.config)
				require.NoError(t, err)
				crowd(t, s, 30, retry.Operation{})
				waiting := s.Snapshot().Scopes[0].Waiting
				require.LessOrEqual(t, waiting, c.most)
				require.Equal(t, c.most > 0, waiting > 0)
				require.Equal(t, 30-waiting-1, len(events.of(retry.OperationEnded))-1)
			})
		})
	}
}

func TestRetryOfAThrottledPartThatCannotEndInTimeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := adaptive.New(adaptive.Config{Standard: standard.Config{Random: func() float64 { return 1 }}})
		require.NoError(t, err)
		crowd(t, s, 20, retry.Operation{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err = retry.Do(ctx, s, retry.Operation{}, play.Answers(throttleError{classify.ReachPart}))
		require.ErrorIs(t, err, retry.ErrDeadline)
		require.Equal(t, began, time.Now())
	})
}

// books counts what a limiter hands out and gets back.
type books struct {
	adaptive.Limiter
	acquired, reported, given *atomic.Int64
	refuses                   func() bool
}

var errFull = errors.New("full")

func (l books) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	if l.refuses() {
		return time.Time{}, errFull
	}
	sent, err := l.Limiter.Acquire(ctx, r)
	if err == nil {
		l.acquired.Add(1)
	}
	return sent, err
}

func (l books) Report(r ratelimit.Response) ratelimit.Change {
	l.reported.Add(1)
	return l.Limiter.Report(r)
}

func (l books) Give(r ratelimit.Request) {
	l.given.Add(1)
	l.Limiter.Give(r)
}

func TestEachSendTokenIsReportedOrGivenBackWithThrottledPartsConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var acquired, reported, given, asked atomic.Int64
		s, err := adaptive.New(adaptive.Config{
			Standard: standard.Config{MaxAttempts: 4},
			NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
				refuses := func() bool { return asked.Add(1)%7 == 0 }
				return books{sendrate.NewLimiter(sendrate.Config{}, clk), &acquired, &reported, &given, refuses}
			},
		})
		require.NoError(t, err)
		var attempts atomic.Int64
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				for i := range 40 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%5)*time.Second)
					_ = retry.DoErr(ctx, s, retry.Operation{}, func(context.Context) error {
						attempts.Add(1)
						play.Sleep(t, 10*time.Millisecond)
						if g%2 == 0 {
							return throttleError{classify.ReachPart}
						}
						return nil
					})
					cancel()
				}
			})
		}
		wg.Wait()
		require.Equal(t, attempts.Load(), reported.Load())
		require.Equal(t, acquired.Load(), reported.Load()+given.Load())
		require.Greater(t, attempts.Load(), int64(16*40/2))
	})
}
