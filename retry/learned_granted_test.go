package retry_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// oneASecond is a send rate of one attempt a second, with one token at the start.
func oneASecond(retry.ScopeKey) adaptive.SendLimit {
	return adaptive.SendLimit{Starting: 1, Ceiling: 1}
}

// judge is a classifier that is no part of a chain.
type judge func() classify.Verdict

func (judge) Name() string                                 { return "judge" }
func (j judge) Classify(classify.Outcome) classify.Verdict { return j() }

// TestNoCallFailsThatOnlyNeededMoreTime has attempts of 10 ms, and then some of 45 ms. Their timeout is 30 ms. Without the
// timeout none of them fails.
func TestNoCallFailsThatOnlyNeededMoreTime(t *testing.T) {
	t.Parallel()
	type call = func(ctx context.Context, op retry.Operation) error
	within := func(d time.Duration) func(ctx context.Context, op retry.Operation, call call) error {
		return func(ctx context.Context, op retry.Operation, call call) error {
			ctx, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			return call(ctx, op)
		}
	}
	with := func(change func(op *retry.Operation)) func(ctx context.Context, op retry.Operation, call call) error {
		return func(ctx context.Context, op retry.Operation, call call) error {
			change(&op)
			return call(ctx, op)
		}
	}
	usual := with(func(*retry.Operation) {})
	for name, c := range map[string]struct {
		config func(c *adaptive.Config)
		play   func(ctx context.Context, op retry.Operation, call call) error
		ended  bool // whether some attempts are ended early
	}{
		"all is there":           {func(*adaptive.Config) {}, usual, true},
		"a quota of nothing":     {func(c *adaptive.Config) { c.Standard.QuotaCapacity = new(0) }, usual, false},
		"a quota that is used":   {func(c *adaptive.Config) { c.Standard.QuotaInitial, c.Standard.QuotaCapacity = new(0), new(13) }, usual, false},
		"a wait for quota":       {func(c *adaptive.Config) { c.Standard.QuotaCapacity, c.Standard.MaxQuotaWait = new(13), time.Second }, usual, false},
		"a deadline in 60 ms":    {func(*adaptive.Config) {}, within(60 * time.Millisecond), false},
		"a deadline in 100 ms":   {func(c *adaptive.Config) { c.Standard.Random = func() float64 { return 0 } }, within(100 * time.Millisecond), false},
		"a deadline in a second": {func(*adaptive.Config) {}, within(time.Second), true},
		"MaxElapsed":             {func(*adaptive.Config) {}, with(func(op *retry.Operation) { op.MaxElapsed = 60 * time.Millisecond }), false},
		"NotAfter":               {func(*adaptive.Config) {}, with(func(op *retry.Operation) { op.NotAfter = time.Now().Add(60 * time.Millisecond) }), false},
		"one attempt":            {func(*adaptive.Config) {}, with(func(op *retry.Operation) { op.MaxAttempts = 1 }), false},
		"Once": {func(*adaptive.Config) {}, func(ctx context.Context, op retry.Operation, call call) error {
			return call(retry.Once(ctx), op)
		}, false},
		"a classifier that is against it": {func(*adaptive.Config) {}, with(func(op *retry.Operation) {
			op.Classifier = judge(func() classify.Verdict { return classify.Forbidden() })
		}), false},
		"a classifier that panics": {func(*adaptive.Config) {}, with(func(op *retry.Operation) {
			op.Classifier = judge(func() classify.Verdict { panic("on purpose") })
		}), false},
		"a classifier that allows one attempt": {func(*adaptive.Config) {}, with(func(op *retry.Operation) {
			op.Classifier = judge(func() classify.Verdict { return classify.RetryAs(classify.Timeout).AtMost(1) })
		}), false},
		"no wait for the send rate":  {func(c *adaptive.Config) { c.SendLimit, c.NoSendWait = oneASecond, true }, usual, false},
		"a send rate and a deadline": {func(c *adaptive.Config) { c.SendLimit = oneASecond }, within(500 * time.Millisecond), false},
		"no wait, but a token": {func(c *adaptive.Config) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 100} }
			c.NoSendWait = true
		}, usual, true},
		"an operation without a send rate": {func(c *adaptive.Config) { c.SendLimit, c.NoSendWait = oneASecond, true }, with(func(op *retry.Operation) {
			op.Unpaced = true
		}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config := adaptive.Config{Standard: standard.Config{Random: func() float64 { return 1 }}}
				c.config(&config)
				s, err := adaptive.New(config)
				require.NoError(t, err)
				timeout, attempts := slower(t), 0
				calls := func(n int, d time.Duration, play func(ctx context.Context, op retry.Operation, call call) error) {
					for range n {
						pause(2 * time.Second) // a token of each rate
						require.NoError(t, play(t.Context(), retry.Operation{}, func(ctx context.Context, op retry.Operation) error {
							return retry.DoErr(ctx, s, op, func(ctx context.Context) error {
								attempts++
								return clock.System{}.Sleep(ctx, d)
							}, retry.WithAttemptTimeout(timeout))
						}))
					}
				}
				calls(100, 10*time.Millisecond, usual)
				before := s.Snapshot().Scopes[0]
				calls(10, 45*time.Millisecond, c.play)
				if c.ended {
					require.Greater(t, attempts, 110)
				} else {
					require.Equal(t, 110, attempts)
				}
				after := s.Snapshot().Scopes[0]
				require.Equal(t, min(before.Quota+10, before.QuotaCapacity), after.Quota, "a success pays back")
				require.Zero(t, after.Waiting)
			})
		})
	}
}

func TestCeilingIsABoundAlthoughAClassifierDoesNotReturn(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(stop <-chan struct{}){
		"it ends its goroutine": func(<-chan struct{}) { runtime.Goexit() },
		"it blocks":             func(stop <-chan struct{}) { <-stop },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				stop := make(chan struct{})
				defer close(stop)
				var asked atomic.Bool
				l := newLearner(t)
				op := retry.Operation{Classifier: judge(func() classify.Verdict {
					if !asked.Swap(true) {
						leave(stop)
					}
					return classify.Verdict{}
				})}
				l.teach(t, op, 10*time.Millisecond)
				took, err := l.do(t, op, time.Hour)
				require.Error(t, err)
				require.Equal(t, []time.Duration{10 * time.Second}, took)
			})
		})
	}
}

// TestEachAttemptThatIsEndedHasItsRetry: a hundred attempts are over their timeout at the same instant, and there is
// quota for one retry, or a send token.
func TestEachAttemptThatIsEndedHasItsRetry(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *adaptive.Config){
		"quota": func(c *adaptive.Config) { c.Standard.QuotaCapacity = new(14) },
		"send token": func(c *adaptive.Config) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 101, Ceiling: 101} }
			c.NoSendWait = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config := adaptive.Config{Standard: standard.Config{Random: func() float64 { return 0 }}}
				change(&config)
				s, err := adaptive.New(config)
				require.NoError(t, err)
				timeout := slower(t)
				var attempts atomic.Int64
				call := func(d time.Duration) error {
					return retry.DoErr(t.Context(), s, retry.Operation{}, func(ctx context.Context) error {
						attempts.Add(1)
						if attempt, _ := retry.AttemptFrom(ctx); attempt.Number > 1 {
							d = 5 * time.Second // after the others, whose successes pay into the quota
						}
						return clock.System{}.Sleep(ctx, d)
					}, retry.WithAttemptTimeout(timeout))
				}
				for range 400 {
					require.NoError(t, call(time.Second))
				}
				pause(2 * time.Second) // in which the tokens come back
				attempts.Store(0)
				before := s.Snapshot().Scopes[0]
				var all sync.WaitGroup
				for range 100 {
					all.Go(func() {
						if err := call(6 * time.Second); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if name == "quota" {
					require.EqualValues(t, 101, attempts.Load())
				} else {
					require.Greater(t, attempts.Load(), int64(100))
				}
				require.Equal(t, before.Quota, s.Snapshot().Scopes[0].Quota)
			})
		})
	}
}

// TestRetryThatIsNotMadeGivesBackWhatWasTakenForIt has attempts that were ended for a retry.
func TestRetryThatIsNotMadeGivesBackWhatWasTakenForIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ended func(ctx context.Context, cancel func()) error // what the attempt returns
		quota int
		given float64
	}{
		"the attempt succeeds all the same":     {func(context.Context, func()) error { return nil }, 500, 1},
		"it fails for good":                     {func(context.Context, func()) error { return errClient }, 500, 1},
		"it has another answer that is retried": {func(context.Context, func()) error { return errThrottled }, 500, 1},
		"the caller cancels during the backoff": {func(ctx context.Context, cancel func()) error {
			clock.System{}.AfterFunc(time.Millisecond, cancel)
			return ctx.Err()
		}, 500, 1},
		"the caller has canceled": {func(ctx context.Context, cancel func()) error { cancel(); return ctx.Err() }, 500, 1},
		"it is made":              {func(ctx context.Context, _ func()) error { return ctx.Err() }, 500, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &scriptedLimiter{}
				s, err := adaptive.New(adaptive.Config{
					Standard:   standard.Config{Random: func() float64 { return 1 }, MaxAttempts: 3},
					NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l },
				})
				require.NoError(t, err)
				timeout, attempts := slower(t), 0
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_ = retry.DoErr(ctx, s, retry.Operation{}, func(context.Context) error { return nil }, retry.WithAttemptTimeout(timeout))
				for range 100 {
					_ = retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
						return clock.System{}.Sleep(ctx, 10*time.Millisecond)
					}, retry.WithAttemptTimeout(timeout))
				}
				l.acquired, l.given, l.reported = 0, 0, 0
				_ = retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
					if attempts++; attempts > 1 {
						return nil
					}
					<-ctx.Done()
					return c.ended(ctx, cancel)
				}, retry.WithAttemptTimeout(timeout))
				require.Equal(t, c.quota, s.Snapshot().Scopes[0].Quota)
				require.InDelta(t, c.given, l.given, 0)
				require.InDelta(t, float64(attempts), l.acquired-l.given, 0, "a token for each attempt that was made")
				require.InDelta(t, float64(attempts), l.reported, 0)
			})
		})
	}
}

// scriptedLimiter counts tokens and lets all pass.
type scriptedLimiter struct{ acquired, given, reported float64 }

func (l *scriptedLimiter) Acquire(context.Context, ratelimit.Request) (time.Time, error) {
	l.acquired++
	return time.Now(), nil
}

func (l *scriptedLimiter) Report(ratelimit.Response) ratelimit.Change {
	l.reported++
	return ratelimit.Change{}
}
func (*scriptedLimiter) Expected(ratelimit.Request) time.Duration { return 0 }
func (l *scriptedLimiter) Give(ratelimit.Request)                 { l.given++ }
func (*scriptedLimiter) State() retry.ScopeSnapshot               { return retry.ScopeSnapshot{} }
