package retry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

func TestSlogObserverWritesWhatAnOperatorMustKnow(t *testing.T) {
	t.Parallel()
	op := retry.Operation{Name: "GetItem", Scope: "orders"}
	verdict := classify.RetryAs(classify.Throttling)
	for _, c := range []struct {
		name  string
		level slog.Level
		event retry.Event
		want  string
	}{
		{
			name:  "first retry",
			event: retry.Event{Kind: retry.RetryScheduled, Operation: op, Scope: op.Key(), Attempt: 1, Verdict: verdict, Delay: time.Second, Quota: 495, Err: errServer},
			want:  "level=INFO msg=retry kind=throttling delay=1s quota=495 attempt=1 operation=GetItem scope=orders error=status\n",
		},
		{
			name:  "second retry",
			event: retry.Event{Kind: retry.RetryScheduled, Attempt: 2, Verdict: verdict, Err: errServer},
			want:  "level=INFO msg=retry kind=throttling delay=0s quota=0 attempt=2 error=status\n",
		},
		{
			name: "retry at another level", level: slog.LevelDebug,
			event: retry.Event{Kind: retry.RetryScheduled, Attempt: 1, Verdict: verdict, Err: errServer},
			want:  "level=DEBUG msg=retry kind=throttling delay=0s quota=0 attempt=1 error=status\n",
		},
		{
			name:  "long wait",
			event: retry.Event{Kind: retry.SendWaitBegan, Attempt: 1, Delay: time.Second, Rate: 0.5, Waiting: 2},
			want:  "level=INFO msg=\"waiting for the send rate\" delay=1s rate=0.5 waiting=2 attempt=1\n",
		},
		{name: "short wait", event: retry.Event{Kind: retry.SendWaitBegan, Attempt: 1, Delay: time.Second - 1}},
		{
			name: "long wait at another level", level: slog.LevelDebug,
			event: retry.Event{Kind: retry.SendWaitBegan, Attempt: 1, Delay: time.Minute},
			want:  "level=DEBUG msg=\"waiting for the send rate\" delay=1m0s rate=0 waiting=0 attempt=1\n",
		},
		{
			name: "refusal where retries have another level", level: slog.LevelError,
			event: retry.Event{Kind: retry.RetryRefused, Attempt: 1, Reason: retry.ErrDeadline, Err: errServer},
			want:  "level=WARN msg=\"retry refused\" reason=\"wait would end after the caller's deadline\" quota=0 attempt=1 error=status\n",
		},
		{
			name:  "refusal",
			event: retry.Event{Kind: retry.RetryRefused, Operation: op, Scope: op.Key(), Attempt: 3, Reason: retry.ErrQuotaExhausted, Quota: 2, Err: errServer},
			want:  "level=WARN msg=\"retry refused\" reason=\"retry quota exhausted\" quota=2 attempt=3 operation=GetItem scope=orders error=status\n",
		},
		{
			name:  "a rule that stops a retry",
			event: retry.Event{Kind: retry.RetryRefused, Attempt: 1, Reason: fmt.Errorf("%w: %w", retry.ErrNotRetryable, errRule), Quota: 500, Err: errServer},
			want:  "level=WARN msg=\"retry refused\" reason=\"failure is not retryable: rule: not sent again\" quota=500 attempt=1 error=status\n",
		},
		{
			name:  "setting ignored",
			event: retry.Event{Kind: retry.SettingIgnored, Err: errors.New("SendLimit is set")},
			want:  "level=WARN msg=\"setting ignored\" error=\"SendLimit is set\"\n",
		},
		{
			name: "throttle that says what it is about",
			event: retry.Event{
				Kind: retry.RetryScheduled, Attempt: 1, Verdict: verdict,
				Err: hotKeyError{[]classify.Reason{{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}}},
			},
			want: "level=INFO msg=retry kind=throttling delay=0s quota=0 attempt=1" +
				" throttled_by=\"[TableReadKeyRangeThroughputExceeded (part)]\" error=\"hot key\"\n",
		},
		{
			name:  "loop in a loop",
			event: retry.Event{Kind: retry.LoopNested, Attempt: 1, MaxAttempts: 9},
			want:  "level=DEBUG msg=\"loop in a loop\" max_attempts=9 attempt=1\n",
		},
		{name: "final failure", event: retry.Event{Kind: retry.RetryRefused, Reason: retry.ErrNotRetryable, Err: errors.New("404")}},
		{name: "success", event: retry.Event{Kind: retry.AttemptEnded, Attempt: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
				Level: slog.LevelDebug,
				ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				},
			}))
			retry.SlogObserver{Logger: logger, RetryLevel: c.level}.Observe(context.Background(), c.event)
			require.Equal(t, c.want, out.String())
		})
	}
}
