package retry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// longWait is the shortest expected wait for the send rate that is logged.
const longWait = time.Second

// SlogObserver writes a line to a log for what an operator wants to know:
//
//   - at info level, or RetryLevel, each retry, and each wait for the send rate that is expected to take a
//     second or more;
//   - at warn level each retry or attempt that the client refuses, and settings without effect. A failure
//     that no classifier asks to retry is not logged, but
//   - at info level, once for each type of error, that nothing is known of it, see [classify.Unknown];
//   - at debug level a loop in a loop.
//
// The zero value writes to [slog.Default]. A SlogObserver is safe for concurrent use if its logger is.
type SlogObserver struct {
	// Logger is where to write; nil means [slog.Default].
	Logger *slog.Logger
	// RetryLevel is the level of retries and waits. The zero value is info; with [slog.LevelDebug] a
	// program that logs from info on sees refusals only.
	RetryLevel slog.Level
}

var _ Observer = SlogObserver{}

// Observe logs the event if the comment of SlogObserver lists it.
func (o SlogObserver) Observe(ctx context.Context, e Event) {
	switch {
	case e.Kind == RetryScheduled:
		attrs := []slog.Attr{slog.String("kind", e.Verdict.Kind().String()), slog.Duration("delay", e.Delay), slog.Int("quota", e.Quota)}
		if e.Lent {
			attrs = append(attrs, slog.Bool("lent", true))
		}
		o.log(ctx, o.RetryLevel, "retry", e, attrs...)
	case e.Kind == SendWaitBegan && e.Delay >= longWait:
		o.log(ctx, o.RetryLevel, "waiting for the send rate", e,
			slog.Duration("delay", e.Delay), slog.Float64("rate", e.Rate), slog.Int("waiting", e.Waiting))
	case e.Kind == LoopNested:
		o.log(ctx, slog.LevelDebug, "loop in a loop", e, slog.Int("max_attempts", e.MaxAttempts))
	case e.Kind == RetryRefused && e.Reason != ErrNotRetryable: //nolint:errorlint // with a rule around it, it is logged
		o.log(ctx, slog.LevelWarn, "retry refused", e,
			slog.String("reason", withoutPackage(e.Reason)), slog.Int("quota", e.Quota))
	case e.Kind == RetryRefused && classify.Unknown(e.Err):
		if kind := typeOf(e.Err); firstOf(kind) {
			o.log(ctx, slog.LevelInfo, "errors of this type are not retried: no classifier knows them; retry.Mark or a classifier can tell which may be", e,
				slog.String("type", kind))
		}
	case e.Kind == SettingIgnored:
		o.log(ctx, slog.LevelWarn, "setting ignored", e)
	}
}

// told are the types of errors of which a log has said that nothing knows them.
//
//nolint:gochecknoglobals // An observer has no state, and a process has few types.
var told sync.Map

// firstOf reports whether it was not asked about the type before.
func firstOf(kind string) bool {
	_, again := told.LoadOrStore(kind, true)
	return !again
}

// typeOf returns the type of the innermost error.
func typeOf(err error) (kind string) {
	wire.Find(err, func(e error) bool { kind = fmt.Sprintf("%T", e); return false })
	return kind
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
		attrs = append(attrs, slog.String("error", wire.Text(e.Err)))
	}
	logger.LogAttrs(ctx, level, message, attrs...)
}
