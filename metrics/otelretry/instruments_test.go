package otelretry_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var errMeter = errors.New("no such instrument")

// failing makes no counters, or no callback.
type failing struct {
	noop.MeterProvider
	callback bool
}

func (f failing) Meter(string, ...metric.MeterOption) metric.Meter {
	return failingMeter{callback: f.callback}
}

type failingMeter struct {
	noop.Meter
	callback bool
}

func (f failingMeter) Int64Counter(name string, options ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if f.callback {
		return f.Meter.Int64Counter(name, options...)
	}
	return nil, errMeter
}

func (f failingMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return noop.Registration{}, errMeter
}

func TestNewReturnsTheErrorOfTheProvider(t *testing.T) {
	t.Parallel()
	for want, provider := range map[string]metric.MeterProvider{
		"otelretry: making the instruments: no such instrument\nno such instrument\nno such instrument\nno such instrument": failing{},
		"otelretry: registering the gauges: no such instrument":                                                             failing{callback: true},
	} {
		telemetry, err := otelretry.New(otelretry.Config{MeterProvider: provider})
		require.Nil(t, telemetry)
		require.ErrorIs(t, err, errMeter)
		require.EqualError(t, err, want)
	}
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

func TestFiguresAddUpConcurrentSafe(t *testing.T) {
	t.Parallel()
	const loops, calls = 8, 200
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	strategy, err := standard.New(standard.Config{
		Observer: telemetry, Random: func() float64 { return 0 }, QuotaCapacity: new(1_000_000),
	})
	require.NoError(t, err)

	done := make(chan struct{})
	var running, collecting sync.WaitGroup
	collecting.Go(func() {
		for attempts := 0; ; {
			var collected metricdata.ResourceMetrics
			if err := reader.Collect(context.Background(), &collected); err != nil {
				t.Error(err)
			}
			for _, scope := range collected.ScopeMetrics {
				for _, m := range scope.Metrics {
					if m.Name == "awsretry.attempts" {
						now := sum(t, m.Data)
						if now < attempts {
							t.Errorf("%d attempts after %d", now, attempts)
						}
						attempts = now
					}
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for i := range loops {
		running.Go(func() {
			if err := telemetry.Watch(strategy); err != nil {
				t.Error(err)
			}
			for n := range calls {
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
	close(done)
	collecting.Wait()

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

// Operations that are new at the same time get their places once.
func TestNewCombinationsConcurrentSafe(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for n := range 1200 {
				telemetry.Observe(context.Background(), retry.Event{
					Kind: retry.OperationEnded, Operation: retry.Operation{Name: time.Duration(n).String()}, Elapsed: time.Second,
				})
			}
		})
	}
	group.Wait()
	metrics := collect(t, reader)
	require.Equal(t, 8*1200, sum(t, metrics["awsretry.call.duration"].Data))
	require.Len(t, figures(t, metrics, "awsretry.call.duration"), 1001)
}

func TestScopeOfTheInstrumentsHasVersionAndSchema(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	telemetry.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded})
	var found metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &found))
	require.Len(t, found.ScopeMetrics, 1)
	scope := found.ScopeMetrics[0].Scope
	require.Equal(t, "github.com/awsretry/awsretry/metrics/otelretry", scope.Name)
	require.Equal(t, "(devel)", scope.Version)
	require.Equal(t, "https://opentelemetry.io/schemas/1.43.0", scope.SchemaURL)
}

func TestStrategiesSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	plain, err := standard.New(standard.Config{})
	require.NoError(t, err)
	old, err := standard.New(standard.Config{MaxAttempts: 10, Behavior: retry.V20})
	require.NoError(t, err)
	require.NoError(t, newTelemetry(t, config).Watch(plain, old, newStrategy(t)))
	require.Equal(t, []string{
		"{awsretry.attempts=10 awsretry.behavior=v2.0 awsretry.mode=standard awsretry.version=(devel)} 1",
		"{awsretry.attempts=3 awsretry.behavior=v2.1 awsretry.mode=standard awsretry.version=(devel)} 1",
	}, figures(t, collect(t, reader), "awsretry.info"))
}

func TestServicesAreSpelledAsTheSDKsDo(t *testing.T) {
	t.Parallel()
	for merged, want := range map[bool]string{
		false: "{awsretry.outcome=success rpc.method=GetItem rpc.service=DynamoDB}", true: "{awsretry.outcome=success rpc.method=DynamoDB/GetItem}",
	} {
		reader, config := newReader()
		config.SDKServices, config.MergedMethod = true, merged
		telemetry := newTelemetry(t, config)
		require.NoError(t, telemetry.Watch(show(t, "orders")))
		op := retry.Operation{Service: "dynamodb", Name: "GetItem"}
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Operation: op})
		metrics := collect(t, reader)
		require.Contains(t, figures(t, metrics, "awsretry.call.duration")[0], want)
		require.Equal(t, !merged, strings.Contains(figures(t, metrics, "awsretry.quota.available")[0], "rpc.service=DynamoDB"))
	}
}
