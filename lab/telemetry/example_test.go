package telemetry_test

import (
	"context"
	"fmt"
	"log"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/metrics/promretry"
)

// All clients of the config have one strategy, so one call of Watch is enough.
func Example() {
	ctx := context.Background()
	metrics := promretry.New(promretry.Config{})
	cfg, err := awssdk.LoadDefaultConfig(ctx, awssdk.WithSettings(awsretry.WithObserver(metrics)))
	if err != nil {
		log.Fatal(err)
	}
	if strategy, ok := awssdk.StrategyOf(cfg); ok {
		err = metrics.Watch(strategy)
	}
	fmt.Println(err, prometheus.Register(metrics))
}

// The last of ten common programs: metrics of the calls of an SDK client, with the global
// MeterProvider.
func Example_metrics() {
	ctx := context.Background()

	telemetry, err := otelretry.New(otelretry.Config{})
	if err != nil {
		log.Fatal(err)
	}
	cfg, err := awssdk.LoadDefaultConfig(ctx, awssdk.WithSettings(awsretry.WithObserver(telemetry)))
	if err != nil {
		log.Fatal(err)
	}
	strategy, _ := awssdk.StrategyOf(cfg)
	if err := telemetry.Watch(strategy); err != nil {
		log.Fatal(err)
	}

	fmt.Println(strategy.Snapshot().Mode)
	// Output: standard
}

// All clients of a config have the metrics and traces of the SDK.
func Example_providers() {
	cfg, err := awssdk.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	provide := provideAll(meters{otel.GetMeterProvider()}, tracers{otel.GetTracerProvider()})
	cfg.ServiceOptions = append(cfg.ServiceOptions, provide)

	_, ok := sts.NewFromConfig(cfg).Options().MeterProvider.(meters)
	fmt.Println(ok)
	// Output: true
}

func provideAll(meters metrics.MeterProvider, tracers tracing.TracerProvider) func(string, any) {
	return func(_ string, options any) {
		client := reflect.ValueOf(options).Elem() // such as dynamodb.Options
		if field := client.FieldByName("MeterProvider"); field.IsValid() {
			field.Set(reflect.ValueOf(meters))
		}
		if field := client.FieldByName("TracerProvider"); field.IsValid() {
			field.Set(reflect.ValueOf(tracers))
		}
	}
}

// meters is a provider for clients of the SDK that records with OpenTelemetry.
type meters struct{ metric.MeterProvider }

func (m meters) Meter(scope string, _ ...metrics.MeterOption) metrics.Meter {
	return meter{otel: m.MeterProvider.Meter(scope)}
}

type meter struct {
	metrics.NopMeter // has the instruments that clients do not use
	otel             metric.Meter
}

func (m meter) Int64Counter(name string, options ...metrics.InstrumentOption) (metrics.Int64Counter, error) {
	unit, description := described(options)
	c, err := m.otel.Int64Counter(name, unit, description)
	return counter{c}, err
}

func (m meter) Int64UpDownCounter(name string, options ...metrics.InstrumentOption) (metrics.Int64UpDownCounter, error) {
	unit, description := described(options)
	c, err := m.otel.Int64UpDownCounter(name, unit, description)
	return counter{c}, err
}

func (m meter) Float64Histogram(name string, options ...metrics.InstrumentOption) (metrics.Float64Histogram, error) {
	unit, description := described(options)
	h, err := m.otel.Float64Histogram(name, unit, description)
	return histogram{h}, err
}

func described(options []metrics.InstrumentOption) (unit, description metric.InstrumentOption) {
	var o metrics.InstrumentOptions
	for _, option := range options {
		option(&o)
	}
	return metric.WithUnit(o.UnitLabel), metric.WithDescription(o.Description)
}

type counter struct {
	otel interface {
		Add(ctx context.Context, n int64, options ...metric.AddOption)
	}
}

func (c counter) Add(ctx context.Context, n int64, options ...metrics.RecordMetricOption) {
	c.otel.Add(ctx, n, metric.WithAttributes(recorded(options)...))
}

type histogram struct{ otel metric.Float64Histogram }

func (h histogram) Record(ctx context.Context, value float64, options ...metrics.RecordMetricOption) {
	h.otel.Record(ctx, value, metric.WithAttributes(recorded(options)...))
}

func recorded(options []metrics.RecordMetricOption) []attribute.KeyValue {
	var o metrics.RecordMetricOptions
	for _, option := range options {
		option(&o)
	}
	return attributes(o.Properties)
}

func attributes(properties smithy.Properties) (all []attribute.KeyValue) {
	for key, value := range properties.Values() {
		all = append(all, attributeOf(key, value))
	}
	return all
}

func attributeOf(key, value any) attribute.KeyValue {
	if n, ok := value.(int); ok {
		return attribute.Int(fmt.Sprint(key), n)
	}
	return attribute.String(fmt.Sprint(key), fmt.Sprint(value))
}

// tracers is a provider for clients of the SDK that makes spans of OpenTelemetry.
type tracers struct{ trace.TracerProvider }

func (t tracers) Tracer(scope string, _ ...tracing.TracerOption) tracing.Tracer {
	return tracer{t.TracerProvider.Tracer(scope)}
}

type tracer struct{ otel trace.Tracer }

func (t tracer) StartSpan(ctx context.Context, name string, options ...tracing.SpanOption) (context.Context, tracing.Span) {
	var o tracing.SpanOptions
	for _, option := range options {
		option(&o)
	}
	kind := trace.SpanKindInternal
	if o.Kind == tracing.SpanKindClient {
		kind = trace.SpanKindClient // the spans of clients are of these two kinds
	}
	ctx, otel := t.otel.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes(o.Properties)...))
	s := span{otel, name}
	return tracing.WithSpan(ctx, s), s
}

type span struct {
	otel trace.Span
	name string
}

func (s span) Name() string { return s.name }

func (s span) Context() tracing.SpanContext {
	c := s.otel.SpanContext()
	return tracing.SpanContext{TraceID: c.TraceID().String(), SpanID: c.SpanID().String(), IsRemote: c.IsRemote()}
}

func (s span) AddEvent(name string, options ...tracing.EventOption) {
	var o tracing.EventOptions
	for _, option := range options {
		option(&o)
	}
	s.otel.AddEvent(name, trace.WithAttributes(attributes(o.Properties)...))
}

func (s span) SetStatus(status tracing.SpanStatus) {
	s.otel.SetStatus(map[tracing.SpanStatus]codes.Code{tracing.SpanStatusOK: codes.Ok, tracing.SpanStatusError: codes.Error}[status], "")
}

func (s span) SetProperty(key, value any) {
	s.otel.SetAttributes(attributeOf(key, value))
}

func (s span) End() { s.otel.End() }
