package otelretry_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/awsretry/awsretry/metrics/otelretry"
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
