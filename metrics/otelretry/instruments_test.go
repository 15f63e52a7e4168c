package otelretry_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
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

// The module promretry has these names too, so that a dashboard serves both.
func TestPrometheusGetsTheNamesOfTheTable(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry),
		otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	require.NoError(t, err)
	play(t, sdk.NewMeterProvider(sdk.WithReader(exporter)))

	families, err := registry.Gather()
	require.NoError(t, err)
	var got []string
	for _, family := range families {
		labels := map[string]bool{}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				labels[label.GetName()] = true
			}
		}
		words := []string{family.GetName(), strings.ToLower(family.GetType().String())}
		got = append(got, strings.Join(append(words, slices.Sorted(maps.Keys(labels))...), " "))
	}
	require.Equal(t, []string{
		"awsretry_attempt_duration_seconds histogram awsretry_kind cloud_region rpc_method rpc_service",
		"awsretry_attempts_total counter awsretry_kind cloud_region error_type rpc_method rpc_service",
		"awsretry_call_duration_seconds histogram awsretry_outcome cloud_region rpc_method rpc_service",
		"awsretry_call_retries histogram cloud_region rpc_method rpc_service",
		"awsretry_call_retry_delay_seconds histogram cloud_region rpc_method rpc_service",
		"awsretry_entries_throttled_total counter cloud_region rpc_method rpc_service",
		"awsretry_fleet_rate_per_second gauge awsretry_scope cloud_region rpc_service",
		"awsretry_fleet_slots gauge awsretry_scope cloud_region rpc_service",
		"awsretry_fleet_state gauge awsretry_fleet_state awsretry_scope cloud_region rpc_service",
		"awsretry_fleet_store_calls_total counter awsretry_scope cloud_region rpc_service",
		"awsretry_fleet_store_failures_total counter awsretry_scope cloud_region rpc_service",
		"awsretry_fleet_stores_unreached gauge",
		"awsretry_info gauge awsretry_attempts awsretry_behavior awsretry_mode awsretry_version",
		"awsretry_quota_available gauge awsretry_scope cloud_region rpc_service",
		"awsretry_quota_capacity gauge awsretry_scope cloud_region rpc_service",
		"awsretry_quota_pool_available gauge",
		"awsretry_quota_pool_capacity gauge",
		"awsretry_quota_pools_empty gauge",
		"awsretry_quota_refused_calls_total counter awsretry_scope cloud_region rpc_service",
		"awsretry_quota_strained_calls_total counter awsretry_scope cloud_region rpc_service",
		"awsretry_retries_refused_total counter awsretry_reason cloud_region rpc_method rpc_service",
		"awsretry_scopes gauge",
		"awsretry_scopes_evicted_total counter",
		"awsretry_scopes_overflowed_total counter",
		"awsretry_send_measured_rate_per_second gauge awsretry_scope cloud_region rpc_service",
		"awsretry_send_rate_per_second gauge awsretry_scope cloud_region rpc_service",
		"awsretry_send_wait_seconds histogram cloud_region rpc_method rpc_service",
		"awsretry_send_waiting gauge awsretry_scope cloud_region rpc_service",
		"awsretry_throttles_total counter awsretry_reach cloud_region rpc_method rpc_service",
	}, got)
}
