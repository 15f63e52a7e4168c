package otelretry

import (
	"cmp"
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

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
	if len(watched) == 0 {
		return nil
	}
	var scopes int
	var overflowed, evicted uint64
	snapshots := make([]retry.Snapshot, len(watched))
	for i, strategy := range watched {
		s := strategy.Snapshot()
		scopes, overflowed, evicted = scopes+len(s.Scopes), overflowed+s.Overflowed, evicted+s.Evicted
		snapshots[i] = s
	}
	o.ObserveInt64(t.scopes, int64(scopes))
	o.ObserveInt64(t.overflowed, int64(overflowed))
	o.ObserveInt64(t.evicted, int64(evicted))

	hot, others := retry.Hottest(t.config.Scopes, t.scopeName, snapshots...)
	for i := range hot {
		t.collectScope(o, &hot[i])
	}
	if others != (retry.ScopeSnapshot{}) {
		others.Scope = rest
		t.collectScope(o, &others)
	}
	return nil
}

func (t *Telemetry) collectScope(o metric.Observer, s *retry.ScopeSnapshot) {
	attributes := metric.WithAttributeSet(attribute.NewSet(slices.Concat(
		[]attribute.KeyValue{scopeKey.String(s.Scope)},
		t.service(presentable(s.Key.Service)), named(regionKey, presentable(s.Key.Region)))...))
	o.ObserveInt64(t.available, int64(s.Quota), attributes)
	o.ObserveInt64(t.capacity, int64(s.QuotaCapacity), attributes)
	if s.Limited {
		o.ObserveFloat64(t.sendRate, s.FillRate, attributes)
	}
	// The source is empty where scopes of both modes count as one.
	if s.SendRateSource != "" || s.Waiting > 0 || s.MeasuredRate > 0 {
		o.ObserveFloat64(t.measuredRate, s.MeasuredRate, attributes)
		o.ObserveInt64(t.waiting, int64(s.Waiting), attributes)
	}
}

// scopeName returns the awsretry.scope of a scope. It is empty for a scope that belongs to the rest, and
// so for one that has its name.
func (t *Telemetry) scopeName(key retry.ScopeKey) string {
	var name string
	if t.config.ScopeName != nil {
		name = t.config.ScopeName(key)
	} else {
		name = cmp.Or(key.String(), "(all)")
	}
	if name == rest || presentable(name) != name {
		return ""
	}
	return name
}
