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

// learning plays operations in a bubble with a strategy in adaptive mode and a timeout that learns.
func learning(t *testing.T, change func(c *adaptive.Config), play func(t *testing.T, s retry.Strategy, timeout retry.Option)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config := adaptive.Config{Standard: standard.Config{Random: func() float64 { return 1 }}}
		if change != nil {
			change(&config)
		}
		s, err := adaptive.New(config)
		require.NoError(t, err)
		play(t, s, retry.WithAttemptTimeout(slower(t)))
	})
}

// TestNoCallFailsThatOnlyNeededMoreTime has attempts of 10 ms, and then some of 45 ms. Their timeout is 30 ms. Without the
// timeout none of them fails.
func TestNoCallFailsThatOnlyNeededMoreTime(t *testing.T) {
	t.Parallel()
	type call = func(ctx context.Context, op retry.Operation) error
	type player = func(ctx context.Context, op retry.Operation, call call) error
	within := func(d time.Duration) player {
		return func(ctx context.Context, op retry.Operation, call call) error {
			ctx, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			return call(ctx, op)
		}
	}
	with := func(change func(op *retry.Operation)) player {
		return func(ctx context.Context, op retry.Operation, call call) error {
			change(&op)
			return call(ctx, op)
		}
	}
	asking := func(classifier judge) player {
		return with(func(op *retry.Operation) { op.Classifier = classifier })
	}
	usual, once := with(func(*retry.Operation) {}), func(ctx context.Context, op retry.Operation, call call) error {
		return call(retry.Once(ctx), op)
	}
	quota := func(initial, capacity int, wait time.Duration) func(c *adaptive.Config) {
		return func(c *adaptive.Config) {
			c.Standard.QuotaInitial, c.Standard.QuotaCapacity, c.Standard.MaxQuotaWait = &initial, &capacity, wait
		}
	}
	rate := func(starting, ceiling ratelimit.Rate, noWait bool) func(c *adaptive.Config) {
		return func(c *adaptive.Config) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit {
				return adaptive.SendLimit{Starting: starting, Ceiling: ceiling}
			}
			c.NoSendWait = noWait
		}
	}
	panics := func(classify.Outcome) classify.Verdict { panic("on purpose") }
	noBackoff := func(c *adaptive.Config) { c.Standard.Random = func() float64 { return 0 } }
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		config func(c *adaptive.Config)
		play   player
		ended  bool // whether some attempts are ended early
	}{
		"all is there":                         {nil, usual, true},
		"a quota of nothing":                   {quota(0, 0, 0), usual, false},
		"a quota that is used":                 {quota(0, 13, 0), usual, false},
		"a wait for quota":                     {quota(13, 13, time.Second), usual, false},
		"a deadline in 60 ms":                  {nil, within(60 * ms), false},
		"a deadline in 100 ms":                 {noBackoff, within(100 * ms), false},
		"a deadline in a second":               {nil, within(time.Second), true},
		"MaxElapsed":                           {nil, with(func(op *retry.Operation) { op.MaxElapsed = 60 * ms }), false},
		"NotAfter":                             {nil, with(func(op *retry.Operation) { op.NotAfter = time.Now().Add(60 * ms) }), false},
		"one attempt":                          {nil, with(func(op *retry.Operation) { op.MaxAttempts = 1 }), false},
		"Once":                                 {nil, once, false},
		"a classifier that is against it":      {nil, asking(saying(classify.Forbidden())), false},
		"a classifier that panics":             {nil, asking(panics), false},
		"a classifier that allows one attempt": {nil, asking(saying(classify.RetryAs(classify.Timeout).AtMost(1))), false},
		"no wait for the send rate":            {rate(1, 1, true), usual, false},
		"a send rate and a deadline":           {rate(1, 1, false), within(500 * ms), false},
		"no wait, but a token":                 {rate(100, 0, true), usual, true},
		"an operation without a send rate":     {rate(1, 1, true), with(func(op *retry.Operation) { op.Unpaced = true }), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			learning(t, c.config, func(t *testing.T, s retry.Strategy, timeout retry.Option) {
				t.Helper()
				attempts := 0
				calls := func(n int, d time.Duration, play player) {
					for range n {
						pause(2 * time.Second) // a token of each rate
						require.NoError(t, play(t.Context(), retry.Operation{}, func(ctx context.Context, op retry.Operation) error {
							return retry.DoErr(ctx, s, op, func(ctx context.Context) error {
								attempts++
								return clock.System{}.Sleep(ctx, d)
							}, timeout)
						}))
					}
				}
				calls(100, 10*ms, usual)
				before := s.Snapshot().Scopes[0]
				calls(10, 45*ms, c.play)
				require.Equal(t, c.ended, attempts > 110)
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
			inBubble(t, func(t *testing.T, l learner, op retry.Operation) {
				t.Helper()
				stop := make(chan struct{})
				defer close(stop)
				var asked atomic.Bool
				op.Classifier = judge(func(classify.Outcome) (none classify.Verdict) {
					if !asked.Swap(true) {
						leave(stop)
					}
					return none
				})
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
	for most, change := range map[int64]func(c *adaptive.Config){
		101: func(c *adaptive.Config) { c.Standard.QuotaCapacity = new(14) },
		200: func(c *adaptive.Config) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 101, Ceiling: 101} }
			c.NoSendWait = true
		},
	} {
		learning(t, func(c *adaptive.Config) {
			c.Standard.Random = func() float64 { return 0 }
			change(c)
		}, func(t *testing.T, s retry.Strategy, timeout retry.Option) {
			t.Helper()
			var attempts atomic.Int64
			call := func(d time.Duration) error {
				return retry.DoErr(t.Context(), s, retry.Operation{}, func(ctx context.Context) error {
					attempts.Add(1)
					if attempt, _ := retry.AttemptFrom(ctx); attempt.Number > 1 {
						d = 5 * time.Second // after the others, whose successes pay into the quota
					}
					return clock.System{}.Sleep(ctx, d)
				}, timeout)
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
			require.Greater(t, attempts.Load(), int64(100))
			require.LessOrEqual(t, attempts.Load(), most)
			require.Equal(t, before.Quota, s.Snapshot().Scopes[0].Quota)
		})
	}
}

// TestRetryThatIsNotMadeGivesBackWhatWasTakenForIt has attempts that were ended for a retry.
func TestRetryThatIsNotMadeGivesBackWhatWasTakenForIt(t *testing.T) {
	t.Parallel()
	type attempt = func(ctx context.Context, cancel func()) error // what it returns after its end
	returns := func(err error) attempt { return func(context.Context, func()) error { return err } }
	for name, c := range map[string]struct {
		ended attempt
		given float64
	}{
		"the attempt succeeds all the same":     {returns(nil), 1},
		"it fails for good":                     {returns(errClient), 1},
		"it has another answer that is retried": {returns(errThrottled), 1},
		"the caller cancels during the backoff": {func(ctx context.Context, cancel func()) error {
			clock.System{}.AfterFunc(time.Millisecond, cancel)
			return ctx.Err()
		}, 1},
		"the caller has canceled": {func(ctx context.Context, cancel func()) error { cancel(); return ctx.Err() }, 1},
		"it is made":              {func(ctx context.Context, _ func()) error { return ctx.Err() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &scriptedLimiter{}
			learning(t, func(config *adaptive.Config) {
				config.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
			}, func(t *testing.T, s retry.Strategy, timeout retry.Option) {
				t.Helper()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				for range 101 {
					require.NoError(t, retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
						return clock.System{}.Sleep(ctx, 10*time.Millisecond)
					}, timeout))
				}
				l.acquired, l.given, l.reported = 0, 0, 0
				attempts := 0
				_ = retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
					if attempts++; attempts > 1 {
						return nil
					}
					<-ctx.Done()
					return c.ended(ctx, cancel)
				}, timeout)
				require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
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
