package retry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
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
	refused, again := retry.RetryRefused, retry.Event{Kind: retry.RetryScheduled, Attempt: 1, Verdict: verdict, Err: errServer}
	full, hot, lent := again, again, again
	lent.Lent = true
	full.Operation, full.Scope, full.Delay, full.Quota = op, op.Key(), time.Second, 495
	hot.Err = hotKeyError{[]classify.Reason{{Reach: classify.ReachPart, Word: "HotKey"}}}
	wait := retry.Event{Kind: retry.SendWaitBegan, Attempt: 1, Delay: time.Second, Rate: 0.5, Waiting: 2}
	short := wait
	short.Delay--
	quota := retry.Event{Kind: refused, Attempt: 3, Reason: retry.ErrQuotaExhausted, Quota: 2, Err: errServer}
	ruled := retry.Event{Kind: refused, Attempt: 1, Quota: 500, Err: errServer}
	ruled.Reason = fmt.Errorf("%w: %w", retry.ErrNotRetryable, errRule)
	for _, c := range []struct {
		level slog.Level
		event retry.Event
		want  string
	}{
		{0, full, "INFO msg=retry kind=throttling delay=1s quota=495 attempt=1 operation=GetItem scope=orders error=status"},
		{0, lent, "INFO msg=retry kind=throttling delay=0s quota=0 lent=true attempt=1 error=status"},
		{slog.LevelDebug, again, "DEBUG msg=retry kind=throttling delay=0s quota=0 attempt=1 error=status"},
		{0, hot, "INFO msg=retry kind=throttling delay=0s quota=0 attempt=1 throttled_by=\"[HotKey (part)]\" error=\"hot key\""},
		{0, wait, "INFO msg=\"waiting for the send rate\" delay=1s rate=0.5 waiting=2 attempt=1"},
		{slog.LevelDebug, wait, "DEBUG msg=\"waiting for the send rate\" delay=1s rate=0.5 waiting=2 attempt=1"},
		{0, short, ""},
		{slog.LevelError, quota, `WARN msg="retry refused" reason="retry quota exhausted" quota=2 attempt=3 error=status`},
		{0, ruled, `WARN msg="retry refused" reason="failure is not retryable: rule: not sent again" quota=500 attempt=1 error=status`},
		{0, retry.Event{Kind: refused, Reason: retry.ErrNotRetryable, Err: errClient}, ""},
		{0, retry.Event{Kind: refused, Reason: retry.ErrNotRetryable, Err: fmt.Errorf("save: %w", newKindError{})}, `INFO msg="errors of this type are not retried: ` +
			`no classifier knows them; retry.Mark or a classifier can tell which may be" type=retry_test.newKindError error="save: new"`},
		{0, retry.Event{Kind: refused, Reason: retry.ErrNotRetryable, Err: newKindError{}}, ""}, // once
		{0, retry.Event{Kind: retry.SettingIgnored, Err: errBoom}, "WARN msg=\"setting ignored\" error=boom"},
		{0, retry.Event{Kind: retry.LoopNested, Attempt: 1, MaxAttempts: 9}, "DEBUG msg=\"loop in a loop\" max_attempts=9 attempt=1"},
		{0, retry.Event{Kind: retry.AttemptEnded, Attempt: 1}, ""},
	} {
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
		retry.SlogObserver{Logger: logger, RetryLevel: c.level}.Observe(t.Context(), c.event)
		require.Equal(t, c.want, strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), "level="))
	}
}

type newKindError struct{}

func (newKindError) Error() string { return "new" }
