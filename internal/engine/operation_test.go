package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

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
				s, clk := play.Adaptive(t, func(config *adaptive.Config) {
					config.Standard.Behavior = behavior
					config.Standard.QuotaInitial = &c.quota
					config.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
				})
				_ = play.Do(t.Context(), clk, s, retry.Operation{}, c.answers...)
				require.Equal(t, c.want, l.reports)
				require.Equal(t, len(c.want), l.acquired)
			})
		}
	}
}

func TestAttemptThatIsCanceledBeforeItIsSentIsNotReported(t *testing.T) {
	t.Parallel()
	l := &listening{}
	s, clk := play.Adaptive(t, func(config *adaptive.Config) {
		config.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, play.Do(gone, clk, s, retry.Operation{}), retry.ErrCanceled)
	require.Empty(t, l.reports)
}

func TestThrottleThatAPolicyEndsIsStillReported(t *testing.T) {
	t.Parallel()
	l := &listening{}
	s, _ := play.Adaptive(t, func(config *adaptive.Config) {
		config.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
	})
	policy := func(_ int, err error) error { return retry.Permanent(err) }
	_, err := retry.Do(t.Context(), s, retry.Operation{}, play.Answers(errThrottle), retry.WithPolicy(policy))
	require.Equal(t, errThrottle, err)
	require.Equal(t, []bool{true}, l.reports)
}

func TestTokenThatWasNotWaitedForIsNotReported(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(s retry.Strategy, token retry.Token) error{
		"refresh": play.Refresh,
		"failure": play.Fail,
		"success": func(s retry.Strategy, token retry.Token) error { return s.RecordSuccess(token, retry.Result{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &scripted{}
			s, _ := play.Adaptive(t, l.use)
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			require.NoError(t, use(s, token))
			require.Empty(t, l.reports)
		})
	}
}

func TestClassifierIsNotAskedAboutAnAttemptThatWasNotMade(t *testing.T) {
	t.Parallel()
	s, _ := play.Adaptive(t, func(c *adaptive.Config) { c.Standard.Classifier = panicking{} })
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, play.Fail(s, token))
}

func TestPanicOfAClassifierIsReportedAsAnAttemptOnce(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.Classifier = panicking{}
		l.use(c)
	})
	policy := func(_ int, err error) error { return retry.Permanent(err) }
	require.PanicsWithValue(t, "classifier", func() {
		_, _ = retry.Do(t.Context(), s, retry.Operation{}, play.Answers(errServer), retry.WithPolicy(policy))
	})
	require.Equal(t, []bool{false}, l.reports)
}

func TestPanicOfAClassifierAtTheEndIsReportedAsAnAttemptOnce(t *testing.T) {
	t.Parallel()
	l, r := &scripted{}, &recorder{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.Classifier = panicking{}
		c.Standard.Observer = r
		l.use(c)
	})
	token, err := s.RefreshRetryToken(t.Context(), play.Sent(t, s), retry.Mark(errThrottle, classify.Throttling))
	require.NoError(t, err)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.PanicsWithValue(t, "classifier", func() { _ = s.RecordFailure(token, errServer) })
	require.Equal(t, []bool{true, false}, l.reports)
	require.Len(t, r.of(retry.AttemptEnded), 2)
	require.Equal(t, errServer, r.of(retry.AttemptEnded)[1].Err)
	require.Len(t, r.of(retry.OperationEnded), 1)
	require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(token, errServer))
	require.EqualValues(t, 1, scopesOf(s)[""].StrainedCalls)
}

func TestSuccessWithThrottledEntriesIsAThrottleForTheSendRateAndASuccessForTheQuota(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		throttled, of     int
		limited           bool
		told, toldEntries int
	}{
		{"some", 3, 25, true, 3, 25},
		{"all", 25, 25, true, 25, 25},
		{"none", 0, 25, false, 0, 0},
		{"less than none", -1, 25, false, 0, 0},
		{"more than there are", 3, 0, true, 3, 3},
		{"very many", 1 << 30, 1<<31 - 1, true, 1 << 30, 1<<31 - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			empty := 0
			s, _ := play.Adaptive(t, func(config *adaptive.Config) {
				config.Standard.QuotaInitial, config.Standard.Observer = &empty, r
			})
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			require.NoError(t, token.Wait(t.Context()))
			require.NoError(t, s.RecordSuccess(token, retry.Result{Throttled: c.throttled, Entries: c.of}))
			state := s.Snapshot().Scopes[0]
			require.Equal(t, c.limited, state.Limited)
			require.Equal(t, 1, state.Quota, "that of a success at the first attempt")
			ended := r.of(retry.AttemptEnded)
			require.Len(t, ended, 1)
			require.NoError(t, ended[0].Err)
			require.Equal(t, c.told, ended[0].EntriesThrottled)
			require.Equal(t, c.toldEntries, ended[0].Entries)
			require.Equal(t, "success", r.of(retry.OperationEnded)[0].Outcome())
		})
	}
}

func TestFailureWithThrottledEntriesCountsForItsShareHoweverItIsReported(t *testing.T) {
	t.Parallel()
	failure := wire.EntryError{Err: errThrottle, Throttled: 1, Entries: 4}
	for name, report := range map[string]func(s retry.Strategy, token retry.Token){
		"refresh": func(s retry.Strategy, token retry.Token) {
			_, _ = s.RefreshRetryToken(context.Background(), token, failure)
		},
		"failure": func(s retry.Strategy, token retry.Token) { _ = s.RecordFailure(token, failure) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &scripted{}
			s, _ := play.Adaptive(t, l.use)
			for range 4 {
				report(s, play.Sent(t, s))
			}
			require.Equal(t, []bool{true, false, false, false}, l.reports)
		})
	}
}

func TestRetryThatSucceedsWithThrottledEntriesGetsItsCostBack(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, nil)
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	clk.Run(func() { require.NoError(t, token.Wait(t.Context())) })
	require.NoError(t, s.RecordSuccess(token, retry.Result{Throttled: 1, Entries: 2}))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	require.True(t, s.Snapshot().Scopes[0].Limited)
}

func TestUnpacedOperationTakesNoSendTokens(t *testing.T) {
	t.Parallel()
	l := &scripted{expected: time.Hour}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) { l.use(c) })
	ctx, cancel := clk.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	unpaced := retry.Operation{Unpaced: true}
	require.NoError(t, play.Do(ctx, clk, s, unpaced, errThrottle, errServer))
	require.ErrorIs(t, play.Do(ctx, clk, s, unpaced, errClient), errClient)
	require.Empty(t, l.requests)
	require.Empty(t, l.reports)
	require.Empty(t, l.costs, "its deadline does not depend on the send rate")
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}))
	require.Len(t, l.requests, 1)
	require.Equal(t, []bool{false}, l.reports)
}

// TestRetryThatIsCanceledAfterItsWaitGivesBack: a loop may wait for the token before it sleeps.
func TestRetryThatIsCanceledAfterItsWaitGivesBack(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	var kinds []retry.EventKind
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		l.use(c)
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { kinds = append(kinds, e.Kind) })
	})
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
	require.NoError(t, s.RecordFailure(token, retry.ErrCanceled))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	require.Equal(t, []bool{false}, l.reports, "the second attempt was not made")
	require.Len(t, l.given, 1, "nor was its send token used")
	require.Equal(t, []retry.EventKind{
		retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused, retry.OperationEnded,
	}, kinds)
	require.ErrorIs(t, s.RecordFailure(token, retry.ErrCanceled), retry.ErrTokenUsed)
}

// failing is a limiter whose state cannot be read.
type failing struct {
	adaptive.Limiter
	fails *bool
}

func (l failing) State() retry.ScopeSnapshot {
	if *l.fails {
		panic("state")
	}
	return l.Limiter.State()
}

func TestPanicOfAFunctionOfTheUserHarmsOnlyItsOperation(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(c *adaptive.Config, fails *bool){
		"scope": func(c *adaptive.Config, fails *bool) {
			c.Standard.Scope = func(op retry.Operation) retry.ScopeKey {
				if *fails {
					panic("scope")
				}
				return op.Key()
			}
		},
		"limit": func(c *adaptive.Config, fails *bool) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit {
				if *fails {
					panic("limit")
				}
				return adaptive.SendLimit{}
			}
		},
		"limiter": func(c *adaptive.Config, fails *bool) {
			c.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter {
				if *fails {
					panic("limiter")
				}
				return nil
			}
		},
		"state": func(c *adaptive.Config, fails *bool) {
			c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
				return failing{sendrate.NewLimiter(sendrate.Config{}, clk), fails}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := false
			s, clk := play.Adaptive(t, func(c *adaptive.Config) {
				forgetful(c)
				use(c, &fails)
			})
			require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errServer))
			clk.Advance(idle)
			require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "users"}))
			clk.Advance(idle)
			fails = true
			require.PanicsWithValue(t, name, func() {
				_, _ = s.AcquireInitialToken(t.Context(), retry.Operation{Scope: "carts"})
			})
			fails = false

			require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "carts"}, errServer))
			require.Contains(t, scopesOf(s), "carts")
			idleTwice(t, clk, s)
			idleTwice(t, clk, s)
			for _, name := range []string{"orders", "users", "carts"} {
				require.NotContains(t, scopesOf(s), name)
			}
		})
	}
}

// unreported is a limiter that does not survive a success.
type unreported struct{ adaptive.Limiter }

func (l unreported) Report(r ratelimit.Response) ratelimit.Change {
	if !r.Throttled {
		panic("report")
	}
	return l.Limiter.Report(r)
}

func TestQuotaIsGivenBackAlthoughTheLimiterPanics(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return unreported{sendrate.NewLimiter(sendrate.Config{}, clk)}
		}
	})
	token, err := s.RefreshRetryToken(t.Context(), play.Sent(t, s), errThrottle)
	require.NoError(t, err)
	require.Equal(t, 495, scopesOf(s)[""].Quota)
	clk.Advance(time.Minute)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.PanicsWithValue(t, "report", func() { _ = s.RecordSuccess(token, retry.Result{}) })
	require.Equal(t, 500, scopesOf(s)[""].Quota)
}

func TestOperationCountsOnceAlthoughTheLimiterPanics(t *testing.T) {
	t.Parallel()
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.QuotaInitial = new(0)
		c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return unreported{sendrate.NewLimiter(sendrate.Config{}, clk)}
		}
	})
	token := play.Sent(t, s)
	require.PanicsWithValue(t, "report", func() { _ = s.RecordSuccess(token, retry.Result{}) })
	require.NoError(t, s.RecordFailure(token, retry.ErrAborted))
	require.EqualValues(t, 1, scopesOf(s)[""].StrainedCalls)
}

func TestOperationWhoseLimiterPanicsHasAnEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limiter func(clk *clock.Fake) adaptive.Limiter
		op      retry.Operation
		attempt func()
		panics  string
		made    int
		outcome string
	}{
		"after a success": {func(clk *clock.Fake) adaptive.Limiter {
			return unreported{sendrate.NewLimiter(sendrate.Config{}, clk)}
		}, retry.Operation{}, func() {}, "report", 1, "aborted"},
		"after an attempt that panics too": {func(clk *clock.Fake) adaptive.Limiter {
			return unreported{sendrate.NewLimiter(sendrate.Config{}, clk)}
		}, retry.Operation{}, func() { panic("attempt") }, "report", 1, "aborted"},
		"before the attempt": {func(clk *clock.Fake) adaptive.Limiter {
			return ungiven{slow{&scripted{}, clk}}
		}, retry.Operation{MaxElapsed: 1}, func() {}, "give", 0, "max_elapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ends []retry.Event
			attempts := 0
			clk := &clock.Fake{}
			s, err := adaptive.New(adaptive.Config{
				Standard: standard.Config{Clock: clk, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					switch e.Kind {
					case retry.AttemptEnded:
						attempts++
					case retry.OperationEnded:
						ends = append(ends, e)
					default:
					}
				})},
				NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return c.limiter(clk) },
			})
			require.NoError(t, err)
			require.PanicsWithValue(t, c.panics, func() {
				_ = retry.DoErr(t.Context(), s, c.op, func(context.Context) error {
					c.attempt()
					return nil
				})
			})
			require.Len(t, ends, 1)
			require.Equal(t, c.made, ends[0].Attempt)
			require.Equal(t, c.made, attempts, "ended")
			require.Equal(t, c.outcome, ends[0].Outcome())
		})
	}
}

// ungiven is a limiter that takes no tokens back.
type ungiven struct{ adaptive.Limiter }

func (ungiven) Give(ratelimit.Request) { panic("give") }

func TestRetryThatIsCanceledAfterItsWaitIsNotMadeAlthoughTheLimiterTakesNoTokensBack(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		c.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return ungiven{l} }
	})
	token, err := s.RefreshRetryToken(t.Context(), play.Sent(t, s), errThrottle)
	require.NoError(t, err)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.PanicsWithValue(t, "give", func() { _ = s.RecordFailure(token, retry.ErrCanceled) })
	require.Equal(t, 500, scopesOf(s)[""].Quota)
	require.NoError(t, s.RecordFailure(token, retry.ErrAborted))
	require.Equal(t, 500, scopesOf(s)[""].Quota)
	require.Len(t, l.reports, 1)
}

// The pool fills while one retry waits, and others come later.
func TestRetryThatWaitsForQuotaIsPaidByThePoolBeforeThoseWhoCameLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events recorder
		s, err := standard.New(standard.Config{
			MaxQuotaWait: 10 * time.Second, QuotaCapacity: new(100), QuotaInitial: new(0), Base: time.Millisecond, MaxAttempts: 2,
			Random: func() float64 { return 1 }, Observer: &events,
		})
		require.NoError(t, err)
		hot, healthy := retry.Operation{Resource: "hot"}, retry.Operation{Resource: "healthy"}
		var ended [3]time.Duration
		began := time.Now()
		for i := range 3 {
			go func() {
				if _, err := retry.Do(t.Context(), s, hot, play.Answers(errServer)); err == nil {
					ended[i] = time.Since(began)
				}
			}()
			play.Sleep(t, time.Second)
		}
		for range 100 + 14 { // fills the quota of its scope, and then the pool
			require.NoError(t, retry.DoErr(t.Context(), s, healthy, func(context.Context) error { return nil }))
		}
		synctest.Wait()
		require.Equal(t, [3]time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}, ended,
			"each gives back what it took")
		var order []uint64
		for _, e := range events.of(retry.OperationEnded) {
			if e.Operation.Resource == "hot" {
				order = append(order, e.OperationID)
			}
		}
		require.IsIncreasing(t, order)
		require.Equal(t, 14, s.Snapshot().Pool, "the payer gets the refund")
	})
}
