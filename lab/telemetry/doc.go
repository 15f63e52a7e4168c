// Package telemetry tests the dashboard, the alerts and the metrics of the modules promretry and otelretry, with a real
// Prometheus if lab/scripts/prometheus has found or fetched one.
package telemetry
