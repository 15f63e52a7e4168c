package retry

import (
	"context"
	"log/slog"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
)

// DefaultLongWait is how long a wait for the send rate has to be for a
// SlogObserver to mention it.
const DefaultLongWait = time.Second

// SlogObserver writes to a log what an operator wants to know, and no more: the
// first retry of an operation at debug level, a long wait for the send rate at info
// level, and a retry or an attempt that the client refuses at warn level. A failure
// that nobody wants retried is the caller's to log. The zero value writes to
// slog.Default. It is safe for concurrent use if the logger is.
type SlogObserver struct {
	// Logger is where to write; nil means slog.Default.
	Logger *slog.Logger
	// LongWait is the shortest expected wait to mention; zero means DefaultLongWait,
	// and a negative one every wait.
	LongWait time.Duration
}

var _ Observer = SlogObserver{}

// Observe writes the event, or not.
func (o SlogObserver) Observe(ctx context.Context, e Event) {
	switch {
	case e.Kind == RetryScheduled && e.Attempt == 1:
		o.log(ctx, slog.LevelDebug, "retry", e,
			slog.String("kind", e.Verdict.Kind().String()), slog.Duration("delay", e.Delay), slog.Int("quota", e.Quota))
	case e.Kind == SendWaitBegan && e.Delay >= o.longWait():
		o.log(ctx, slog.LevelInfo, "waiting for the send rate", e,
			slog.Duration("delay", e.Delay), slog.Float64("rate", e.Rate), slog.Int("waiting", e.Waiting))
	case e.Kind == RetryRefused && !errtree.Is(e.Reason, ErrNotRetryable):
		o.log(ctx, slog.LevelWarn, "retry refused", e,
			slog.String("reason", e.Reason.Error()), slog.Int("quota", e.Quota))
	}
}

func (o SlogObserver) longWait() time.Duration {
	if o.LongWait == 0 {
		return DefaultLongWait
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
	attrs = append(attrs, slog.Int("attempt", e.Attempt))
	for _, named := range []slog.Attr{
		slog.String("operation", e.Operation.Name), slog.String("scope", e.Scope.String()),
	} {
		if named.Value.String() != "" {
			attrs = append(attrs, named)
		}
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", e.Err.Error()))
	}
	logger.LogAttrs(ctx, level, message, attrs...)
}
