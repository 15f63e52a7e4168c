package otelretry_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

type nothing struct{}

func (nothing) Observe(context.Context, retry.Event) {}

// BenchmarkDo is an operation that succeeds at once. What an observer costs is the difference to
// observer=nothing. The SDK of OpenTelemetry takes most of that, for three recordings with four attributes
// each; the difference between observer=otelretry-without-sdk and observer=nothing is the part of this
// package.
func BenchmarkDo(b *testing.B) {
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	for _, c := range []struct {
		name     string
		observer retry.Observer
	}{
		{"none", nil},
		{"nothing", nothing{}},
		{"otelretry-without-sdk", newTelemetry(b, otelretry.Config{MeterProvider: noop.NewMeterProvider()})},
		{"otelretry", newTelemetry(b, otelretry.Config{MeterProvider: provider})},
	} {
		b.Run("observer="+c.name, func(b *testing.B) {
			strategy, err := standard.New(standard.Config{Observer: c.observer})
			require.NoError(b, err)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				_ = retry.DoErr(ctx, strategy, getItem, succeed)
			}
		})
	}
}

func succeed(context.Context) error { return nil }

// BenchmarkCollect is a collection from a strategy with as many scopes as it may have.
func BenchmarkCollect(b *testing.B) {
	reader := metric.NewManualReader()
	telemetry := newTelemetry(b, otelretry.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
	strategy, err := adaptive.New(adaptive.Config{Standard: standard.Config{MaxScopes: 10_000}})
	require.NoError(b, err)
	for i := range 9_999 {
		op := getItem
		op.Resource = fmt.Sprintf("table-%05d", i)
		require.NoError(b, retry.DoErr(b.Context(), strategy, op, succeed))
	}
	require.Len(b, strategy.Snapshot().Scopes, 10_000)
	require.NoError(b, telemetry.Watch(strategy))
	var collected metricdata.ResourceMetrics
	b.ReportAllocs()
	for b.Loop() {
		if err := reader.Collect(b.Context(), &collected); err != nil {
			b.Fatal(err)
		}
	}
}
