// Package telemetry holds a Grafana dashboard and Prometheus alert rules for the metrics of the modules promretry and
// otelretry, and the tests of both. The tests play an outage in virtual time (package outage) and query a real
// Prometheus if lab/scripts/prometheus has found or fetched one.
package telemetry
