package sdktest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"
)

// meters records what clients measure.
type meters struct {
	mu       sync.Mutex // guards measured
	measured map[string][]float64
}

var _ metrics.MeterProvider = (*meters)(nil)

func (m *meters) Meter(string, ...metrics.MeterOption) metrics.Meter { return recordingMeter{of: m} }

// of returns the values of an instrument for a service, as the SDK spells it.
func (m *meters) of(instrument, service string) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.measured[instrument+" "+service])
}

// size returns how many instruments were used.
func (m *meters) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.measured)
}

func (m *meters) record(instrument string, value float64, opts []metrics.RecordMetricOption) {
	var o metrics.RecordMetricOptions
	for _, opt := range opts {
		opt(&o)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.measured == nil {
		m.measured = map[string][]float64{}
	}
	key := fmt.Sprint(instrument, " ", o.Properties.Get("rpc.service"))
	m.measured[key] = append(m.measured[key], value)
}

// recordingMeter records counters and histograms.
type recordingMeter struct {
	metrics.NopMeter
	of *meters
}

func (m recordingMeter) Int64Counter(name string, _ ...metrics.InstrumentOption) (metrics.Int64Counter, error) {
	return counter{m.of, name}, nil
}

func (m recordingMeter) Float64Histogram(name string, _ ...metrics.InstrumentOption) (metrics.Float64Histogram, error) {
	return histogram{m.of, name}, nil
}

type counter struct {
	of   *meters
	name string
}

func (c counter) Add(_ context.Context, value int64, opts ...metrics.RecordMetricOption) {
	c.of.record(c.name, float64(value), opts)
}

type histogram struct {
	of   *meters
	name string
}

func (h histogram) Record(_ context.Context, value float64, opts ...metrics.RecordMetricOption) {
	h.of.record(h.name, value, opts)
}

// tracers records spans. As with OpenTelemetry, the span of a context is a value of it, and that of
// a caller is around the spans of the SDK.
type tracers struct {
	mu    sync.Mutex // guards spans, and the ends of all
	spans []*span
}

var _ tracing.TracerProvider = (*tracers)(nil)

func (t *tracers) Tracer(string, ...tracing.TracerOption) tracing.Tracer { return t }

func (t *tracers) StartSpan(ctx context.Context, name string, _ ...tracing.SpanOption) (context.Context, tracing.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &span{of: t, name: name, parent: spanFrom(ctx)}
	t.spans = append(t.spans, s)
	return tracing.WithSpan(withSpan(ctx, s), s), s
}

// paths returns the names of all spans, with those of the spans around them.
func (t *tracers) paths() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var paths []string
	for _, s := range t.spans {
		paths = append(paths, s.path())
	}
	return paths
}

type span struct {
	of     *tracers
	name   string
	parent *span
	ended  bool
}

type spanKey struct{}

func withSpan(ctx context.Context, s *span) context.Context {
	return context.WithValue(ctx, spanKey{}, s)
}

func spanFrom(ctx context.Context) *span {
	s, _ := ctx.Value(spanKey{}).(*span)
	return s
}

func (s *span) path() string {
	if s.parent == nil {
		return s.name
	}
	return s.parent.path() + "/" + s.name
}

func (s *span) Name() string { return s.name }

func (*span) Context() tracing.SpanContext { return tracing.SpanContext{} }

func (*span) AddEvent(string, ...tracing.EventOption) {}

func (*span) SetStatus(tracing.SpanStatus) {}

func (*span) SetProperty(any, any) {}

func (s *span) End() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.ended = true
}

// open reports whether the span can have further events.
func (s *span) open() bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return !s.ended
}
