package promretry

import (
	"reflect"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/awsretry/awsretry/internal/metrics"
	"github.com/awsretry/awsretry/retry"
)

// gauges are the descriptions of what a scrape reads in the strategies.
type gauges struct {
	quotaAvailable, quotaCapacity, sendRate, measuredRate, sendWaiting *prometheus.Desc // by scope
	strainedCalls, refusedCalls                                        *prometheus.Desc // by scope
	fleetRate, fleetSlots, fleetState, storeCalls, storeFailures       *prometheus.Desc // by scope
	poolAvailable, poolCapacity, poolsEmpty, storesUnreached           *prometheus.Desc
	scopes, overflowed, evicted                                        *prometheus.Desc

	info    *prometheus.Desc
	version string
}

func newGauges() gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	scope := []string{"awsretry_scope", "rpc_service", "cloud_region"}
	return gauges{
		quotaAvailable: desc("awsretry_quota_available",
			"Tokens that are left in the retry quota of the scope.", scope...),
		quotaCapacity: desc("awsretry_quota_capacity",
			"Tokens that the retry quota of the scope can hold.", scope...),
		strainedCalls: desc("awsretry_quota_strained_calls_total",
			"Operations of the scope that ended while its retry quota was not full.", scope...),
		refusedCalls: desc("awsretry_quota_refused_calls_total",
			"Operations of the scope that failed because the retry quota did not cover a retry.", scope...),
		sendRate: desc("awsretry_send_rate_per_second",
			"Send rate of the scope in attempts per second, if it has a limit.", scope...),
		measuredRate: desc("awsretry_send_measured_rate_per_second",
			"Smoothed rate of answers of the scope in attempts per second, in adaptive mode.", scope...),
		sendWaiting: desc("awsretry_send_waiting",
			"Attempts of the scope that wait for the send rate, in adaptive mode.", scope...),
		fleetRate: desc("awsretry_fleet_rate_per_second",
			"Send rate of the whole fleet in attempts per second, as its store last said it, if it has a limit.", scope...),
		fleetSlots: desc("awsretry_fleet_slots",
			"Send slots of the fleet that the scope has in hand, if the fleet has a limit.", scope...),
		fleetState: desc("awsretry_fleet_state",
			"Always 1. The label says where the send rate of the scope comes from.", append(scope, "awsretry_fleet_state")...),
		storeCalls: desc("awsretry_fleet_store_calls_total",
			"Calls of the store of the fleet.", scope...),
		storeFailures: desc("awsretry_fleet_store_failures_total",
			"Calls of the store of the fleet that failed.", scope...),
		poolAvailable: desc("awsretry_quota_pool_available",
			"Tokens that are left in the pools of all strategies."),
		poolCapacity: desc("awsretry_quota_pool_capacity",
			"Tokens that the pools of all strategies can hold."),
		poolsEmpty: desc("awsretry_quota_pools_empty",
			"Strategies that cannot pay for a retry in one of their scopes, because its quota and the pool are empty."),
		storesUnreached: desc("awsretry_fleet_stores_unreached",
			"Strategies that have called the store of their fleet and never got an answer."),
		info: desc("awsretry_info",
			"Always 1. The labels say which strategies there are, and the version of awsretry.",
			"awsretry_mode", "awsretry_attempts", "awsretry_behavior", "awsretry_version"),
		version: metrics.Version(),
		scopes: desc("awsretry_scopes",
			"Scopes of all strategies together."),
		overflowed: desc("awsretry_scopes_overflowed_total",
			"Operations that used the overflow scope because there were too many scopes."),
		evicted: desc("awsretry_scopes_evicted_total",
			"Scopes that were dropped because they were idle or made room for others."),
	}
}

// Describe sends the descriptions of all metrics.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, vector := range m.vectors() {
		vector.Describe(ch)
	}
	g := &m.gauges
	for _, desc := range []*prometheus.Desc{
		g.quotaAvailable, g.quotaCapacity, g.strainedCalls, g.refusedCalls, g.sendRate, g.measuredRate, g.sendWaiting, g.fleetRate, g.fleetSlots,
		g.fleetState, g.storeCalls, g.storeFailures, g.poolAvailable, g.poolCapacity, g.poolsEmpty, g.storesUnreached, g.scopes, g.overflowed, g.evicted, g.info,
	} {
		ch <- desc
	}
}

// Collect sends all metrics. It takes one [retry.Snapshot] of each watched strategy.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, vector := range m.vectors() {
		vector.Collect(ch)
	}
	g, r := &m.gauges, m.scopes.Read(m.watched())
	gauge := func(desc *prometheus.Desc, value int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	for _, kind := range r.Kinds {
		gauge(g.info, 1, append(kind[:], g.version)...)
	}
	gauge(g.poolAvailable, r.Pool)
	gauge(g.poolCapacity, r.PoolCapacity)
	gauge(g.poolsEmpty, r.PoolsEmpty)
	gauge(g.storesUnreached, r.StoresUnreached)
	gauge(g.scopes, r.AllScopes)
	ch <- prometheus.MustNewConstMetric(g.overflowed, prometheus.CounterValue, float64(r.Overflowed))
	ch <- prometheus.MustNewConstMetric(g.evicted, prometheus.CounterValue, float64(r.Evicted))
	for _, s := range r.Scopes {
		labels := []string{s.Scope, m.service(s.Key.Service), metrics.Label(s.Key.Region)}
		send := func(desc *prometheus.Desc, value float64) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
		}
		send(g.quotaAvailable, float64(s.Quota))
		send(g.quotaCapacity, float64(s.QuotaCapacity))
		count := func(desc *prometheus.Desc, value uint64) {
			if s.Scope != metrics.Rest { // which scopes join and leave, so that its counters would go back
				ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
			}
		}
		count(g.strainedCalls, s.StrainedCalls)
		count(g.refusedCalls, s.RefusedCalls)
		if s.Limited {
			send(g.sendRate, s.FillRate)
		}
		if s.SendRateSource != "" {
			send(g.measuredRate, s.MeasuredRate)
			send(g.sendWaiting, float64(s.Waiting))
		}
		if s.StoreCalls+s.StoreFailures == 0 {
			continue // it is in no fleet
		}
		ch <- prometheus.MustNewConstMetric(g.fleetState, prometheus.GaugeValue, 1, append(labels, metrics.Label(s.SendRateSource))...)
		if s.FleetRate > 0 && s.Scope != metrics.Rest { // some of the rest may be in no fleet: their tokens are no slots
			send(g.fleetRate, s.FleetRate)
			send(g.fleetSlots, s.SendTokens)
		}
		count(g.storeCalls, s.StoreCalls)
		count(g.storeFailures, s.StoreFailures)
	}
}

func (m *Metrics) watched() []retry.Strategy {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.strategies
}

// same reports whether two strategies are one. Those of a type that cannot be compared never are.
func same(a, b retry.Strategy) bool { return reflect.ValueOf(a).Comparable() && a == b }
