package retry

import (
	"context"
	"log/slog"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
)

// SlogObserver logs what an operator wants to know, and no more:
//
//   - at debug level the first retry of an operation, and nested loops;
//   - at info level a long wait for the send rate;
//   - at warn level a retry or an attempt that the client refuses, and settings without effect. A
//     failure that no classifier asks to retry is not logged.
//
// The zero value writes to [slog.Default]. A SlogObserver is safe for concurrent use if its
// logger is.
type SlogObserver struct {
	// Logger is where to write; nil means [slog.Default].
	Logger *slog.Logger
	// LongWait is the shortest expected wait for the send rate that is logged. Zero means one
	// second; with a negative one every wait is logged.
	LongWait time.Duration
}

var _ Observer = SlogObserver{}

// Observe logs the event if the comment of SlogObserver lists it.
func (o SlogObserver) Observe(ctx context.Context, e Event) {
	switch {
	case e.Kind == RetryScheduled && e.Attempt == 1:
		o.log(ctx, slog.LevelDebug, "retry", e,
			slog.String("kind", e.Verdict.Kind().String()), slog.Duration("delay", e.Delay), slog.Int("quota", e.Quota))
	case e.Kind == SendWaitBegan && e.Delay >= o.longWait():
		o.log(ctx, slog.LevelInfo, "waiting for the send rate", e,
			slog.Duration("delay", e.Delay), slog.Float64("rate", e.Rate), slog.Int("waiting", e.Waiting))
	case e.Kind == LoopNested:
		o.log(ctx, slog.LevelDebug, "loop in a loop", e, slog.Int("max_attempts", e.MaxAttempts))
	case e.Kind == RetryRefused && e.Reason != ErrNotRetryable: //nolint:errorlint // with a rule around it, it is logged
		o.log(ctx, slog.LevelWarn, "retry refused", e,
			slog.String("reason", withoutPackage(e.Reason)), slog.Int("quota", e.Quota))
	case e.Kind == SettingIgnored:
		o.log(ctx, slog.LevelWarn, "setting ignored", e)
	}
}

func (o SlogObserver) longWait() time.Duration {
	if o.LongWait == 0 {
		return time.Second
	}
	return o.LongWait
}

func (o SlogObserver) log(ctx context.Context, level slog.Level, message string, e Event, attrs ...slog.Attr) {
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	if e.Attempt > 0 {
		attrs = append(attrs, slog.Int("attempt", e.Attempt))
	}
	for _, named := range []slog.Attr{
		slog.String("operation", e.Operation.Name), slog.String("scope", e.Scope.String()),
	} {
		if named.Value.String() != "" {
			attrs = append(attrs, named)
		}
	}
	if reasons := e.ThrottledBy(); len(reasons) > 0 {
		attrs = append(attrs, slog.Any("throttled_by", reasons))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", errtree.Text(e.Err)))
	}
	logger.LogAttrs(ctx, level, message, attrs...)
}
