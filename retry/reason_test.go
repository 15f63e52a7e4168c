package retry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// hotKeyError is a throttle of one key.
type hotKeyError struct{ reasons []classify.Reason }

func (hotKeyError) Error() string                    { return "hot key" }
func (hotKeyError) ErrorCode() string                { return "ThrottlingException" }
func (e hotKeyError) ThrottledBy() []classify.Reason { return e.reasons }
func keyRange() (reasons []classify.Reason, throttle error) {
	reasons = []classify.Reason{{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}}
	return reasons, hotKeyError{reasons}
}

func TestReasonsOfAThrottleAreInEventsAndInTheError(t *testing.T) {
	t.Parallel()
	reasons, throttle := keyRange()
	r := &recorder{}
	clk := &clock.Fake{}
	s, err := standard.New(standard.Config{Clock: clk, MaxAttempts: 2, Observer: r})
	require.NoError(t, err)
	clk.Run(func() {
		err = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error {
			return fmt.Errorf("operation: %w", throttle)
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

func TestErrorsWithoutReasonsHaveNone(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("plain"), hotKeyError{}, circle{}, &retry.Error{}, &retry.Error{Last: hotKeyError{}}} {
		require.Empty(t, retry.Event{Err: err}.ThrottledBy(), "%v", err)
		require.Empty(t, (&retry.Error{Last: err}).ThrottledBy(), "%v", err)
	}
}

func TestLogSaysWhatAThrottleWasAbout(t *testing.T) {
	t.Parallel()
	_, throttle := keyRange()
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	retry.SlogObserver{Logger: logger}.Observe(t.Context(), retry.Event{
		Kind: retry.RetryScheduled, Attempt: 1, Err: throttle, Verdict: classify.RetryAs(classify.Throttling),
	})
	require.Contains(t, out.String(), `throttled_by="[TableReadKeyRangeThroughputExceeded (part)]"`)
}
