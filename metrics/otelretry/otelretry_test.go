package otelretry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// serviceError is an error as that of a service of AWS.
type serviceError string

func (e serviceError) Error() string     { return "the service said " + string(e) }
func (e serviceError) ErrorCode() string { return string(e) }

var getItem = retry.Operation{Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders"}

func newTelemetry(tb testing.TB, c otelretry.Config) *otelretry.Telemetry {
	tb.Helper()
	telemetry, err := otelretry.New(c)
	require.NoError(tb, err)
	return telemetry
}

// play makes an outage of a few seconds: calls that succeed, are throttled, wait for the send rate, fail
// for good and run out of attempts. Jitter is one half. A strategy with a scope of a fleet is there besides.
func play(t *testing.T, provider metric.MeterProvider) {
	t.Helper()
	telemetry := newTelemetry(t, otelretry.Config{MeterProvider: provider})
	clk := &clock.Fake{}
	strategy, err := adaptive.New(adaptive.Config{Standard: standard.Config{
		Clock: clk, Observer: telemetry, Random: func() float64 { return 0.5 },
	}})
	require.NoError(t, err)
	require.NoError(t, telemetry.Watch(strategy, showFleet(t, []string{"fleet"}, "shared")))

	call := func(op retry.Operation, answers ...error) (err error) {
		clk.Run(func() {
			err = retry.DoErr(t.Context(), strategy, op, func(context.Context) error {
				clk.Advance(20 * time.Millisecond)
				answer := answers[0]
				answers = answers[1:]
				return answer
			})
		})
		return err
	}
	throttled, broken := serviceError("ThrottlingException"), retry.Mark(serviceError("InternalServerError"), classify.Server)
	putItem := getItem
	putItem.Name = "PutItem"
	require.NoError(t, call(getItem, nil))
	require.NoError(t, call(getItem, nil))
	require.NoError(t, call(putItem, throttled, throttled, nil))
	require.ErrorIs(t, call(putItem, serviceError("ConditionalCheckFailedException")), serviceError("ConditionalCheckFailedException"))
	require.ErrorIs(t, call(getItem, broken, broken, broken, broken), retry.ErrAttemptsExhausted)
	require.Error(t, call(retry.Operation{}, errors.New("no code")))
	telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: putItem, EntriesThrottled: 3, Entries: 25})
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
		require.Equal(t, "github.com/awsretry/awsretry/metrics/otelretry", scope.Scope.Name)
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
