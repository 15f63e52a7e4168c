package engine_test

import (
	"context"
	"slices"
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
	for name, c := range map[string]struct {
		quota   int
		answers []error
		want    []bool
	}{
		"success":                 {500, nil, []bool{no}},
		"throttles, then success": {500, []error{errThrottle, errThrottle}, []bool{yes, yes, no}},
		"attempt limit":           {500, []error{errThrottle, errServer, errThrottle}, []bool{yes, no, yes}},
		"empty quota":             {0, []error{errThrottle}, []bool{yes}},
		"not retryable":           {500, []error{errClient}, []bool{no}},
		"permanent":               {500, []error{retry.Permanent(errThrottle)}, []bool{yes}},
	} {
		l := &scripted{}
		s, clk := play.Adaptive(t, func(config *adaptive.Config) {
			config.Standard.QuotaInitial = &c.quota
			l.use(config)
		})
		_ = play.Do(t.Context(), clk, s, retry.Operation{}, c.answers...)
		require.Equal(t, c.want, l.reports, name)
		require.Len(t, l.requests, len(c.want), name)
	}
}

// A classifier is not asked about it either.
func TestTokenThatWasNotWaitedForIsNotReported(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		l.use(c)
		c.Standard.Classifier = panicking{}
	})
	require.NoError(t, play.Fail(s, begun(t, s, "")))
	require.NoError(t, s.RecordSuccess(begun(t, s, ""), retry.Result{}))
	require.NoError(t, s.RecordSuccess(granted(t, s, begun(t, s, ""), retry.Mark(errServer, classify.Server)), retry.Result{}))
	require.Empty(t, l.reports)
}

func TestPanicOfAClassifierAtTheEndIsReportedAsAnAttemptOnce(t *testing.T) {
	t.Parallel()
	l, r := &scripted{}, &play.Recorder{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.Classifier = panicking{}
		c.Standard.Observer = r
		l.use(c)
	})
	token := granted(t, s, play.Sent(t, s), retry.Mark(errThrottle, classify.Throttling))
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.PanicsWithValue(t, "classifier", func() { _ = s.RecordFailure(token, errServer) })
	require.Equal(t, []bool{true, false}, l.reports)
	require.Len(t, r.Of(retry.AttemptEnded), 2)
	require.Equal(t, errServer, r.Of(retry.AttemptEnded)[1].Err)
	require.Len(t, r.Of(retry.OperationEnded), 1)
	require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(token, errServer))
	require.EqualValues(t, 1, scopesOf(s)[""].StrainedCalls)
}

func TestSuccessWithThrottledEntriesIsAThrottleForTheSendRateAndASuccessForTheQuota(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		throttled, of     int
		limited           bool
		told, toldEntries int
	}{
		"some":                {3, 25, true, 3, 25},
		"all":                 {25, 25, true, 25, 25},
		"none":                {0, 25, false, 0, 0},
		"less than none":      {-1, 25, false, 0, 0},
		"more than there are": {1, 0, true, 1, 1},
		"very many":           {1 << 30, 1<<31 - 1, true, 1 << 30, 1<<31 - 1},
	} {
		r := &play.Recorder{}
		s, _ := play.Adaptive(t, func(config *adaptive.Config) {
			config.Standard.QuotaInitial, config.Standard.Observer = new(0), r
		})
		require.NoError(t, s.RecordSuccess(play.Sent(t, s), retry.Result{Throttled: c.throttled, Entries: c.of}))
		state := s.Snapshot().Scopes[0]
		require.Equal(t, c.limited, state.Limited, name)
		require.Equal(t, 1, state.Quota, "that of a success at the first attempt")
		ended := r.Of(retry.AttemptEnded)
		require.Len(t, ended, 1)
		require.NoError(t, ended[0].Err)
		require.Equal(t, []int{c.told, c.toldEntries}, []int{ended[0].EntriesThrottled, ended[0].Entries}, name)
		require.Equal(t, "success", r.Of(retry.OperationEnded)[0].Outcome())
	}
	s, clk := play.Adaptive(t, nil) // a retry gets its cost back
	token := granted(t, s, play.Sent(t, s), errServer)
	clk.Run(func() { require.NoError(t, token.Wait(t.Context())) })
	require.NoError(t, s.RecordSuccess(token, retry.Result{Throttled: 1, Entries: 2}))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	require.True(t, s.Snapshot().Scopes[0].Limited)
}

func TestFailureWithThrottledEntriesCountsForItsShareHoweverItIsReported(t *testing.T) {
	t.Parallel()
	whole, part := []bool{true, true, true, true}, []bool{true, false, false, false}
	for _, c := range []struct {
		failure error
		want    []bool
		heard   int // entries, by observers
	}{
		{wire.EntryError{Err: errThrottle, Throttled: 1, Entries: 4}, part, 0},
		{wire.CanceledError{Err: errThrottle, Throttled: 1, Causes: 4, Entries: 9}, part, 9},
		{wire.CanceledError{Err: errClient, Throttled: 1, Causes: 4, Entries: 9}, part, 9},
		{wire.CanceledError{Err: errClient, Throttled: 1, Causes: 1, Entries: 9}, whole, 9},
	} {
		for _, report := range []func(s retry.Strategy, token retry.Token){
			func(s retry.Strategy, token retry.Token) { _, _ = s.RefreshRetryToken(t.Context(), token, c.failure) },
			func(s retry.Strategy, token retry.Token) { _ = s.RecordFailure(token, c.failure) },
		} {
			l, r := &scripted{}, &play.Recorder{}
			s, _ := play.Adaptive(t, func(config *adaptive.Config) { l.use(config); config.Standard.Observer = r })
			for range 4 {
				report(s, play.Sent(t, s))
			}
			require.Equal(t, c.want, l.reports)
			require.Equal(t, c.heard, r.Of(retry.AttemptEnded)[0].Entries)
		}
	}
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
	l, r := &scripted{}, &play.Recorder{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		l.use(c)
		r.Use(c)
	})
	token := granted(t, s, play.Sent(t, s), errServer)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
	require.NoError(t, s.RecordFailure(token, retry.ErrCanceled))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	require.Equal(t, []bool{false}, l.reports, "the second attempt was not made")
	require.Len(t, l.given, 1, "nor was its send token used")
	require.Len(t, r.Of(retry.RetryRefused), 1)
	require.ErrorIs(t, s.RecordFailure(token, retry.ErrCanceled), retry.ErrTokenUsed)
}

// failing is a limiter whose state cannot always be read.
type failing struct {
	adaptive.Limiter
	check func()
}

func (l failing) State() retry.ScopeSnapshot {
	l.check()
	return l.Limiter.State()
}

func TestPanicOfAFunctionOfTheUserHarmsOnlyItsOperation(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"scope", "limit", "limiter", "state"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := false
			check := func(what string) {
				if fails && what == name {
					panic(what)
				}
			}
			s, clk := play.Adaptive(t, func(c *adaptive.Config) {
				forgetful(c)
				c.Standard.Scope = func(op retry.Operation) retry.ScopeKey { check("scope"); return op.Key() }
				c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { check("limit"); return adaptive.SendLimit{} }
				if name != "limit" {
					c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
						check("limiter")
						return failing{sendrate.NewLimiter(sendrate.Config{}, clk), func() { check("state") }}
					}
				}
			})
			require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errServer))
			clk.Advance(idle)
			require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "users"}))
			clk.Advance(idle)
			fails = true
			require.PanicsWithValue(t, name, func() { begun(t, s, "carts") })
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

// ungiven is a limiter that takes no tokens back.
type ungiven struct{ adaptive.Limiter }

func (ungiven) Give(ratelimit.Request) { panic("give") }

func TestQuotaIsGivenBackAndCountedOnceAlthoughTheLimiterPanics(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, _ := play.Adaptive(t, func(c *adaptive.Config) {
		useLimiter(unreported{ungiven{l}})(c)
		c.Standard.QuotaInitial = new(400)
	})
	token := granted(t, s, play.Sent(t, s), errThrottle)
	require.Equal(t, 395, scopesOf(s)[""].Quota)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.PanicsWithValue(t, "report", func() { _ = s.RecordSuccess(token, retry.Result{}) })
	require.Equal(t, 400, scopesOf(s)[""].Quota)
	require.NoError(t, s.RecordFailure(token, retry.ErrAborted))
	require.EqualValues(t, 1, scopesOf(s)[""].StrainedCalls)

	token = granted(t, s, play.Sent(t, s), errThrottle) // and canceled after its wait
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.PanicsWithValue(t, "give", func() { _ = s.RecordFailure(token, retry.ErrCanceled) })
	require.Equal(t, 400, scopesOf(s)[""].Quota)
	require.NoError(t, s.RecordFailure(token, retry.ErrAborted))
	require.Equal(t, 400, scopesOf(s)[""].Quota)
	require.Equal(t, []bool{true, true}, l.reports, "of the first attempts")
}

func TestOperationWhoseLimiterPanicsHasAnEnd(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	for name, c := range map[string]struct {
		limiter adaptive.Limiter
		op      retry.Operation
		attempt func()
		panics  string
		made    int
		outcome string
	}{
		"after a success":                  {unreported{&scripted{}}, retry.Operation{}, func() {}, "report", 1, "aborted"},
		"after an attempt that panics too": {unreported{&scripted{}}, retry.Operation{}, func() { panic("attempt") }, "report", 1, "aborted"},
		"before the attempt":               {ungiven{slow{&scripted{}, clk}}, retry.Operation{MaxElapsed: 1}, func() {}, "give", 0, "max_elapsed"},
	} {
		r := &play.Recorder{}
		s, err := adaptive.New(adaptive.Config{
			Standard:   standard.Config{Clock: clk, Observer: r},
			NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return c.limiter },
		})
		require.NoError(t, err)
		require.PanicsWithValue(t, c.panics, func() {
			_ = retry.DoErr(t.Context(), s, c.op, func(context.Context) error { c.attempt(); return nil })
		})
		ends := r.Of(retry.OperationEnded)
		require.Len(t, ends, 1, name)
		require.Equal(t, c.made, ends[0].Attempt, name)
		require.Len(t, r.Of(retry.AttemptEnded), c.made, name)
		require.Equal(t, c.outcome, ends[0].Outcome(), name)
	}
}

// The pool fills while one retry waits, and others come later.
func TestRetryThatWaitsForQuotaIsPaidByThePoolBeforeThoseWhoCameLater(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	synctest.Test(t, func(t *testing.T) {
		s, err := standard.New(standard.Config{
			MaxQuotaWait: 10 * time.Second, QuotaCapacity: new(100), QuotaInitial: new(0), Base: time.Millisecond, MaxAttempts: 2,
			Random: func() float64 { return 1 }, Observer: r,
		})
		require.NoError(t, err)
		for range 3 {
			go func() { _, _ = retry.Do(t.Context(), s, retry.Operation{Resource: "hot"}, play.Answers(errServer)) }()
			play.Sleep(t, time.Second)
		}
		for range 100 + 14 { // fills the quota of its scope, and then the pool
			require.NoError(t, s.RecordSuccess(begun(t, s, "healthy"), retry.Result{}))
		}
		synctest.Wait()
		require.Equal(t, 14, s.Snapshot().Pool, "the payer gets the refund")
	})
	var order []uint64
	for i, e := range slices.DeleteFunc(r.Of(retry.OperationEnded), func(e retry.Event) bool { return e.Operation.Scope != "" }) {
		require.NoError(t, e.Reason, "each gives back what it took")
		require.Equal(t, time.Duration(3-i)*time.Second-time.Millisecond, e.QuotaWait)
		require.Equal(t, time.Millisecond, e.BackoffWait)
		order = append(order, e.OperationID)
	}
	require.Len(t, order, 3)
	require.IsIncreasing(t, order)
}
