package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestEndOfAnOperationIsItsLastEventHoweverTheLoopEndsIt(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, s retry.Strategy, token retry.Token) retry.Token {
		t.Helper()
		_, err := s.RefreshRetryToken(t.Context(), token, errClient)
		require.ErrorIs(t, err, retry.ErrNotRetryable)
		return token
	}
	granted := func(t *testing.T, s retry.Strategy, token retry.Token) retry.Token {
		t.Helper()
		next, err := s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		return next
	}
	again := func(t *testing.T, s retry.Strategy, token retry.Token) retry.Token {
		t.Helper()
		next := granted(t, s, token)
		require.NoError(t, next.WithoutDelay().Wait(t.Context()))
		return next
	}
	for name, c := range map[string]struct {
		before   func(t *testing.T, s retry.Strategy, token retry.Token) retry.Token
		failure  error
		canceled bool
		attempts int
		err      error
		outcome  string
	}{
		"success":                          {attempts: 1, outcome: "success"},
		"success of a retry":               {before: again, attempts: 2, outcome: "success"},
		"failure that is not asked about":  {failure: errServer, attempts: 1, err: errServer, outcome: "not_retryable"},
		"attempt that did not return":      {failure: retry.ErrAborted, attempts: 1, err: retry.ErrAborted, outcome: "aborted"},
		"retry that did not return":        {before: again, failure: retry.ErrAborted, attempts: 2, err: retry.ErrAborted, outcome: "aborted"},
		"refused retry":                    {before: refused, failure: errClient, attempts: 1, err: errClient, outcome: "not_retryable"},
		"retry that is not made":           {before: granted, failure: errServer, attempts: 1, err: errServer, outcome: "not_retryable"},
		"retry of a caller that has gone":  {before: granted, failure: errServer, canceled: true, attempts: 1, err: errServer, outcome: "canceled"},
		"retry that is canceled in time":   {before: again, failure: retry.ErrCanceled, attempts: 1, err: errServer, outcome: "canceled"},
		"failure as the caller has gone":   {failure: errServer, canceled: true, attempts: 1, err: errServer, outcome: "canceled"},
		"failure that another loop judged": {failure: retry.Permanent(errServer), attempts: 1, err: retry.Permanent(errServer), outcome: "not_retryable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forBothObserved(t, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
				t.Helper()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				token, err := s.AcquireInitialToken(ctx, ordersTable())
				require.NoError(t, err)
				require.NoError(t, token.Wait(ctx))
				clk.Advance(time.Second)
				if c.before != nil {
					token = c.before(t, s, token)
				}
				clk.Advance(time.Second)
				if c.canceled {
					cancel()
				}
				if c.failure == nil {
					require.NoError(t, s.RecordSuccess(token, retry.Result{}))
				} else {
					require.NoError(t, s.RecordFailure(token, c.failure))
				}
				require.Len(t, r.of(retry.OperationEnded), 1)
				last := r.events[len(r.events)-1]
				require.Equal(t, retry.OperationEnded, last.Kind)
				require.Equal(t, c.outcome, last.Outcome())
				require.Equal(t, c.attempts, last.Attempt)
				require.Len(t, r.of(retry.AttemptEnded), c.attempts)
				require.Equal(t, c.err, last.Err)
				require.Equal(t, 2*time.Second, last.Elapsed)
				require.Equal(t, clk.Now(), last.Time)
				require.Equal(t, s.Snapshot().Scopes[1].Quota, last.Quota)
				for _, e := range r.events {
					require.Equal(t, last.OperationID, e.OperationID, e.Kind)
				}
			})
		})
	}
}

func TestFirstAttemptThatIsNotMadeHasAnEnd(t *testing.T) {
	t.Parallel()
	forBothObserved(t, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		op := ordersTable()
		err := retry.DoErr(ctx, s, op, func(context.Context) error { return nil })
		require.ErrorIs(t, err, retry.ErrCanceled)
		last := r.events[len(r.events)-1]
		require.Equal(t, retry.OperationEnded, last.Kind)
		require.Zero(t, last.Attempt)
		require.Equal(t, retry.ErrCanceled, last.Reason)
		require.NoError(t, last.Err)
	})
}

func TestReasonOfAnEarlierWaitIsForgotten(t *testing.T) {
	t.Parallel()
	forBothObserved(t, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		token, err := s.AcquireInitialToken(t.Context(), ordersTable())
		require.NoError(t, err)
		require.ErrorIs(t, token.Wait(ctx), retry.ErrCanceled)
		require.NoError(t, token.Wait(t.Context()))
		require.NoError(t, s.RecordFailure(token, errServer))
		require.Equal(t, retry.ErrNotRetryable, r.of(retry.OperationEnded)[0].Reason)

		r.events = nil
		require.NoError(t, s.RecordSuccess(sent(t, s, ordersTable()), retry.Result{}))
		require.NoError(t, r.of(retry.OperationEnded)[0].Reason, "of the operation before")
	})
}

// A loop may sleep the backoff itself, before it waits for the token.
func TestBackoffThatTheLoopSleepsIsNoTimeOfAnAttempt(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, c := range map[string]struct {
		slept   time.Duration // of a delay of one second
		backoff time.Duration
	}{
		"all of it": {slept: second, backoff: second},
		"longer":    {slept: 3 * second, backoff: 3 * second},
		"shorter":   {slept: second / 4, backoff: second / 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, clk := &recorder{}, &clock.Fake{}
			s := modes(t, clk, func(config *standard.Config) { config.Observer = r })["standard"]
			token := sent(t, s, ordersTable())
			clk.Advance(second / 2)
			token, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
			require.Equal(t, second, token.Delay())
			clk.Advance(c.slept)
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			clk.Advance(second / 2)
			require.NoError(t, s.RecordSuccess(token, retry.Result{}))
			ended, attempts := r.of(retry.OperationEnded)[0], r.of(retry.AttemptEnded)
			require.Equal(t, c.backoff, ended.BackoffWait)
			require.Equal(t, ended.Elapsed, ended.BackoffWait+attempts[0].Elapsed+attempts[1].Elapsed)
			require.Equal(t, second/2, attempts[0].Elapsed)
		})
	}
}

func TestOutcomeIsAWordForEachReason(t *testing.T) {
	t.Parallel()
	for want, reason := range map[string]error{
		"success": nil, "attempts": retry.ErrAttemptsExhausted, "quota": retry.ErrQuotaExhausted,
		"deadline": retry.ErrDeadline, "max_elapsed": retry.ErrMaxElapsed, "hint": retry.ErrHintTooLong, "send_rate": retry.ErrSendRateLimited,
		"canceled": retry.ErrCanceled, "aborted": retry.ErrAborted, "not_retryable": retry.ErrNotRetryable,
		"rule": errors.Join(retry.ErrNotRetryable, errBoom), "other": errBoom,
	} {
		require.Equal(t, want, retry.Event{Reason: reason}.Outcome())
	}
	around := errors.Join(retry.ErrNotRetryable, retry.ErrDeadline)
	require.Equal(t, "rule", retry.Event{Reason: around}.Outcome(), "a rule with a reason of a loop inside")
}

func TestErrorTypeIsACodeOrAKindAndNeverAMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event retry.Event
		want  string
	}{
		"success":                    {},
		"code":                       {retry.Event{Err: codeError("SlowDown")}, "SlowDown"},
		"code as the wire has it":    {retry.Event{Err: codeError("com.amazonaws#SlowDown:http://x")}, "SlowDown"},
		"code below other errors":    {retry.Event{Err: errors.Join(errBoom, codeError(""), codeError("AuthFailure.x-1_2"))}, "AuthFailure.x-1_2"},
		"message in place of a code": {retry.Event{Err: codeError("no table 4711"), Verdict: classify.RetryAs(classify.Transient)}, "transient"},
		"code that is much too long": {retry.Event{Err: codeError(string(make([]byte, 81)))}, "_OTHER"},
		"kind":                       {retry.Event{Err: errServer, Verdict: classify.RetryAs(classify.Transient)}, "transient"},
		"failure of an unknown sort": {retry.Event{Err: errBoom}, "_OTHER"},
		"error that wraps itself":    {retry.Event{Err: circle{}}, "_OTHER"},
	} {
		require.Equal(t, c.want, c.event.ErrorType(), name)
	}
}

func TestLoopInALoopTellsTheObserverTheProductOfTheAttempts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		outer, inner int
		change       func(context.Context) context.Context
		want         []int
	}{
		{"both retry", 2, 4, same, []int{8, 8}},
		{"the outer one does not retry", 1, 4, same, nil},
		{"the inner one does not retry", 2, 1, same, nil},
		{"the inner one is limited", 2, 4, retry.Once, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			var told []int
			s := modes(t, clk, func(config *standard.Config) {
				config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.LoopNested {
						told = append(told, e.MaxAttempts)
					}
				})
			})["standard"]
			nested(t, clk, s, retry.Operation{MaxAttempts: c.outer}, retry.Operation{MaxAttempts: c.inner}, c.change)
			require.Equal(t, c.want, told)
		})
	}
}

func TestReasonsOfAThrottleAreInEventsAndInTheError(t *testing.T) {
	t.Parallel()
	reasons := []classify.Reason{{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}}
	r := &recorder{}
	clk := &clock.Fake{}
	s, err := standard.New(standard.Config{Clock: clk, MaxAttempts: 2, Observer: r})
	require.NoError(t, err)
	clk.Run(func() {
		err = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error {
			return fmt.Errorf("operation: %w", hotKeyError{reasons})
		})
	})
	var refusal *retry.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, reasons, refusal.ThrottledBy())
	for _, kind := range []retry.EventKind{retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused, retry.OperationEnded} {
		events := r.of(kind)
		require.NotEmpty(t, events, kind)
		for _, e := range events {
			require.Equal(t, reasons, e.ThrottledBy(), kind)
			if kind != retry.RetryRefused {
				require.Equal(t, classify.ReachPart, e.Verdict.Reach(), kind)
			}
		}
	}
}

func TestNameOfTheLimitIsAWordOrACodeAndNeverAMessage(t *testing.T) {
	t.Parallel()
	part, wider := classify.ReachPart, classify.ReachWider
	for _, c := range []struct {
		reasons []classify.Reason
		want    string
	}{
		{nil, ""},
		{[]classify.Reason{{Reach: part, Word: "Hot", Quota: "L-1"}}, "Hot"},
		{[]classify.Reason{{Quota: "lambda/L-1"}}, "lambda/L-1"},
		{[]classify.Reason{{}}, ""},
		{[]classify.Reason{{Word: "too many requests"}}, "_OTHER"},
		{[]classify.Reason{{Reach: part, Word: "Hot"}, {Reach: wider}, {Reach: wider, Word: "Account"}}, "Account"},
	} {
		err := hotKeyError{c.reasons}
		e := retry.Event{Err: err, Verdict: classify.Default().Classify(classify.Outcome{Err: err})}
		require.Equal(t, c.want, e.LimitName(), "%v", c.reasons)
	}
}

// settable is a clock that can go backwards, as a wall clock does that is set.
type settable struct {
	*clock.Fake
	ahead time.Duration
}

func (c *settable) Now() time.Time { return c.Fake.Now().Add(c.ahead) }

func TestClockThatGoesBackwardsMakesNoTimeNegative(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r, clk := &recorder{}, &settable{Fake: &clock.Fake{}}
			s := modes(t, clk, func(config *standard.Config) { config.Observer = r })[mode]
			token := sent(t, s, ordersTable())
			clk.ahead -= time.Hour
			require.NoError(t, s.RecordSuccess(token, retry.Result{}))
			ended := r.of(retry.OperationEnded)[0]
			require.Zero(t, ended.Elapsed)
			require.Zero(t, ended.BackoffWait)

			r.events = nil
			token = sent(t, s, ordersTable())
			clk.ahead += second
			token, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
			clk.ahead -= time.Hour
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			clk.ahead -= second
			require.NoError(t, s.RecordSuccess(token, retry.Result{}))
			ended = r.of(retry.OperationEnded)[0]
			require.Equal(t, second, ended.Elapsed)
			require.Zero(t, ended.BackoffWait)
			require.Equal(t, []time.Duration{second, 0}, []time.Duration{r.of(retry.AttemptEnded)[0].Elapsed, r.of(retry.AttemptEnded)[1].Elapsed})
		})
	}
}

// A strategy accepts a token that was not waited for, or whose Wait has failed.
func TestAttemptWithoutAWaitBeginsWhenTheStrategyWasCalledLast(t *testing.T) {
	t.Parallel()
	const second = time.Second
	forBothObserved(t, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
		t.Helper()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		token := sent(t, s, ordersTable())
		clk.Advance(second)
		token, err := s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		clk.Advance(2 * second)
		token, err = s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		clk.Advance(3 * second)
		require.ErrorIs(t, token.Wait(gone), retry.ErrCanceled)
		clk.Advance(4 * second)
		require.NoError(t, s.RecordSuccess(token, retry.Result{}))
		var took []time.Duration
		for _, e := range r.of(retry.AttemptEnded) {
			took = append(took, e.Elapsed)
		}
		require.Equal(t, []time.Duration{second, 2 * second, 4 * second}, took)
		ended := r.of(retry.OperationEnded)[0]
		require.Equal(t, 3*second, ended.BackoffWait)
		require.Equal(t, 10*second, ended.Elapsed)
	})
}

// A loop that sleeps by itself does not call Wait if its context ends meanwhile.
func TestBackoffThatTheLoopDoesNotSleepToItsEndCounts(t *testing.T) {
	t.Parallel()
	const second = time.Second
	forBothObserved(t, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
		t.Helper()
		token := sent(t, s, ordersTable())
		clk.Advance(3 * second)
		token, err := s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		clk.Advance(second / 4)
		require.NoError(t, s.RecordFailure(token, context.Canceled))
		ended := r.of(retry.OperationEnded)[0]
		require.Equal(t, second/4, ended.BackoffWait)
		require.Equal(t, 3*second+second/4, ended.Elapsed)
	})
}
