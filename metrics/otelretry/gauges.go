package otelretry

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/awsretry/awsretry/internal/metrics"
	"github.com/awsretry/awsretry/retry"
)

// collect fills the gauges and the counters of scopes. It asks each strategy once, so that the figures
// of a scope belong together.
func (t *Telemetry) collect(_ context.Context, o metric.Observer) error {
	t.mu.Lock()
	watched := t.watched
	t.mu.Unlock()
	r := t.hottest.Read(watched)
	for _, kind := range r.Kinds {
		o.ObserveInt64(t.info, 1, metric.WithAttributes(slices.Concat(
			named(modeKey, kind[0]), named(attemptsKey, kind[1]), named(behaviorKey, kind[2]), named(versionKey, t.version))...))
	}
	o.ObserveInt64(t.poolAvailable, int64(r.Pool))
	o.ObserveInt64(t.poolCapacity, int64(r.PoolCapacity))
	o.ObserveInt64(t.poolsEmpty, int64(r.PoolsEmpty))
	o.ObserveInt64(t.storesUnreached, int64(r.StoresUnreached))
	o.ObserveInt64(t.scopes, int64(r.AllScopes))
	o.ObserveInt64(t.overflowed, int64(r.Overflowed))
	o.ObserveInt64(t.evicted, int64(r.Evicted))
	for _, s := range r.Scopes {
		t.collectScope(o, &s)
	}
	return nil
}

func (t *Telemetry) collectScope(o metric.Observer, s *retry.ScopeSnapshot) {
	labels := slices.Concat([]attribute.KeyValue{scopeKey.String(s.Scope)},
		t.service(metrics.Label(s.Key.Service)), named(regionKey, metrics.Label(s.Key.Region)))
	attributes := metric.WithAttributeSet(attribute.NewSet(labels...))
	o.ObserveInt64(t.available, int64(s.Quota), attributes)
	o.ObserveInt64(t.capacity, int64(s.QuotaCapacity), attributes)
	rest := s.Scope == metrics.Rest
	if !rest { // scopes join and leave it, so that its counters would go back
		o.ObserveInt64(t.strained, int64(s.StrainedCalls), attributes)
		o.ObserveInt64(t.starved, int64(s.RefusedCalls), attributes)
	}
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
	o.ObserveInt64(t.fleetState, 1, metric.WithAttributes(append(labels, named(stateKey, metrics.Label(s.SendRateSource))...)...))
	if rest { // some of its scopes may be in no fleet: their tokens are no slots
		return
	}
	if s.FleetRate > 0 {
		o.ObserveFloat64(t.fleetRate, s.FleetRate, attributes)
		o.ObserveFloat64(t.fleetSlots, s.SendTokens, attributes)
	}
	o.ObserveInt64(t.storeCalls, int64(s.StoreCalls), attributes)
	o.ObserveInt64(t.storeFailures, int64(s.StoreFailures), attributes)
}
