// Package telemetry holds a dashboard for Grafana and alert rules for Prometheus, which show the metrics of the modules
// promretry and otelretry, and the tests of both. The tests play an outage in virtual time, see package outage, and ask
// a real Prometheus where scripts/prometheus has found or fetched one.
package telemetry
