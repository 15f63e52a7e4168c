package otelretry

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/awsretry/awsretry/internal/hottest"
	"github.com/awsretry/awsretry/retry"
)

// rest is the awsretry.scope of the scopes that have no gauges of their own.
const rest = "other"

// collect fills the gauges and the counters of scopes. It asks each strategy once, so that the figures
// of a scope belong together.
func (t *Telemetry) collect(_ context.Context, o metric.Observer) error {
	t.mu.Lock()
	watched := t.watched
	t.mu.Unlock()
	var available, capacity, scopes int
	var overflowed, evicted uint64
	snapshots := make([]retry.Snapshot, len(watched))
	for i, strategy := range watched {
		s := strategy.Snapshot()
		available, capacity = available+s.Pool, capacity+s.PoolCapacity
		scopes, overflowed, evicted = scopes+len(s.Scopes), overflowed+s.Overflowed, evicted+s.Evicted
		snapshots[i] = s
	}
	o.ObserveInt64(t.poolAvailable, int64(available))
	o.ObserveInt64(t.poolCapacity, int64(capacity))
	o.ObserveInt64(t.scopes, int64(scopes))
	o.ObserveInt64(t.overflowed, int64(overflowed))
	o.ObserveInt64(t.evicted, int64(evicted))
	for _, s := range t.shown(snapshots) {
		t.collectScope(o, &s)
	}
	return nil
}

// shown returns the scopes that have gauges. Each has another name.
func (t *Telemetry) shown(snapshots []retry.Snapshot) []retry.ScopeSnapshot {
	scopes, others := hottest.Scopes(t.config.Scopes, t.config.ScopeName, snapshots...)
	if others != (retry.ScopeSnapshot{}) {
		others.Scope = rest
		scopes = append(scopes, others)
	}
	for i := range scopes {
		scopes[i].Scope = clean(scopes[i].Scope)
	}
	// Now scopes may have the same name, one that is really named "other" among them.
	scopes, _ = hottest.Scopes(len(scopes), nil, retry.Snapshot{Scopes: scopes})
	return scopes
}

func (t *Telemetry) collectScope(o metric.Observer, s *retry.ScopeSnapshot) {
	labels := slices.Concat([]attribute.KeyValue{scopeKey.String(s.Scope)},
		t.service(clean(s.Key.Service)), named(regionKey, clean(s.Key.Region)))
	attributes := metric.WithAttributeSet(attribute.NewSet(labels...))
	o.ObserveInt64(t.available, int64(s.Quota), attributes)
	o.ObserveInt64(t.capacity, int64(s.QuotaCapacity), attributes)
	if s.Limited {
		o.ObserveFloat64(t.sendRate, s.FillRate, attributes)
	}
	if s.SendRateSource != "" {
		o.ObserveFloat64(t.measuredRate, s.MeasuredRate, attributes)
		o.ObserveInt64(t.waiting, int64(s.Waiting), attributes)
	}
	if s.StoreCalls+s.StoreFailures == 0 {
		return // it is in no fleet
	}
	o.ObserveInt64(t.fleetState, 1, metric.WithAttributes(append(labels, named(stateKey, clean(s.SendRateSource))...)...))
	// Scopes join and leave the rest, so that its counters would go back. Some may be in no fleet, and
	// their tokens are no slots.
	if s.Scope == rest {
		return
	}
	if s.FleetRate > 0 {
		o.ObserveFloat64(t.fleetRate, s.FleetRate, attributes)
		o.ObserveFloat64(t.fleetSlots, s.SendTokens, attributes)
	}
	o.ObserveInt64(t.storeCalls, int64(s.StoreCalls), attributes)
	o.ObserveInt64(t.storeFailures, int64(s.StoreFailures), attributes)
}
