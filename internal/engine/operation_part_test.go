package engine_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
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
	for name, c := range map[string]struct {
		err    error
		limits bool
	}{
		"part":                       {throttleError{part}, false},
		"two parts":                  {throttleError{part, part}, false},
		"part, marked as permanent":  {retry.Permanent(throttleError{part}), false},
		"no reason":                  {throttleError{}, true},
		"unknown":                    {throttleError{unknown}, true},
		"hard quota":                 {fullLogsError{}, false},
		"part and unknown":           {throttleError{part, unknown}, true},
		"part and scope":             {throttleError{part, scope}, true},
		"scope":                      {throttleError{scope}, true},
		"wider":                      {throttleError{wider}, true},
		"other":                      {throttleError{other}, true},
		"scope, marked as permanent": {retry.Permanent(throttleError{scope}), true},
	} {
		s, clk := play.Adaptive(t, nil)
		_ = play.Do(t.Context(), clk, s, retry.Operation{Resource: "orders"}, c.err)
		orders := scopesOf(s)["//orders"]
		require.Equal(t, []bool{c.limits, c.limits}, []bool{orders.Limited, !orders.LastThrottle.IsZero()}, name)
	}
}

func TestThrottleOfAPartCostsAndWaitsAsAThrottle(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.ThrottlingCost = 7
		r.Use(c)
	})
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, throttleError{classify.ReachPart}))
	scheduled := r.Of(retry.RetryScheduled)
	require.Len(t, scheduled, 1)
	require.Equal(t, time.Second, scheduled[0].Delay)
	require.Equal(t, 500-7, scheduled[0].Quota)
	require.Equal(t, classify.ReachPart, scheduled[0].Verdict.Reach())
}

// Callers of a hot key hold each other back, and no other caller.
func TestRetriesOfAThrottledPartAreSlowedAndFirstAttemptsAreNot(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	inBubble(t, adaptive.Config{Standard: standard.Config{MaxAttempts: 9, Observer: r}}, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		began, hot := time.Now(), throttleError{classify.ReachPart}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { _, _ = retry.Do(t.Context(), s, retry.Operation{}, play.Answers(hot, hot, hot)) })
		}
		play.Sleep(t, time.Millisecond)
		for range 1000 { // of other keys
			_, err := retry.Do(t.Context(), s, retry.Operation{}, play.Answers())
			require.NoError(t, err)
		}
		require.Equal(t, time.Millisecond, time.Since(began))
		wg.Wait()
		require.Len(t, r.Of(retry.RetryScheduled), 20*3)
		require.Greater(t, time.Since(began), 7*time.Second+time.Second, "the backoffs alone take 7 s")
	})
}

func TestFirstThrottleOfAPartHoldsNoRetryBackInABusyScope(t *testing.T) {
	t.Parallel()
	inBubble(t, adaptive.Config{}, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		for range 200 { // a hundred a second
			play.Sleep(t, 10*time.Millisecond)
			_, err := retry.Do(t.Context(), s, retry.Operation{}, play.Answers())
			require.NoError(t, err)
		}
		began := time.Now()
		_, err := retry.Do(t.Context(), s, retry.Operation{}, play.Answers(throttleError{classify.ReachPart}))
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(began), "the backoff and no more")
	})
}

// No limiter of the module stands beside that of the user.
func TestLimiterOfTheUserHearsOfThrottledPartsAndDecides(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.MaxAttempts = 9
		l.use(c)
	})
	narrow := throttleError{classify.ReachPart}
	for range 20 {
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, narrow, errThrottle))
	}
	require.Len(t, clk.Waits(), 2*20, "backoffs, and no other wait")
	require.Equal(t, []bool{true, false, false, true}, l.partial[:4])
	require.Equal(t, []bool{false, true, false, false}, l.reports[:4])
	require.Len(t, l.requests, 3*20)
	for i, r := range l.requests {
		require.Equal(t, i%3 > 0, r.Part, "the first attempt of an operation is not about a part")
	}
}

func TestEachSendTokenIsReportedOrGivenBackWithThrottledPartsConcurrentSafe(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	l := &books{refuses: func() bool { return asked.Add(1)%7 == 0 }}
	config := adaptive.Config{
		Standard:   standard.Config{MaxAttempts: 4, Random: rand.Float64},
		NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter { return l.of(sendrate.Config{}, clk) },
	}
	inBubble(t, config, func(t *testing.T, s retry.Strategy) {
		t.Helper()
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
		require.Equal(t, attempts.Load(), l.reported.Load())
		require.Equal(t, l.acquired.Load(), l.reported.Load()+l.given.Load())
		require.Greater(t, attempts.Load(), int64(16*40/2))
	})
}
