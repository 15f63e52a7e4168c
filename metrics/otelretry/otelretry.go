package otelretry

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/metrics"
	"github.com/awsretry/awsretry/retry"
)

// meterName is the instrumentation scope of all metrics. It has the version of this module and the schema URL of the
// semantic conventions from which the attributes come that they have in common.
const meterName = "github.com/awsretry/awsretry/metrics/otelretry"

// Config says what a [Telemetry] records. The zero value is ready to use.
type Config struct {
	// MeterProvider makes the instruments. Nil means that of [otel.GetMeterProvider], which the program
	// may set later.
	MeterProvider metric.MeterProvider
	// Scopes is how many of the hottest scopes have gauges of their own. Zero means 20; with a negative
	// number the gauges show the sum of all scopes. A scope with gauges gives way only to one
	// that is clearly hotter.
	Scopes int
	// ScopeName returns the awsretry.scope of a scope. Scopes with the same name count as one; those
	// with an empty name are in "other". Nil means the text of the key, and "(all)" for the scope of a
	// strategy as a whole. ScopeName is called for each scope at each collection. It must be safe for
	// concurrent use. It must not panic or call Close, which waits for the collection to end.
	ScopeName func(retry.ScopeKey) string
	// MergedMethod makes rpc.method "service/method" and leaves rpc.service out, as newer semantic
	// conventions require. By default both are as in the metrics of the AWS SDKs.
	MergedMethod bool
	// SDKServices spells the service as the AWS SDKs do in their own metrics, so that queries can join
	// both: "DynamoDB" instead of "dynamodb". A name that is not an AWS service id stays as it is.
	SDKServices bool
}

// Telemetry is a [retry.Observer] that records metrics and adds events to spans. Any number of
// strategies may share it. It is safe for concurrent use. The zero value is not usable; call [New].
type Telemetry struct {
	instruments
	*operations

	config       Config
	hottest      *metrics.Scopes
	version      string
	registration metric.Registration

	mu      sync.Mutex
	watched []retry.Strategy // guarded by mu; only ever appended to
}

var _ retry.Observer = (*Telemetry)(nil)

// New returns a Telemetry, or an error if the MeterProvider cannot make an instrument.
func New(c Config) (*Telemetry, error) {
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	c.Scopes = cmp.Or(c.Scopes, 20)
	meter := c.MeterProvider.Meter(meterName,
		metric.WithInstrumentationVersion(metrics.Version()), metric.WithSchemaURL(semconv.SchemaURL))
	made, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("otelretry: making the instruments: %w", err)
	}
	t := &Telemetry{instruments: made, operations: newOperations(c.MergedMethod, c.SDKServices), config: c, hottest: &metrics.Scopes{Limit: c.Scopes, Name: c.ScopeName}, version: metrics.Version()}
	if t.registration, err = meter.RegisterCallback(t.collect, made.observables()...); err != nil {
		return nil, fmt.Errorf("otelretry: registering the gauges: %w", err)
	}
	return t, nil
}

// Watch adds strategies whose snapshots fill the gauges and the counters of scopes. Watching a strategy
// again changes nothing. If [retry.CheckStrategy] rejects one, Watch returns its error and adds none of
// them. A Telemetry keeps watched strategies alive.
func (t *Telemetry) Watch(strategies ...retry.Strategy) error {
	for _, s := range strategies {
		if err := retry.CheckStrategy(s); err != nil {
			return fmt.Errorf("otelretry: watching a strategy: %w", err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range strategies {
		if !slices.ContainsFunc(t.watched, func(w retry.Strategy) bool { return same(w, s) }) {
			t.watched = append(t.watched, s)
		}
	}
	return nil
}

// same reports whether both are one strategy. Those of a type that == cannot compare never are.
func same(a, b retry.Strategy) bool { return reflect.ValueOf(a).Comparable() && a == b }

// Close ends the gauges and the counters of scopes, so that the MeterProvider no longer keeps the
// strategies alive. Observe still records. A second Close does nothing.
func (t *Telemetry) Close() error {
	if err := t.registration.Unregister(); err != nil {
		return fmt.Errorf("otelretry: ending the gauges: %w", err)
	}
	return nil
}

// Observe records the event. Strategies call it.
func (t *Telemetry) Observe(ctx context.Context, e retry.Event) {
	switch e.Kind {
	case retry.AttemptEnded:
		t.attemptEnded(ctx, &e)
	case retry.OperationEnded:
		t.operationEnded(ctx, &e)
	case retry.RetryScheduled:
		addEvent(ctx, &e, "awsretry.retry", delayKey.Float64(seconds(e.Delay)),
			kindKey.String(e.Verdict.Kind().String()), quotaKey.Int(e.Quota), lentKey.Bool(e.Lent))
	case retry.RetryRefused:
		reason := reasonKey.String(e.Outcome())
		t.refused.Add(ctx, 1, t.labelsOf(&e.Operation).with(reason).add...)
		if reason.Value.AsString() != "not_retryable" {
			addEvent(ctx, &e, "awsretry.refused", reason)
		}
	case retry.SendWaitEnded:
		t.sendWait.Record(ctx, seconds(e.Delay), t.labelsOf(&e.Operation).bare.record...)
		addEvent(ctx, &e, "awsretry.send_wait", delayKey.Float64(seconds(e.Delay)))
	default: // the other kinds have no metric
	}
}

func (t *Telemetry) attemptEnded(ctx context.Context, e *retry.Event) {
	labels := t.labelsOf(&e.Operation)
	counted, timed := labels.ok, labels.ok
	if e.Err != nil {
		kind := e.Verdict.Kind().String()
		timed = labels.with(kindKey.String(kind))
		counted = labels.with(kindKey.String(kind), semconv.ErrorTypeKey.String(t.errorType(e, kind)))
	}
	if e.Verdict.Kind() == classify.Throttling && e.Err != nil {
		limit := named(limitKey, t.word(e.LimitName()))
		t.throttles.Add(ctx, 1, labels.with(append(limit, reachKey.String(reachOf(e.Verdict)))...).add...)
	}
	if e.EntriesThrottled > 0 {
		t.entries.Add(ctx, int64(e.EntriesThrottled), labels.bare.add...)
	}
	t.attempts.Add(ctx, 1, counted.add...)
	t.attemptDuration.Record(ctx, seconds(e.Elapsed), timed.record...)
}

func (t *Telemetry) operationEnded(ctx context.Context, e *retry.Event) {
	labels := t.labelsOf(&e.Operation)
	call := labels.success
	if e.Reason != nil {
		call = labels.with(outcomeKey.String(e.Outcome()))
	}
	t.callDuration.Record(ctx, seconds(e.Elapsed), call.record...)
	if e.Attempt > 1 {
		t.callRetries.Record(ctx, int64(e.Attempt-1), labels.bare.record...)
	}
	if waited := e.BackoffWait + e.QuotaWait; e.Attempt > 1 || waited > 0 {
		t.retryDelay.Record(ctx, seconds(waited), labels.bare.record...)
	}
}

// addEvent adds an event to the span of the operation. Its time is that of the span's own clock: the
// clock of a strategy may be another one, a fake one in tests, and an event outside the time of its
// span would mislead.
func addEvent(ctx context.Context, e *retry.Event, name string, attributes ...attribute.KeyValue) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attributes = append(attributes, attemptKey.Int(e.Attempt))
	if failure := e.ErrorType(); failure != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(failure))
	}
	span.AddEvent(name, trace.WithAttributes(attributes...))
}

// seconds returns d in seconds, and zero for a negative d, of which a histogram could make nothing.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
