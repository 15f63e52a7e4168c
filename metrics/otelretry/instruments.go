package otelretry

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// instruments are all that a Telemetry records with. Their names, units and labels are part of the
// API, and those of promretry are what the translation to Prometheus makes of them.
type instruments struct {
	callDuration, retryDelay, attemptDuration, sendWait metric.Float64Histogram

	callRetries                           metric.Int64Histogram
	attempts, throttles, entries, refused metric.Int64Counter

	sendRate, measuredRate, fleetRate, fleetSlots                     metric.Float64ObservableGauge
	waiting, available, capacity, scopes, fleetState                  metric.Int64ObservableGauge
	poolAvailable, poolCapacity, poolsEmpty, storesUnreached, info    metric.Int64ObservableGauge
	overflowed, evicted, strained, starved, storeCalls, storeFailures metric.Int64ObservableCounter
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
	float := func(name, unit, description string) metric.Float64ObservableGauge {
		g, err := meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
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
		metric.WithDescription("Retries of operations that made at least one."),
		metric.WithExplicitBucketBoundaries(1, 2, 3, 4, 5, 10))
	errs = append(errs, err)
	made := instruments{
		callDuration: duration("awsretry.call.duration", "Duration of operations, with all attempts and waits."),
		callRetries:  retries,
		retryDelay: duration("awsretry.call.retry_delay",
			"Time that an operation waited for the backoff and the retry quota, if it made a retry or waited."),
		attempts:        counter("awsretry.attempts", "{attempt}", "Attempts that ended, by the kind of the failure and the error code."),
		attemptDuration: duration("awsretry.attempt.duration", "Duration of attempts, without any wait."),
		throttles: counter("awsretry.throttles", "{attempt}",
			"Attempts that were throttled, by how much the limit is about and its name."),
		entries: counter("awsretry.entries.throttled", "{entry}",
			"Entries of batches that were throttled inside of a success or a canceled transaction."),
		refused:  counter("awsretry.retries.refused", "{retry}", "Retries and attempts that were refused, by the reason."),
		sendWait: duration("awsretry.send.wait", "Time that an attempt waited for the send rate, if it had to wait."),
		sendRate: float("awsretry.send.rate", "{attempt}/s", "Send rate of the scope in attempts per second, if it has a limit."),
		measuredRate: float("awsretry.send.measured_rate", "{attempt}/s",
			"Smoothed rate of answers of the scope in attempts per second, in adaptive mode."),
		waiting:   gauge("awsretry.send.waiting", "{attempt}", "Attempts of the scope that wait for the send rate, in adaptive mode."),
		available: gauge("awsretry.quota.available", "{token}", "Tokens that are left in the retry quota of the scope."),
		capacity:  gauge("awsretry.quota.capacity", "{token}", "Tokens that the retry quota of the scope can hold."),
		strained: total("awsretry.quota.strained_calls", "{operation}",
			"Operations of the scope that ended while its retry quota was not full."),
		starved: total("awsretry.quota.refused_calls", "{operation}",
			"Operations of the scope that failed because the retry quota did not cover a retry."),
		poolAvailable: gauge("awsretry.quota.pool.available", "{token}", "Tokens that are left in the pools of all strategies."),
		poolCapacity:  gauge("awsretry.quota.pool.capacity", "{token}", "Tokens that the pools of all strategies can hold."),
		fleetRate: float("awsretry.fleet.rate", "{attempt}/s",
			"Send rate of the whole fleet in attempts per second, as its store last said it, if it has a limit."),
		fleetSlots: float("awsretry.fleet.slots", "{slot}", "Send slots of the fleet that the scope has in hand, if the fleet has a limit."),
		fleetState: gauge("awsretry.fleet.state", "{scope}",
			"Always 1. The label says where the send rate of the scope comes from."),
		storeCalls:    total("awsretry.fleet.store.calls", "{call}", "Calls of the store of the fleet."),
		storeFailures: total("awsretry.fleet.store.failures", "{call}", "Calls of the store of the fleet that failed."),
		poolsEmpty: gauge("awsretry.quota.pools.empty", "{strategy}",
			"Strategies that cannot pay for a retry in one of their scopes, because its quota and the pool are empty."),
		storesUnreached: gauge("awsretry.fleet.stores.unreached", "{strategy}",
			"Strategies that have called the store of their fleet and never got an answer."),
		info: gauge("awsretry.info", "{strategy}",
			"Always 1. The labels say which strategies there are, and the version of awsretry."),
		scopes: gauge("awsretry.scopes", "{scope}", "Scopes of all strategies together."),
		overflowed: total("awsretry.scopes.overflowed", "{operation}",
			"Operations that used the overflow scope because there were too many scopes."),
		evicted: total("awsretry.scopes.evicted", "{scope}", "Scopes that were dropped because they were idle or made room for others."),
	}
	return made, errors.Join(errs...)
}

// observables are the instruments that Telemetry.collect fills.
func (i *instruments) observables() []metric.Observable {
	return []metric.Observable{
		i.sendRate, i.measuredRate, i.waiting, i.available, i.capacity, i.strained, i.starved, i.fleetRate, i.fleetSlots, i.fleetState,
		i.storeCalls, i.storeFailures, i.poolAvailable, i.poolCapacity, i.poolsEmpty, i.storesUnreached, i.info, i.scopes, i.overflowed, i.evicted,
	}
}
