package otelretry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// serviceError is an error as that of a service of AWS.
type serviceError string

func (e serviceError) Error() string { return "the service said " + string(e) }

func (e serviceError) ErrorCode() string { return string(e) }

var getItem = retry.Operation{Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders"}

func newTracing() (*tracetest.SpanRecorder, *trace.TracerProvider) {
	recorder := tracetest.NewSpanRecorder()
	return recorder, trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
}

func newTelemetry(tb testing.TB, c otelretry.Config) *otelretry.Telemetry {
	tb.Helper()
	telemetry, err := otelretry.New(c)
	require.NoError(tb, err)
	return telemetry
}

// showing is a strategy with a snapshot of its own. It is not comparable.
type showing struct {
	retry.Strategy
	snapshot retry.Snapshot
}

func (s showing) Snapshot() retry.Snapshot { return s.snapshot }

func newStrategy(t *testing.T) retry.Strategy {
	t.Helper()
	strategy, err := standard.New(standard.Config{})
	require.NoError(t, err)
	return strategy
}

// show returns a strategy with a scope for each of the tables. The first one is the hottest, and the
// last one has used one token.
func show(t *testing.T, tables ...string) showing {
	t.Helper()
	s := showing{Strategy: newStrategy(t)}
	for i, table := range tables {
		key := retry.ScopeKey{Service: "dynamodb", Region: "eu-central-1", Resource: table}
		s.snapshot.Scopes = append(s.snapshot.Scopes, retry.ScopeSnapshot{
			Key: key, Scope: key.String(), Quota: 500 - len(tables) + i, QuotaCapacity: 500,
		})
	}
	return s
}

// newReader returns a reader, and a Config for the meter provider that it reads.
func newReader() (*sdk.ManualReader, otelretry.Config) {
	reader := sdk.NewManualReader()
	return reader, otelretry.Config{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))}
}

// collect returns the metrics by name.
func collect(t *testing.T, reader sdk.Reader) map[string]metricdata.Metrics {
	t.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &collected))
	metrics := map[string]metricdata.Metrics{}
	for _, scope := range collected.ScopeMetrics {
		require.Equal(t, instrumentation.Scope{
			Name: "github.com/awsretry/awsretry/metrics/otelretry", Version: "(devel)", SchemaURL: "https://opentelemetry.io/schemas/1.43.0",
		}, scope.Scope)
		for _, m := range scope.Metrics {
			require.NotContains(t, metrics, m.Name)
			metrics[m.Name] = m
		}
	}
	return metrics
}

// figures returns the figures of a metric, sorted, in the form of {attributes} figure.
func figures(t *testing.T, metrics map[string]metricdata.Metrics, name string) []string {
	t.Helper()
	_, points := describe(t, metrics[name].Data)
	return points
}

// describe returns what a metric is, and its figures.
func describe(t *testing.T, data metricdata.Aggregation) (kind string, points []string) {
	t.Helper()
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		require.True(t, data.IsMonotonic)
		kind, points = "counter", numbers(data.DataPoints)
	case metricdata.Gauge[int64]:
		kind, points = "gauge", numbers(data.DataPoints)
	case metricdata.Gauge[float64]:
		kind, points = "gauge", numbers(data.DataPoints)
	case metricdata.Histogram[int64]:
		kind, points = histogram(data.DataPoints)
	case metricdata.Histogram[float64]:
		kind, points = histogram(data.DataPoints)
	case nil:
	default:
		require.Fail(t, "another sort of metric", "%T", data)
	}
	slices.Sort(points)
	return kind, points
}

func numbers[N int64 | float64](data []metricdata.DataPoint[N]) (points []string) {
	for _, p := range data {
		points = append(points, fmt.Sprintf("%s %.6g", attributes(p.Attributes), float64(p.Value)))
	}
	return points
}

// histogram shows a bucket as the number of its measurements and its upper bound.
func histogram[N int64 | float64](data []metricdata.HistogramDataPoint[N]) (kind string, points []string) {
	for _, p := range data {
		kind = fmt.Sprintf("histogram %v", p.Bounds)
		line := []string{fmt.Sprintf("%s count %d sum %.6g:", attributes(p.Attributes), p.Count, float64(p.Sum))}
		for i, n := range p.BucketCounts {
			switch {
			case n > 0 && i < len(p.Bounds):
				line = append(line, fmt.Sprintf("%d to %v", n, p.Bounds[i]))
			case n > 0:
				line = append(line, fmt.Sprintf("%d above", n))
			}
		}
		points = append(points, strings.Join(line, " "))
	}
	return kind, points
}

func attributes(set attribute.Set) string {
	var parts []string
	for _, a := range set.ToSlice() {
		parts = append(parts, fmt.Sprintf("%s=%s", a.Key, a.Value.AsString()))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// sum adds up what a metric has counted.
func sum(t *testing.T, data metricdata.Aggregation) (total int) {
	t.Helper()
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			total += int(p.Value)
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			total += int(p.Sum)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			total += int(p.Count)
		}
	default:
		require.Fail(t, "another sort of metric", "%T", data)
	}
	return total
}

func TestASpanGetsEvents(t *testing.T) {
	t.Parallel()
	throttled := errors.Join(serviceError("Throttled"))
	for name, c := range map[string]struct {
		event retry.Event
		want  []string
	}{
		"retry": {
			retry.Event{
				Kind: retry.RetryScheduled, Attempt: 2, Delay: 1500 * time.Millisecond, Quota: 495,
				Err: throttled, Verdict: classify.RetryAs(classify.Throttling),
			},
			[]string{"awsretry.retry", "awsretry.delay=1.5", "awsretry.kind=throttling", "awsretry.quota=495", "awsretry.lent=false", "awsretry.attempt=2", "error.type=Throttled"},
		},
		"send wait": {
			retry.Event{Kind: retry.SendWaitEnded, Attempt: 1, Delay: 250 * time.Millisecond},
			[]string{"awsretry.send_wait", "awsretry.delay=0.25", "awsretry.attempt=1"},
		},
		"refusal": {
			retry.Event{Kind: retry.RetryRefused, Attempt: 3, Reason: retry.ErrQuotaExhausted, Err: throttled},
			[]string{"awsretry.refused", "awsretry.reason=quota", "awsretry.attempt=3", "error.type=Throttled"},
		},
		"refusal before the first attempt": {
			retry.Event{Kind: retry.RetryRefused, Attempt: 1, Reason: retry.ErrDeadline},
			[]string{"awsretry.refused", "awsretry.reason=deadline", "awsretry.attempt=1"},
		},
		"rule": {
			retry.Event{Kind: retry.RetryRefused, Attempt: 1, Reason: fmt.Errorf("%w: a rule", retry.ErrNotRetryable), Err: throttled},
			[]string{"awsretry.refused", "awsretry.reason=rule", "awsretry.attempt=1", "error.type=Throttled"},
		},
		"failure that is not retryable": {
			retry.Event{Kind: retry.RetryRefused, Attempt: 1, Reason: retry.ErrNotRetryable, Err: throttled}, nil,
		},
		"attempt": {retry.Event{Kind: retry.AttemptEnded, Err: throttled}, nil},
		"end":     {retry.Event{Kind: retry.OperationEnded, Reason: retry.ErrQuotaExhausted, Err: throttled}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder, provider := newTracing()
			_, config := newReader()
			telemetry := newTelemetry(t, config)
			ctx, span := provider.Tracer("").Start(t.Context(), "call")
			c.event.Time = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
			telemetry.Observe(ctx, c.event)
			span.End()
			telemetry.Observe(ctx, c.event) // no longer recording
			ended := recorder.Ended()
			require.Len(t, ended, 1, "no spans of its own")
			var got []string
			for _, event := range ended[0].Events() {
				got = append(append(got, event.Name), texts(event.Attributes)...)
				require.False(t, event.Time.Before(ended[0].StartTime()), "the clock of the span")
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestFiguresAddUpConcurrentSafe(t *testing.T) {
	t.Parallel()
	const loops, calls = 8, 200
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	strategy, err := standard.New(standard.Config{
		Observer: telemetry, Random: func() float64 { return 0 }, QuotaCapacity: new(1_000_000),
	})
	require.NoError(t, err)

	var running sync.WaitGroup
	for i := range loops {
		running.Go(func() {
			if err := telemetry.Watch(strategy); err != nil {
				t.Error(err)
			}
			for n := range calls {
				if n%50 == 0 {
					_ = reader.Collect(context.Background(), &metricdata.ResourceMetrics{})
				}
				op := retry.Operation{Service: "dynamodb", Name: string(rune('A' + n%26)), Resource: string(rune('a' + i))}
				failures := n % 3 // of the last call all attempts fail
				err := retry.DoErr(t.Context(), strategy, op, func(context.Context) error {
					if failures--; failures >= 0 || n == calls-1 {
						return serviceError("ThrottlingException")
					}
					return nil
				})
				if (err != nil) != (n == calls-1) {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()

	attempts, retries := 0, 0
	for n := range calls {
		made := n%3 + 1
		if n == calls-1 {
			made = 4 // of DynamoDB
		}
		attempts, retries = attempts+made, retries+made-1
	}
	metrics := collect(t, reader)
	require.Equal(t, loops*attempts, sum(t, metrics["awsretry.attempts"].Data))
	require.Equal(t, loops*attempts, sum(t, metrics["awsretry.attempt.duration"].Data))
	require.Equal(t, loops*retries, sum(t, metrics["awsretry.call.retries"].Data))
	require.Equal(t, loops*calls, sum(t, metrics["awsretry.call.duration"].Data))
	require.Equal(t, loops, sum(t, metrics["awsretry.retries.refused"].Data))
	require.Equal(t, []string{"{} 9"}, figures(t, metrics, "awsretry.scopes"))
}

func TestWatchRefusesWhatIsNoStrategyAndWatchesEachOnce(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for _, bad := range []retry.Strategy{nil, (*showing)(nil), showing{}} {
		err := telemetry.Watch(newStrategy(t), bad)
		require.ErrorIs(t, err, retry.ErrNoStrategy)
		require.ErrorContains(t, err, "otelretry: watching a strategy: ")
	}
	require.NoError(t, telemetry.Watch())
	require.Equal(t, []string{"{} 0"}, figures(t, collect(t, reader), "awsretry.scopes"))
	one := newStrategy(t)
	require.NoError(t, telemetry.Watch(one, one))
	require.NoError(t, telemetry.Watch(one))
	require.Equal(t, []string{"{} 1"}, figures(t, collect(t, reader), "awsretry.scopes"))
}

func TestCloseEndsTheGauges(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	require.NoError(t, telemetry.Watch(newStrategy(t)))
	require.Contains(t, collect(t, reader), "awsretry.scopes")
	require.NoError(t, telemetry.Close())
	require.NoError(t, telemetry.Close())
	telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded})
	metrics := collect(t, reader)
	require.NotContains(t, metrics, "awsretry.scopes")
	require.Equal(t, []string{"{awsretry.kind=ok} 1"}, figures(t, metrics, "awsretry.attempts"))
}

// global is the provider of the process, which is set once for all runs of the test below.
var global = sync.OnceValues(newReader)

func TestNoMeterProviderMeansTheGlobalOneAlsoOfLater(t *testing.T) {
	t.Parallel()
	telemetry := newTelemetry(t, otelretry.Config{})
	require.NoError(t, telemetry.Watch(newStrategy(t)))
	telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded}) // is lost in the first run

	reader, config := global()
	otel.SetMeterProvider(config.MeterProvider)
	telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded})
	before := sum(t, collect(t, reader)["awsretry.attempts"].Data)
	telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded})
	metrics := collect(t, reader)
	require.Equal(t, before+1, sum(t, metrics["awsretry.attempts"].Data))
	require.Equal(t, []string{"{} 1"}, figures(t, metrics, "awsretry.scopes"))
	require.NoError(t, telemetry.Close())
	require.NotContains(t, collect(t, reader), "awsretry.scopes")
}

// texts returns attributes in the form of key=value, in their order.
func texts(attributes []attribute.KeyValue) (texts []string) {
	for _, a := range attributes {
		texts = append(texts, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
	}
	return texts
}
