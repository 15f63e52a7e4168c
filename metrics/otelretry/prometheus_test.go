package otelretry_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
)

// The module promretry has these names too, so that a dashboard serves both.
func TestPrometheusGetsTheNamesOfTheTable(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry),
		otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	require.NoError(t, err)
	play(t, metric.NewMeterProvider(metric.WithReader(exporter)))

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
		"awsretry_attempt_duration_seconds histogram aws_region awsretry_kind rpc_method rpc_service",
		"awsretry_attempts_total counter aws_region awsretry_kind error_type rpc_method rpc_service",
		"awsretry_call_duration_seconds histogram aws_region awsretry_outcome rpc_method rpc_service",
		"awsretry_call_retries histogram aws_region rpc_method rpc_service",
		"awsretry_call_retry_delay_seconds histogram aws_region rpc_method rpc_service",
		"awsretry_entries_throttled_total counter aws_region rpc_method rpc_service",
		"awsretry_fleet_rate_per_second gauge aws_region awsretry_scope rpc_service",
		"awsretry_fleet_slots gauge aws_region awsretry_scope rpc_service",
		"awsretry_fleet_state gauge aws_region awsretry_fleet_state awsretry_scope rpc_service",
		"awsretry_fleet_store_calls_total counter aws_region awsretry_scope rpc_service",
		"awsretry_fleet_store_failures_total counter aws_region awsretry_scope rpc_service",
		"awsretry_fleet_stores_unreached gauge",
		"awsretry_info gauge awsretry_attempts awsretry_behavior awsretry_mode awsretry_version",
		"awsretry_quota_available gauge aws_region awsretry_scope rpc_service",
		"awsretry_quota_capacity gauge aws_region awsretry_scope rpc_service",
		"awsretry_quota_pool_available gauge",
		"awsretry_quota_pool_capacity gauge",
		"awsretry_quota_pools_empty gauge",
		"awsretry_retries_refused_total counter aws_region awsretry_reason rpc_method rpc_service",
		"awsretry_scopes gauge",
		"awsretry_scopes_evicted_total counter",
		"awsretry_scopes_overflowed_total counter",
		"awsretry_send_measured_rate_per_second gauge aws_region awsretry_scope rpc_service",
		"awsretry_send_rate_per_second gauge aws_region awsretry_scope rpc_service",
		"awsretry_send_wait_seconds histogram aws_region rpc_method rpc_service",
		"awsretry_send_waiting gauge aws_region awsretry_scope rpc_service",
		"awsretry_throttles_total counter aws_region awsretry_reach rpc_method rpc_service",
	}, got)
}
