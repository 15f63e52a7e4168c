package engine_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// asked is a classifier that notes the outcomes that it gets.
type asked struct{ outcomes []classify.Outcome }

func (*asked) Name() string { return "asked" }

func (a *asked) Classify(o classify.Outcome) classify.Verdict {
	a.outcomes = append(a.outcomes, o)
	return classify.RetryAs(classify.Transient)
}

func TestClassifierIsToldTheOperationAndTheAttempt(t *testing.T) {
	t.Parallel()
	classifier := &asked{}
	s, clk := newStandard(t, func(c *standard.Config) { c.Classifier, c.Service = classifier, "dynamodb" })
	for _, op := range []retry.Operation{{Name: "GetItem"}, {Service: "s3", Name: "GetObject"}} {
		require.NoError(t, play.Do(t.Context(), clk, s, op, errClient, errServer))
	}
	require.Equal(t, []classify.Outcome{
		{Err: errClient, Service: "dynamodb", Operation: "GetItem", Attempt: 1},
		{Err: errServer, Service: "dynamodb", Operation: "GetItem", Attempt: 2},
		{Err: errClient, Service: "s3", Operation: "GetObject", Attempt: 1},
		{Err: errServer, Service: "s3", Operation: "GetObject", Attempt: 2},
	}, classifier.outcomes)
}

func TestDelaysGrowFromTheLastAttemptThatWroteEntriesOfABatch(t *testing.T) {
	t.Parallel()
	part := wire.EntryError{Err: errThrottle, Throttled: 1, Entries: 4}
	failures := []error{errThrottle, errThrottle, part, part, errThrottle, errThrottle}
	const short, second = 50 * time.Millisecond, time.Second
	for name, c := range map[string]struct {
		adaptive bool
		jitter   standard.Jitter
		want     []time.Duration
	}{
		"adaptive":               {true, standard.Full, []time.Duration{second, 2 * second, short, short, second, 2 * second}},
		"adaptive, decorrelated": {true, standard.Decorrelated, []time.Duration{3 * second, 9 * second, 3 * short, 3 * short, 3 * second, 9 * second}},
		"standard, by the share": {false, standard.Full, []time.Duration{
			second, 2 * second, 4 * (short + (second-short)/16), 8 * (short + (second-short)/16), 16 * second, 20 * second,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := standard.Config{MaxAttempts: 9, Jitter: c.jitter, Random: func() float64 { return 1 }}
			s, err := standard.New(config)
			if c.adaptive {
				s, err = adaptive.New(adaptive.Config{Standard: config})
			}
			require.NoError(t, err)
			for range 2 { // operations, of which the second begins anew
				token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
				require.NoError(t, err)
				var delays []time.Duration
				for _, failure := range failures {
					token, err = s.RefreshRetryToken(t.Context(), token, failure)
					require.NoError(t, err)
					delays = append(delays, token.Delay())
				}
				require.Equal(t, c.want, delays)
				require.NoError(t, s.RecordFailure(token, errClient))
			}
		})
	}
}

func TestOperationThatMustNotRunTwiceIsRetriedOnlyIfItHasNotRun(t *testing.T) {
	t.Parallel()
	s, _ := newStandard(t, func(*standard.Config) {})
	for failure, again := range map[error]bool{
		errServer: false, io.ErrUnexpectedEOF: false, errThrottle: true, driver.ErrBadConn: true,
		retry.Mark(errors.New("not begun"), classify.Transient): true,
	} {
		token, err := s.AcquireInitialToken(t.Context(), retry.Operation{NotIdempotent: true})
		require.NoError(t, err)
		_, err = s.RefreshRetryToken(t.Context(), token, failure)
		if again {
			require.NoError(t, err, "%v", failure)
			continue
		}
		require.ErrorIs(t, err, retry.ErrNotRetryable)
		require.ErrorIs(t, err, failure)
		require.ErrorContains(t, err, "may have been carried out")
	}
}

func TestBackoffOfTheUserIsSlept(t *testing.T) {
	t.Parallel()
	s, clk := newStandard(t, func(c *standard.Config) {
		c.QuotaInitial = new(28)
		c.Backoff = func(attempt int, _ error) time.Duration { return time.Duration(attempt) * time.Second }
	})
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, errServer, errServer))
	require.ErrorIs(t, play.Do(t.Context(), clk, s, retry.Operation{LongPolling: true}, errServer, errServer), retry.ErrQuotaExhausted)
	require.Equal(t, []time.Duration{1e9, 2e9, 1e9, 2e9}, clk.Waits(), "a long poll sleeps it before it returns")
}

// The function of a program runs before the retry is paid for, and after the attempt was reported.
func TestPanicOfABackoffTakesNothing(t *testing.T) {
	t.Parallel()
	l, ends, panics := &scripted{}, 0, true
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		l.use(c)
		c.Standard.Backoff = func(int, error) time.Duration {
			if panics {
				panic("backoff")
			}
			return 0
		}
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.OperationEnded {
				ends++
			}
		})
	})
	require.PanicsWithValue(t, "backoff", func() { _ = play.Do(t.Context(), clk, s, retry.Operation{}, errServer) })
	require.Equal(t, []bool{false}, l.reports)
	require.Equal(t, 1, ends)
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)

	token := play.Sent(t, s)
	require.PanicsWithValue(t, "backoff", func() { _ = play.Refresh(s, token) })
	require.NoError(t, s.RecordFailure(token, errServer), "its operation can end")
	require.Equal(t, []bool{false, true}, l.reports)

	panics = false
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, errServer))
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
}

// comeBackError is a throttle whose hint counts in full.
type comeBackError time.Duration

func (comeBackError) Error() string                       { return "come back later" }
func (comeBackError) Throttling() bool                    { return true }
func (c comeBackError) RetryAfter() (time.Duration, bool) { return time.Duration(c), true }
func (comeBackError) RetryAfterInFull() bool              { return true }

// TestHintsInFullHoldForEveryLoop: an error of the caller's own function may have one.
func TestHintsInFullHoldForEveryLoop(t *testing.T) {
	t.Parallel()
	const s, hour = time.Second, time.Hour
	empty, poll := standard.Config{QuotaInitial: new(4)}, retry.Operation{LongPolling: true}
	for name, c := range map[string]struct {
		hint   time.Duration
		config standard.Config
		op     retry.Operation
		delay  time.Duration // before the retry; 0 if there is none
		err    error
	}{
		"the longest":               {time.Minute, standard.Config{}, retry.Operation{}, 66 * s, nil},
		"too long":                  {time.Minute + 1, standard.Config{}, retry.Operation{}, 0, retry.ErrHintTooLong},
		"with the shortest backoff": {s, standard.Config{MinDelay: 5 * s}, retry.Operation{}, 6 * s, nil},
		"too long, without quota":   {hour, empty, retry.Operation{}, 0, retry.ErrQuotaExhausted},
		"too long for a long poll":  {hour, empty, poll, s, retry.ErrQuotaExhausted},
		"the last attempt":          {hour, standard.Config{MaxAttempts: 1}, retry.Operation{}, 0, retry.ErrAttemptsExhausted},
	} {
		clk := &clock.Fake{}
		c.config.Clock, c.config.Random = clk, func() float64 { return 1 }
		s, err := standard.New(c.config)
		require.NoError(t, err)
		err = play.Do(t.Context(), clk, s, c.op, comeBackError(c.hint))
		require.ErrorIs(t, err, c.err, name)
		var waits []time.Duration
		if c.delay > 0 {
			waits = []time.Duration{c.delay}
		}
		require.Equal(t, waits, clk.Waits(), name)
		if c.err == retry.ErrHintTooLong { //nolint:errorlint // of the table
			require.EqualError(t, err, "retry: client-side: the server asks for too long a wait: last error: come back later "+
				"(1 attempt, 1m0.000000001s asked for by the server)")
			require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
		}
	}
}

// What the limit on debt refuses says so, costs nothing, and does not wait for quota.
func TestDebtLimitSaysSoAndCostsNothing(t *testing.T) {
	t.Parallel()
	var reasons []error
	var outcomes []string
	s, clk := newStandard(t, func(c *standard.Config) {
		c.DebtLimit, c.MaxQuotaWait = true, time.Hour
		c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.RetryRefused || e.Kind == retry.OperationEnded {
				reasons, outcomes = append(reasons, e.Reason), append(outcomes, e.Outcome())
			}
		})
	})
	next := granted(t, s, play.Sent(t, s), errServer)
	clk.Advance(time.Second)
	before := s.Snapshot().Scopes[0].Quota
	err := play.Do(t.Context(), clk, s, retry.Operation{}, errServer)
	refusal := play.Refusal(t, err)
	require.Equal(t, retry.ErrQuotaExhausted, refusal.Reason)
	require.ErrorIs(t, err, retry.ErrDebtLimit)
	require.Equal(t, []int{486, 14}, []int{refusal.Available, refusal.Needed})
	require.ErrorContains(t, err, "retry: client-side: retry quota exhausted: debt limit: last error:")
	require.Equal(t, []string{"debt_limit", "debt_limit"}, outcomes)
	for _, reason := range reasons {
		require.ErrorIs(t, reason, retry.ErrQuotaExhausted)
	}
	require.Equal(t, before, s.Snapshot().Scopes[0].Quota)
	require.EqualValues(t, 1, s.Snapshot().Scopes[0].RefusedCalls)

	// A lost connection is lent all the same, and says nothing of the limit.
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{}, io.ErrUnexpectedEOF))
	require.Equal(t, 14, s.Snapshot().Scopes[0].Debt)
	require.NoError(t, s.RecordSuccess(next, retry.Result{}))

	// A retry that wrote some entries of a batch has helped.
	limit := s.Snapshot().Scopes[0].DebtLimit
	require.Equal(t, 42, limit)
	next = granted(t, s, play.Sent(t, s), errServer)
	next, err = s.RefreshRetryToken(t.Context(), next, wire.EntryError{Err: errThrottle, Throttled: 1, Entries: 4})
	require.NoError(t, err)
	require.Equal(t, limit, s.Snapshot().Scopes[0].DebtLimit)
	_, err = s.RefreshRetryToken(t.Context(), next, wire.EntryError{Err: errServer, Entries: 4})
	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	require.Equal(t, limit, s.Snapshot().Scopes[0].DebtLimit)
}

// Without its tokens a retry is refused as without the limit, unless it would wait for them.
func TestDebtLimitIsTheReasonOnlyWhereItDecides(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{0: "quota", time.Hour: "debt_limit"} {
		var outcome string
		s, clk := newStandard(t, func(c *standard.Config) {
			c.DebtLimit, c.MaxQuotaWait, c.QuotaCapacity, c.MaxAttempts = true, wait, new(20), 2
			c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { outcome = e.Outcome() })
		})
		granted(t, s, play.Sent(t, s), errServer)
		clk.Advance(time.Second)
		refusal := play.Refusal(t, play.Do(t.Context(), clk, s, retry.Operation{}, errServer))
		require.Equal(t, []int{6, 0, 14}, []int{refusal.Available, refusal.Pool, refusal.Needed})
		require.Equal(t, want, outcome)
		require.Equal(t, wait > 0, errors.Is(refusal, retry.ErrDebtLimit))
	}
}

func TestDebtLimitIsALabelBesideAnImpossibleSendLimit(t *testing.T) {
	t.Parallel()
	var outcomes []string
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Scope == "orders" {
				return adaptive.SendLimit{Ceiling: 0.001}
			}
			return adaptive.SendLimit{}
		}
		c.Standard.DebtLimit = true
		c.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.RetryRefused || e.Kind == retry.OperationEnded {
				outcomes = append(outcomes, e.Outcome())
			}
		})
	})
	op := retry.Operation{Scope: "orders"}
	require.ErrorIs(t, play.Do(t.Context(), clk, s, op, errServer, errServer, errServer), retry.ErrAttemptsExhausted)
	clk.Advance(time.Second)
	outcomes = nil
	err := play.Do(t.Context(), clk, s, op, errServer)
	require.ErrorIs(t, err, retry.ErrDebtLimit)
	require.ErrorContains(t, err, "ceiling 0.001")
	require.Equal(t, []string{"debt_limit", "debt_limit"}, outcomes)
}
