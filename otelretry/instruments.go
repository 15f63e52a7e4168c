package otelretry

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// instruments are all that a Telemetry records with. Their names, units and labels are part of the
// API, and those of promretry are what the translation to Prometheus makes of them.
type instruments struct {
	callDuration, retryDelay, attemptDuration, sendWait metric.Float64Histogram

	callRetries       metric.Int64Histogram
	attempts, refused metric.Int64Counter

	sendRate, measuredRate               metric.Float64ObservableGauge
	waiting, available, capacity, scopes metric.Int64ObservableGauge
	overflowed, evicted                  metric.Int64ObservableCounter
}

// newInstruments returns the instruments, and the errors of all that were not made.
func newInstruments(meter metric.Meter) (instruments, error) {
	var errs []error
	// The bounds of rpc.client.call.duration in the semantic conventions, and four longer ones: a call
	// with retries and waits takes longer than one request.
	bounds := metric.WithExplicitBucketBoundaries(
		0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 30, 60, 120)
	duration := func(name, description string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), bounds)
		errs = append(errs, err)
		return h
	}
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	rate := func(name, description string) metric.Float64ObservableGauge {
		g, err := meter.Float64ObservableGauge(name, metric.WithUnit("{attempt}/s"), metric.WithDescription(description))
		errs = append(errs, err)
		return g
	}
	gauge := func(name, unit, description string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return g
	}
	total := func(name, unit, description string) metric.Int64ObservableCounter {
		c, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	retries, err := meter.Int64Histogram("awsretry.call.retries", metric.WithUnit("{retry}"),
		metric.WithDescription("Retries of a call, of calls with a retry only."),
		metric.WithExplicitBucketBoundaries(1, 2, 3, 4, 5, 10))
	errs = append(errs, err)
	made := instruments{
		callDuration: duration("awsretry.call.duration", "Time that a call took, waits included."),
		callRetries:  retries,
		retryDelay: duration("awsretry.call.retry_delay",
			"Time of a call in backoff and in waits for retry quota, of calls with a retry or such a wait only."),
		attempts:        counter("awsretry.attempts", "{attempt}", "Attempts that ended."),
		attemptDuration: duration("awsretry.attempt.duration", "Time that an attempt took, without waits."),
		refused:         counter("awsretry.retries.refused", "{retry}", "Retries that were refused."),
		sendWait:        duration("awsretry.send.wait", "Time that an attempt waited for the send rate."),
		sendRate:        rate("awsretry.send.rate", "Send rate of a scope, where attempts may have to wait for it."),
		measuredRate:    rate("awsretry.send.measured_rate", "Smoothed rate of the answers in a scope."),
		waiting:         gauge("awsretry.send.waiting", "{attempt}", "Attempts that wait for the send rate of a scope."),
		available:       gauge("awsretry.quota.available", "{token}", "Tokens that are left in the retry quota of a scope."),
		capacity:        gauge("awsretry.quota.capacity", "{token}", "Tokens that the retry quota of a scope can have."),
		scopes:          gauge("awsretry.scopes", "{scope}", "Scopes that exist."),
		overflowed: total("awsretry.scopes.overflowed", "{operation}",
			"Operations that shared the overflow scope because there were too many scopes."),
		evicted: total("awsretry.scopes.evicted", "{scope}", "Scopes whose state was dropped."),
	}
	return made, errors.Join(errs...)
}

// observables are the instruments that Telemetry.collect fills.
func (i *instruments) observables() []metric.Observable {
	return []metric.Observable{
		i.sendRate, i.measuredRate, i.waiting, i.available, i.capacity, i.scopes, i.overflowed, i.evicted,
	}
}
