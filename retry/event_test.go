package retry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestEndOfAnOperationIsItsLastEventHoweverTheLoopEndsIt(t *testing.T) {
	t.Parallel()
	type before = func(t world, token retry.Token) retry.Token
	refused := func(t world, token retry.Token) retry.Token {
		_, err := t.RefreshRetryToken(t.Context(), token, errClient)
		require.ErrorIs(t, err, retry.ErrNotRetryable)
		return token
	}
	granted := func(t world, token retry.Token) retry.Token { return t.grant(token) }
	again := func(t world, token retry.Token) retry.Token {
		next := t.grant(token)
		require.NoError(t, next.WithoutDelay().Wait(t.Context()))
		return next
	}
	permanent := retry.Permanent(errServer)
	for name, c := range map[string]struct {
		before   before
		failure  error
		canceled bool
		attempts int
		err      error
		outcome  string
	}{
		"success":                          {nil, nil, false, 1, nil, "success"},
		"success of a retry":               {again, nil, false, 2, nil, "success"},
		"failure that is not asked about":  {nil, errServer, false, 1, errServer, "not_retryable"},
		"attempt that did not return":      {nil, retry.ErrAborted, false, 1, retry.ErrAborted, "aborted"},
		"retry that did not return":        {again, retry.ErrAborted, false, 2, retry.ErrAborted, "aborted"},
		"refused retry":                    {refused, errClient, false, 1, errClient, "not_retryable"},
		"retry that is not made":           {granted, errServer, false, 1, errServer, "not_retryable"},
		"retry of a caller that has gone":  {granted, errServer, true, 1, errServer, "canceled"},
		"retry that is canceled in time":   {again, retry.ErrCanceled, false, 1, errServer, "canceled"},
		"failure as the caller has gone":   {nil, errServer, true, 1, errServer, "canceled"},
		"failure that another loop judged": {nil, permanent, false, 1, permanent, "not_retryable"},
	} {
		inBoth(t, name, nil, func(t world) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			token := sent(ctx, t.T, t, ordersTable())
			t.clk.Advance(time.Second)
			if c.before != nil {
				token = c.before(t, token)
			}
			t.clk.Advance(time.Second)
			if c.canceled {
				cancel()
			}
			if c.failure == nil {
				require.NoError(t, t.RecordSuccess(token, retry.Result{}))
			} else {
				require.NoError(t, t.RecordFailure(token, c.failure))
			}
			require.Len(t, t.Of(retry.OperationEnded), 1)
			last := t.Events[len(t.Events)-1]
			require.Equal(t, retry.OperationEnded, last.Kind)
			require.Equal(t, c.outcome, last.Outcome())
			require.Equal(t, c.attempts, last.Attempt)
			require.Len(t, t.Of(retry.AttemptEnded), c.attempts)
			require.Equal(t, c.err, last.Err)
			require.Equal(t, 2*time.Second, last.Elapsed)
			require.Equal(t, t.clk.Now(), last.Time)
			require.Equal(t, t.Snapshot().Scopes[1].Quota, last.Quota)
			for _, e := range t.Events {
				require.Equal(t, last.OperationID, e.OperationID, e.Kind)
			}
		})
	}
}

func TestReasonOfAnEarlierWaitIsForgotten(t *testing.T) {
	t.Parallel()
	inBoth(t, "", nil, func(t world) {
		_, err := t.do(gone(t.T), retry.Operation{}, always(nil))
		require.ErrorIs(t, err, retry.ErrCanceled)
		last := t.Of(retry.OperationEnded)[0]
		require.Zero(t, last.Attempt)
		require.Equal(t, retry.ErrCanceled, last.Reason)
		require.NoError(t, last.Err)

		token := acquire(t.T, t)
		require.ErrorIs(t, token.Wait(gone(t.T)), retry.ErrCanceled)
		require.NoError(t, token.Wait(t.Context()))
		require.NoError(t, t.RecordFailure(token, errServer))
		require.Equal(t, retry.ErrNotRetryable, t.Of(retry.OperationEnded)[1].Reason)

		require.NoError(t, t.RecordSuccess(acquire(t.T, t), retry.Result{}))
		require.NoError(t, t.Of(retry.OperationEnded)[2].Reason, "of the operation before")
	})
}

func TestContextOfAnEventIsThatOfItsOperation(t *testing.T) {
	t.Parallel()
	type key struct{}
	var told any
	w := newWorld(t, "adaptive", func(c *standard.Config) {
		c.Observer = retry.ObserverFunc(func(ctx context.Context, _ retry.Event) { told = ctx.Value(key{}) })
	})
	for name := range 2 { // of which the second has the state of the first
		_, err := w.do(context.WithValue(t.Context(), key{}, name), retry.Operation{}, always(errClient))
		require.Equal(t, errClient, err)
		require.Equal(t, name, told)
	}
}

func TestOutcomeIsAWordForEachReason(t *testing.T) {
	t.Parallel()
	for want, reason := range map[string]error{
		"success": nil, "attempts": retry.ErrAttemptsExhausted, "quota": retry.ErrQuotaExhausted,
		"debt_limit": fmt.Errorf("%w: %w", retry.ErrQuotaExhausted, retry.ErrDebtLimit),
		"deadline":   retry.ErrDeadline, "max_elapsed": retry.ErrMaxElapsed, "hint": retry.ErrHintTooLong,
		"send_rate": retry.ErrSendRateLimited, "canceled": retry.ErrCanceled, "aborted": retry.ErrAborted,
		"not_retryable": retry.ErrNotRetryable, "other": errBoom,
		"rule": errors.Join(retry.ErrNotRetryable, retry.ErrDeadline), // with a reason of a loop inside
	} {
		require.Equal(t, want, retry.Event{Reason: reason}.Outcome())
	}
}

func TestErrorTypeIsACodeOrAKindAndNeverAMessage(t *testing.T) {
	t.Parallel()
	transient := classify.RetryAs(classify.Transient)
	for _, c := range []struct {
		err     error
		verdict classify.Verdict
		want    string
	}{
		{nil, classify.Verdict{}, ""},
		{codeError("com.amazonaws#SlowDown:http://x"), transient, "SlowDown"},
		{errors.Join(errBoom, codeError(""), codeError("AuthFailure.x-1_2")), transient, "AuthFailure.x-1_2"},
		{codeError("Zz09" + strings.Repeat("a", 76)), transient, "Zz09" + strings.Repeat("a", 76)},
		{codeError(strings.Repeat("a", 81)), transient, "transient"},
		{codeError("no table 4711"), transient, "transient"},
		{errBoom, classify.Verdict{}, "_OTHER"},
		{circle{}, classify.Verdict{}, "_OTHER"},
	} {
		require.Equal(t, c.want, retry.Event{Err: c.err, Verdict: c.verdict}.ErrorType(), c.err)
	}
}

func TestLoopInALoopTellsTheObserverTheProductOfTheAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outer, inner int
		change       func(context.Context) context.Context
		want         int
	}{
		"both retry":                   {2, 4, same, 8},
		"the outer one does not retry": {1, 4, same, 0},
		"the inner one does not retry": {2, 1, same, 0},
		"the inner one is limited":     {2, 4, retry.Once, 0},
	} {
		w := newWorld(t, "standard", nil)
		nested(w, retry.Operation{MaxAttempts: c.outer}, retry.Operation{MaxAttempts: c.inner}, c.change)
		told := w.Of(retry.LoopNested)
		require.Equal(t, c.want > 0, len(told) == 2, name)
		for _, e := range told {
			require.Equal(t, c.want, e.MaxAttempts, name)
		}
	}
}

func TestReasonsOfAThrottleAreInEventsAndInTheError(t *testing.T) {
	t.Parallel()
	reasons := []classify.Reason{{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}}
	w := newWorld(t, "standard", nil)
	_, err := w.do(t.Context(), retry.Operation{}, always(fmt.Errorf("operation: %w", hotKeyError{reasons})))
	require.Equal(t, reasons, play.Refusal(t, err).ThrottledBy())
	for _, kind := range []retry.EventKind{retry.AttemptEnded, retry.RetryScheduled, retry.RetryRefused, retry.OperationEnded} {
		for _, e := range w.Of(kind) {
			require.Equal(t, reasons, e.ThrottledBy(), kind)
			require.True(t, kind == retry.RetryRefused || e.Verdict.Reach() == classify.ReachPart, kind)
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

// unsteady is a clock that may go back, as a wall clock does that is set.
type unsteady struct {
	*clock.Fake
	by time.Duration
}

func (c *unsteady) Now() time.Time { return c.Fake.Now().Add(c.by) }

// A loop may sleep the backoff itself, not to its end, or not wait at all, and clocks go back.
func TestTimesOfAnOperationAddUp(t *testing.T) {
	t.Parallel()
	const second = time.Second
	type times struct {
		attempts         []time.Duration
		backoff, elapsed time.Duration
	}
	for name, c := range map[string]struct {
		play func(t world, clk *unsteady)
		want times
	}{
		"the loop sleeps": {func(t world, clk *unsteady) {
			token := sent(t.Context(), t.T, t, ordersTable())
			clk.Advance(second / 2)
			token = t.grant(token)
			clk.Advance(3 * second) // of one that was asked for
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			clk.Advance(second / 4)
			require.NoError(t, t.RecordSuccess(token, retry.Result{}))
		}, times{[]time.Duration{second / 2, second / 4}, 3 * second, 3*second + 3*second/4}},
		"the loop ends before its sleep does": {func(t world, clk *unsteady) {
			token := sent(t.Context(), t.T, t, ordersTable())
			clk.Advance(3 * second)
			token = t.grant(token)
			clk.Advance(second / 4)
			require.NoError(t, t.RecordFailure(token, context.Canceled))
		}, times{[]time.Duration{3 * second}, second / 4, 3*second + second/4}},
		"an attempt without a wait, or after one that failed": {func(t world, clk *unsteady) {
			token := sent(t.Context(), t.T, t, ordersTable())
			for n := range 2 {
				clk.Advance(second * time.Duration(n+1))
				token = t.grant(token)
			}
			clk.Advance(3 * second)
			require.ErrorIs(t, token.Wait(gone(t.T)), retry.ErrCanceled)
			clk.Advance(4 * second)
			require.NoError(t, t.RecordSuccess(token, retry.Result{}))
		}, times{[]time.Duration{second, 2 * second, 4 * second}, 3 * second, 10 * second}},
		"the clock goes back in an attempt": {func(t world, clk *unsteady) {
			token := sent(t.Context(), t.T, t, ordersTable())
			clk.by -= time.Hour
			require.NoError(t, t.RecordSuccess(token, retry.Result{}))
		}, times{[]time.Duration{0}, 0, 0}},
		"the clock goes back in a backoff": {func(t world, clk *unsteady) {
			token := sent(t.Context(), t.T, t, ordersTable())
			clk.by += second
			token = t.grant(token)
			clk.by -= time.Hour
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			clk.by -= second
			require.NoError(t, t.RecordSuccess(token, retry.Result{}))
		}, times{[]time.Duration{second, 0}, 0, second}},
	} {
		inBoth(t, name, func(c *standard.Config) { c.Clock = &unsteady{Fake: &clock.Fake{}} }, func(t world) {
			c.play(t, t.Clock().(*unsteady))
			ended := t.Of(retry.OperationEnded)[0]
			got := times{backoff: ended.BackoffWait, elapsed: ended.Elapsed}
			for _, e := range t.Of(retry.AttemptEnded) {
				got.attempts = append(got.attempts, e.Elapsed)
			}
			require.Equal(t, c.want, got)
		})
	}
}
